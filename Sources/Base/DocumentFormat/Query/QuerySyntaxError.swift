/// A syntax error in the text of a condition or an order.
public struct QuerySyntaxError: Error, Equatable, Sendable {
  /// The column of the error, in Unicode scalars from 1.
  public let column: Int
  /// A description of the expected token.
  public let expected: String
  /// A description of the token found.
  public let found: String

  package init(column: Int, expected: String, found: String) {
    self.column = column
    self.expected = expected
    self.found = found
  }
}

extension QuerySyntaxError: CustomStringConvertible {
  /// The column, what was expected there, and what was found, for people.
  public var description: String { "column \(column): \(expected) expected, found \(found)" }
}
