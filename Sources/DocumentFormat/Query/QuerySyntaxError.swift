/// What the text of a condition or an order has where something else was expected.
public struct QuerySyntaxError: Error, Equatable, Sendable {
  /// Where, in Unicode scalars from 1.
  public let column: Int
  /// What could have stood there.
  public let expected: String
  /// What stands there.
  public let found: String
}

extension QuerySyntaxError: CustomStringConvertible {
  public var description: String { "column \(column): \(expected) expected, found \(found)" }
}
