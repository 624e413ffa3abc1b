/// A type may contain untyped parts. The document coders support ``DocumentValue`` natively, so every document can be
/// decoded as one. Other coders are not supported.
extension DocumentValue: Codable {
  /// Encodes the value itself, without a container around it.
  ///
  /// - Throws: `EncodingError.invalidValue` if `encoder` does not belong to a ``DocumentEncoder``.
  public func encode(to encoder: any Encoder) throws {
    guard encoder is EncodingScope else {
      throw EncodingError.invalidValue(
        self, .init(codingPath: encoder.codingPath, debugDescription: "Only a DocumentEncoder writes document values."))
    }
    var container = encoder.singleValueContainer()
    try container.encode(self)
  }

  /// Decodes any document.
  ///
  /// - Throws: `DecodingError.dataCorrupted` if `decoder` does not belong to a ``DocumentDecoder``, or the bytes are
  ///   damaged.
  public init(from decoder: any Decoder) throws {
    guard decoder is DecodingScope else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "Only a DocumentDecoder reads document values."))
    }
    self = try decoder.singleValueContainer().decode(DocumentValue.self)
  }
}
