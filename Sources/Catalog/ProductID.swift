/// The id of a product, compared byte for byte.
///
/// Strings compare by canonical equivalence: `é` as one code point and as two are equal strings, but different ids.
public struct ProductID: Hashable, Comparable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  public let text: String

  public init(_ text: String) { self.text = text }

  public init(stringLiteral text: String) { self.text = text }

  public var description: String { text }

  public static func == (a: ProductID, b: ProductID) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }

  public static func < (a: ProductID, b: ProductID) -> Bool { a.text.isBytewiseLess(than: b.text) }

  public func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
  }
}
