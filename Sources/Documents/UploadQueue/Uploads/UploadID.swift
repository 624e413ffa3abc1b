/// A permanent ID of an upload. The server receives it with every attempt and detects duplicates by it.
///
/// A UUID of version 7 (RFC 9562): 48 bits of milliseconds, a counter, 62 random bits. IDs of one queue sort in the
/// order of enqueuing, even if the clock was set back.
public struct UploadID: Hashable, Sendable {
  /// The text form: 36 characters, lower case.
  public let text: String

  /// Creates an ID.
  ///
  /// - Parameters:
  ///   - tick: Milliseconds since 1970 in the upper 52 bits, a counter in the lower 12.
  ///   - random: Random bits; 62 of them are used.
  init(tick: UInt64, random: UInt64) { text = TimeOrderedID.text(tick: tick, random: random) }

  /// The tick in the ID. It is meaningless for an ID of another UUID version, which no queue creates.
  var tick: UInt64 {
    let high = text.utf8.prefix(18).reduce(UInt64(0)) { word, digit in
      guard digit != UInt8(ascii: "-") else { return word }
      let value = digit <= UInt8(ascii: "9") ? digit - UInt8(ascii: "0") : digit - UInt8(ascii: "a") + 10
      return word << 4 | UInt64(value)
    }
    return (high >> 16) << 12 | high & 0xFFF
  }
}

extension UploadID: Comparable {
  /// Whether `a` was enqueued before `b`, for two IDs of one queue.
  public static func < (a: UploadID, b: UploadID) -> Bool { a.text < b.text }
}

extension UploadID: LosslessStringConvertible {
  /// Parses an ID, in either case; `nil` if `text` does not have the form of a UUID.
  public init?(_ text: String) {
    let bytes = Array(text.lowercased().utf8)
    guard bytes.count == 36 else { return nil }
    for (index, byte) in bytes.enumerated() {
      switch index {
      case 8, 13, 18, 23: guard byte == UInt8(ascii: "-") else { return nil }
      default:
        guard
          (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
        else { return nil }
      }
    }
    self.text = String(decoding: bytes, as: UTF8.self)
  }

  /// The text form: 36 characters, lower case.
  public var description: String { text }
}

extension UploadID: Codable {
  /// Decodes an ID from its text form, in either case.
  ///
  /// - Throws: `DecodingError.dataCorrupted` if the text does not have the form of a UUID.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let id = UploadID(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "This is no id of an upload.")
    }
    self = id
  }

  /// Encodes the text form as a single value.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}
