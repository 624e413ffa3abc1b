import TextFormat

/// The tokens that the grammar allows at an offset.
public enum JSONExpectation: Sendable, Equatable {
  case value
  case valueOrEndOfArray
  case key
  case keyOrEndOfObject
  case colon
  case commaOrEndOfArray
  case commaOrEndOfObject
  case endOfString
  case digit
  case literal
  case endOfDocument
}

/// A syntax error in a document, and its offset.
///
/// Every offset counts bytes from the beginning of the document, whatever the sizes of the chunks.
public enum JSONError: Error, Sendable, Equatable {
  /// `byte` occurs where something else was expected.
  case unexpected(byte: UInt8, offset: Int, expected: JSONExpectation)
  /// The document ends although something was expected.
  case endsEarly(offset: Int, expected: JSONExpectation)
  /// A string contains an unescaped control character.
  case controlCharacter(byte: UInt8, offset: Int)
  /// The backslash at `offset` begins an invalid escape sequence.
  case invalidEscape(offset: Int)
  /// The bytes at `offset` are not valid UTF-8 (RFC 3629: no overlong form, no surrogate, nothing above U+10FFFF).
  case invalidUTF8(offset: Int)
  /// The bracket at `offset` opens one level too many.
  case nestedTooDeeply(limit: Int, offset: Int)
  /// The string or number that begins at `offset` is longer than `limit` bytes.
  case tokenTooLong(limit: Int, offset: Int)
  /// The number that ends at `offset` is larger than any double, and the reader supports no larger type.
  case numberTooLarge(offset: Int)
  /// The key at `offset` is in its object already, and the reader does not choose one of several values.
  ///
  /// Stored indirectly, so that the error, which every reader carries, stays small.
  indirect case repeatedKey(String, offset: Int)

  /// The offset in the document.
  public var offset: Int {
    switch self {
    case .unexpected(_, let offset, _), .endsEarly(let offset, _), .controlCharacter(_, let offset),
      .invalidEscape(let offset), .invalidUTF8(let offset), .nestedTooDeeply(_, let offset),
      .tokenTooLong(_, let offset), .numberTooLarge(let offset), .repeatedKey(_, let offset):
      offset
    }
  }
}

extension JSONExpectation: CustomStringConvertible {
  /// What the grammar allows, as error messages name it.
  public var description: String {
    switch self {
    case .value: "a value"
    case .valueOrEndOfArray: "a value or ']'"
    case .key: "a key in double quotes"
    case .keyOrEndOfObject: "a key in double quotes or '}'"
    case .colon: "':'"
    case .commaOrEndOfArray: "',' or ']'"
    case .commaOrEndOfObject: "',' or '}'"
    case .endOfString: "the end of the string"
    case .digit: "a digit"
    case .literal: "true, false or null"
    case .endOfDocument: "the end of the document"
    }
  }
}

extension JSONError: CustomStringConvertible {
  /// What is wrong at which byte of the document, for people.
  public var description: String {
    switch self {
    case .unexpected(let byte, let offset, let expected):
      "\(Self.name(of: byte)) at byte \(offset) where \(expected) was expected"
    case .endsEarly(let offset, let expected):
      "the document ends at byte \(offset) where \(expected) was expected"
    case .controlCharacter(let byte, let offset):
      "unescaped control character \(Self.name(of: byte)) inside the string at byte \(offset)"
    case .invalidEscape(let offset): "no valid escape after the backslash at byte \(offset)"
    case .invalidUTF8(let offset): "invalid UTF-8 at byte \(offset)"
    case .nestedTooDeeply(let limit, let offset): "more than \(limit) levels of nesting at byte \(offset)"
    case .tokenTooLong(let limit, let offset):
      "the string or number at byte \(offset) is longer than \(limit) bytes"
    case .numberTooLarge(let offset):
      "the number that ends at byte \(offset) is too large: the largest is about 1.8e308"
    case .repeatedKey(let key, let offset):
      "the key \(String(key.prefix(200)).debugDescription) at byte \(offset) is in its object already; keep one of them"
    }
  }

  /// A printable ASCII character in quotes, any other byte in hexadecimal.
  private static func name(of byte: UInt8) -> String {
    guard byte > 0x20, byte < 0x7F else { return "byte 0x" + Hexadecimal.text(byte) }
    return "'\(Character(UnicodeScalar(byte)))'"
  }
}
