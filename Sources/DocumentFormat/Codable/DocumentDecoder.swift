import Bytes

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
