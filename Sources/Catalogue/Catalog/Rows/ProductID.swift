/// The id of a product, compared byte for byte.
///
/// Strings compare by canonical equivalence: `é` as one code point and as two are equal strings, but different ids.
public struct ProductID: Hashable, Comparable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The id as the server sent it; may be empty.
  public let text: String

  /// Creates an id from text, which is not normalised.
  public init(_ text: String) { self.text = text }

  /// Creates an id from a string literal, which is not normalised.
  public init(stringLiteral text: String) { self.text = text }

  /// The id as the server sent it, for messages.
  public var description: String { text }

  /// Whether the UTF-8 bytes of both ids are the same. Texts that are only canonically equivalent are different ids.
  public static func == (a: ProductID, b: ProductID) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }

  /// Whether `a` precedes `b` in the order of their UTF-8 bytes.
  public static func < (a: ProductID, b: ProductID) -> Bool { a.text.isBytewiseLess(than: b.text) }

  /// Hashes the UTF-8 bytes, because ids are compared by them.
  public func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
  }
}
