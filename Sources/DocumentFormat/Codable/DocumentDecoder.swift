import RecordFormat

/// Reads `Decodable` values from documents.
///
/// Numbers are taken by value: an integer where a double is asked for, `2.0` where an integer is. A field is found from
/// where the last one was, so fields asked for in the document's order cost one pass over it.
public struct DocumentDecoder {
  /// What the decoded types find in `decoder.userInfo`.
  public var userInfo: [CodingUserInfoKey: Any] = [:]

  public init() {}

  /// The value whose document is `bytes`.
  ///
  /// All bytes are checked first, as ``DocumentView/validate()`` does: a container cannot report damage when it is
  /// asked for its keys, and would pass for an empty one.
  ///
  /// - Throws: `DecodingError` with the coding path. Damaged bytes are `dataCorrupted`, and the underlying error is the
  ///   ``DocumentError`` with the offset.
  public func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws -> T {
    do {
      try DocumentView(bytes.rawSpan).validate()
    } catch {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [], debugDescription: "\(error)", underlyingError: error))
    }
    let scope = DecodingScope(DecodingSource(bytes, userInfo), parent: nil, key: nil, offset: 0)
    return try scope.read(type, at: 0, nil)
  }

  /// The same from bytes that are only lent: they are copied first, since a `Decoder` may be kept.
  public func decode<T: Decodable>(_ type: T.Type, from bytes: RawSpan) throws -> T {
    try decode(type, from: bytes.copied())
  }
}

/// The document that scopes read.
final class DecodingSource {
  let bytes: [UInt8]
  let userInfo: [CodingUserInfoKey: Any]

  init(_ bytes: [UInt8], _ userInfo: [CodingUserInfoKey: Any]) {
    self.bytes = bytes
    self.userInfo = userInfo
  }

  @inline(__always)
  func item(at offset: Int) throws(DocumentError) -> Item {
    let bytes = bytes
    let span = bytes.rawSpan
    return try span.item(at: offset)
  }

  @inline(__always)
  func isNull(at offset: Int) throws(DocumentError) -> Bool {
    let bytes = bytes
    let span = bytes.rawSpan
    return try span.isNull(at: offset)
  }

  @inline(__always)
  func skip(_ offset: Int) throws(DocumentError) -> Int {
    let bytes = bytes
    let span = bytes.rawSpan
    return try span.skip(offset)
  }

  /// How many items, or pairs of them, stand in `list`; counted where a break ends it.
  func count(_ list: ItemList, isMap: Bool) throws(DocumentError) -> Int {
    if let count = list.count { return count }
    let storage = bytes
    let bytes = storage.rawSpan
    var count = 0
    var offset = list.start
    while try !bytes.isBreak(at: offset) {
      if isMap { offset = try bytes.skip(offset) }
      offset = try bytes.skip(offset)
      count += 1
    }
    return count
  }
}
