import Essentials

/// Encodes `Encodable` values as documents.
///
/// Values are written directly to one buffer. Only containers that a type creates explicitly (`nestedContainer`,
/// `superEncoder`) are written to separate buffers and inserted at the end, because they may be filled in any order.
///
/// `Date`, `Data`, `UUID`, `URL` and `Decimal` have native representations: see `Documentation/Format/Documents.md`. A
/// type must not encode the same key twice: it is undefined which of the two values a reader uses.
public struct DocumentEncoder {
  /// The `userInfo` of the encoder that types receive.
  public var userInfo: [CodingUserInfoKey: Any] = [:]

  /// Creates an encoder without `userInfo`.
  public init() {}

  /// Encodes a value as a document.
  ///
  /// - Throws: `EncodingError` with the coding path for a value that a document cannot contain: more than
  ///   ``DocumentLimits/nestingDepth`` levels, or 128-bit integers beyond 64 bits. Any error that the type itself
  ///   throws.
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
  /// The encoded size of a text, including its head.
  ///
  /// - Parameter count: The number of UTF-8 bytes in the text.
  package static func byteCount(ofTextWithUTF8Count count: Int) -> Int {
    var head: [UInt8] = []
    head.appendHead(Major.text, UInt64(count))
    return head.count + count
  }

  /// A fast path for the usual types of IDs, without scopes; `nil` for any other type.
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

/// The buffer that scopes write to, one at a time.
final class EncodingBuffer {
  var bytes: [UInt8] = []
  /// The number of the scope that may write. A write by another scope would corrupt this scope's list.
  var openScope = 0
  var lastScope = 0
  let userInfo: [CodingUserInfoKey: Any]

  init(userInfo: [CodingUserInfoKey: Any]) { self.userInfo = userInfo }
}

/// A key for a value without a name: an element of an array, or the object of a superclass.
struct UnnamedKey: CodingKey {
  let intValue: Int?

  /// Created lazily: every element has a key, but its text is rarely needed.
  var stringValue: String { intValue.map { "Index \($0)" } ?? "super" }

  static let `super` = UnnamedKey()

  private init() { intValue = nil }

  init(index: Int) { intValue = index }

  init?(stringValue: String) { return nil }

  init?(intValue: Int) { self.init(index: intValue) }
}
