/// An error in the bytes of a document. Offsets count bytes from the beginning of the document.
public enum DocumentError: Error, Equatable, Sendable {
  /// The document ends at `offset`, but an item, or the rest of one, must follow.
  case endsEarly(offset: Int)
  /// The length or count of the item at `offset` exceeds the remaining bytes.
  case tooLong(offset: Int)
  /// The first byte of the item at `offset` has no meaning in the subset: it is reserved, or a break outside of a list.
  case reserved(byte: UInt8, offset: Int)
  /// The text or byte string at `offset` is chunked.
  case chunked(offset: Int)
  /// The tag is not 1 (date), 32 (URI) or 55799 (self-described), or precedes a value that it cannot describe.
  case tag(UInt64, offset: Int)
  /// The negative integer at `offset` is less than `Int64.min`.
  case integerRange(offset: Int)
  /// The field name at `offset` is not text.
  case nameIsNoText(offset: Int)
  /// The text at `offset` is not valid UTF-8.
  case invalidUTF8(offset: Int)
  /// The item at `offset` is nested more than ``DocumentLimits/nestingDepth`` levels deep.
  case nestedTooDeeply(offset: Int)
  /// Bytes follow the end of the document at `offset`.
  case trailingBytes(offset: Int)

  /// The offset of the error in the document.
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
  /// What is wrong at which byte of the document, for people.
  public var description: String {
    switch self {
    case .endsEarly(let offset): "the document ends early, at byte \(offset)"
    case .tooLong(let offset): "the length of the item at byte \(offset) exceeds the document"
    case .reserved(let byte, let offset): "byte \(byte) at byte \(offset) begins no value of a document"
    case .chunked(let offset): "the string at byte \(offset) comes in chunks"
    case .tag(let tag, let offset): "tag \(tag) at byte \(offset) is unknown, or does not fit the value after it"
    case .integerRange(let offset): "the integer at byte \(offset) is below -2^63"
    case .nameIsNoText(let offset): "the field name at byte \(offset) is not text"
    case .invalidUTF8(let offset): "the text at byte \(offset) is not UTF-8"
    case .nestedTooDeeply(let offset): "more than \(DocumentLimits.nestingDepth) levels of nesting at byte \(offset)"
    case .trailingBytes(let offset): "bytes follow the end of the document at byte \(offset)"
    }
  }
}

/// Limits of the format beyond those of CBOR.
public enum DocumentLimits {
  /// The maximum nesting depth of arrays and maps.
  public static let nestingDepth = 128
}
