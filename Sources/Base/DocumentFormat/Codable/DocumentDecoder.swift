import Bytes

/// Decodes `Decodable` values from documents.
///
/// Numbers are converted by value: an integer to a double, or `2.0` to an integer. The search for a field begins after
/// the last one found, so decoding fields in the document's order takes one pass.
public struct DocumentDecoder {
  /// The `userInfo` of the decoder that types receive.
  public var userInfo: [CodingUserInfoKey: Any] = [:]

  /// Creates a decoder without `userInfo`.
  public init() {}

  /// Decodes a value from a document.
  ///
  /// All bytes are validated first, as in ``DocumentView/validate()``, because a keyed container cannot report damage
  /// when its keys are read and would appear empty.
  ///
  /// - Throws: `DecodingError` with the coding path. For damaged bytes it is `dataCorrupted`, and the underlying error
  ///   is the ``DocumentError`` with the offset.
  public func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws -> T {
    try decode(type, from: bytes.rawSpan)
  }

  /// Decodes a value from borrowed bytes, as above. They are copied, because a type may keep its `Decoder`.
  public func decode<T: Decodable>(_ type: T.Type, from bytes: RawSpan) throws -> T {
    do {
      try DocumentView(bytes).validate()
    } catch {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [], debugDescription: "\(error)", underlyingError: error))
    }
    return try DecodingScope(DecodingSource(validated: bytes, userInfo)).read(type, at: 0, nil)
  }
}
