import struct Foundation.UUID

/// Writes `Encodable` values as documents.
///
/// Values go straight into one buffer. Only containers that a type asks for by itself (`nestedContainer`,
/// `superEncoder`) are written apart and put into their place at the end, since they may be filled in any order.
///
/// `Date`, `Data`, `UUID`, `URL` and `Decimal` have forms of their own, see `Documentation/Format/Documents.md`. A type
/// must not encode the same key twice: which of the two a reader takes is not defined.
public struct DocumentEncoder {
  /// What the encoded types find in `encoder.userInfo`.
  public var userInfo: [CodingUserInfoKey: Any] = [:]

  public init() {}

  /// The bytes of `value`.
  ///
  /// - Throws: `EncodingError` with the coding path for what a document cannot hold: more than
  ///   ``DocumentLimits/nestingDepth`` levels, 128-bit integers beyond 64 bits; and whatever the type itself throws.
  /// - Complexity: O(bytes), with an allocation for each nested type.
  public func encode<T: Encodable>(_ value: T) throws -> [UInt8] {
    if let bytes = Self.bytes(ofScalar: value) { return bytes }
    let buffer = EncodingBuffer(userInfo: userInfo)
    buffer.bytes.reserveCapacity(256)
    let root = EncodingScope(buffer, parent: nil, key: nil)
    try root.write(value, key: nil)
    return buffer.bytes
  }
}

extension DocumentEncoder {
  /// The length of a text in a document, with its head.
  ///
  /// - Parameter count: The bytes of the text in UTF-8.
  package static func byteCount(ofTextWithUTF8Count count: Int) -> Int {
    var head: [UInt8] = []
    head.appendHead(Major.text, UInt64(count))
    return head.count + count
  }

  /// The bytes of what ids usually are, without scopes; nil for anything else.
  private static func bytes<T>(ofScalar value: T) -> [UInt8]? {
    var bytes: [UInt8] = []
    if T.self == Int.self {
      bytes.appendItem(Int64(value as! Int))
    } else if T.self == Int64.self {
      bytes.appendItem(value as! Int64)
    } else if T.self == String.self {
      bytes.appendItem(value as! String)
    } else if T.self == UUID.self {
      bytes.appendItem((value as! UUID).uuidString)
    } else {
      return nil
    }
    return bytes
  }
}

/// The bytes that scopes write to, in turn.
final class EncodingBuffer {
  var bytes: [UInt8] = []
  /// The number of the scope that may write. One that writes out of its turn would damage another one's list.
  var openScope = 0
  var lastScope = 0
  let userInfo: [CodingUserInfoKey: Any]

  init(userInfo: [CodingUserInfoKey: Any]) { self.userInfo = userInfo }
}

/// A key for what has no name: an element of an array, or the object of a superclass.
struct PlaceKey: CodingKey {
  let intValue: Int?

  /// Made when asked for: every element has a key, and hardly one of them is ever looked at.
  var stringValue: String { intValue.map { "Index \($0)" } ?? "super" }

  static let `super` = PlaceKey()

  private init() { intValue = nil }

  init(index: Int) { intValue = index }

  init?(stringValue: String) { return nil }

  init?(intValue: Int) { self.init(index: intValue) }
}
