/// Why the bytes of a document were refused, and where: every offset counts bytes from the document's beginning.
public enum DocumentError: Error, Equatable, Sendable {
  /// The document stops at `offset` although an item, or the rest of one, has to follow.
  case endsEarly(offset: Int)
  /// The length or count of the item at `offset` exceeds the bytes that are left.
  case tooLong(offset: Int)
  /// The first byte of the item at `offset` has no meaning in the subset: reserved, or a break outside of a list.
  case reserved(byte: UInt8, offset: Int)
  /// The text or byte string at `offset` comes in chunks.
  case chunked(offset: Int)
  /// A tag other than 1 (date), 32 (URI) and 55799 (self-described), or one before a value that it cannot describe.
  case tag(UInt64, offset: Int)
  /// The negative integer at `offset` lies below `Int64.min`.
  case integerRange(offset: Int)
  /// The name of a field, which begins at `offset`, is not text.
  case nameIsNoText(offset: Int)
  /// The text that begins at `offset` is no UTF-8.
  case invalidUTF8(offset: Int)
  /// The item at `offset` is nested more than ``DocumentLimits/nestingDepth`` levels deep.
  case nestedTooDeeply(offset: Int)
  /// The document ends at `offset`, and bytes follow.
  case trailingBytes(offset: Int)

  /// Where in the document.
  public var offset: Int {
    switch self {
    case .endsEarly(let offset), .tooLong(let offset), .reserved(_, let offset), .chunked(let offset),
      .tag(_, let offset), .integerRange(let offset), .nameIsNoText(let offset), .invalidUTF8(let offset),
      .nestedTooDeeply(let offset), .trailingBytes(let offset):
      offset
    }
  }
}

extension DocumentError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .endsEarly(let offset): "the document ends early, at byte \(offset)"
    case .tooLong(let offset): "the item at byte \(offset) claims more than the document has"
    case .reserved(let byte, let offset): "byte \(byte) at byte \(offset) begins no value of a document"
    case .chunked(let offset): "the string at byte \(offset) comes in chunks"
    case .tag(let tag, let offset): "tag \(tag) at byte \(offset) is not known before such a value"
    case .integerRange(let offset): "the integer at byte \(offset) is below -2^63"
    case .nameIsNoText(let offset): "the field name at byte \(offset) is not text"
    case .invalidUTF8(let offset): "the text at byte \(offset) is not UTF-8"
    case .nestedTooDeeply(let offset): "more than \(DocumentLimits.nestingDepth) levels of nesting at byte \(offset)"
    case .trailingBytes(let offset): "bytes follow the end of the document at byte \(offset)"
    }
  }
}

/// What is refused although CBOR allows it.
public enum DocumentLimits {
  /// Levels of arrays and maps; one more is refused.
  public static let nestingDepth = 128
}
