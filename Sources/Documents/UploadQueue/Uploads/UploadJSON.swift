public import DocumentFormat
public import JSONFormat

/// Validated JSON text. The queue stores the text and sends it byte for byte.
///
/// In contrast, the queue encodes a ``UploadPayload/value(_:)`` as JSON itself, and chooses the white space and the
/// format of numbers. With this type a receiver gets the caller's exact bytes.
public struct UploadJSON: Sendable, Hashable {
  /// The text in UTF-8.
  public let bytes: [UInt8]

  /// Validates JSON text.
  ///
  /// - Parameter bytes: One JSON value (RFC 8259) in UTF-8, with at most 128 levels. White space around it, and line
  ///   breaks between its tokens, are allowed and preserved.
  /// - Throws: The syntax error and its byte offset.
  /// - Complexity: O(*n*) in the bytes. The value is parsed once and not stored.
  public init(_ bytes: [UInt8]) throws(JSONError) {
    _ = try DocumentValue(json: bytes.span, repeatedKeys: .firstCounts)
    self.bytes = bytes
  }

  /// Validates JSON text, like `init(_: [UInt8])`.
  public init(_ text: String) throws(JSONError) { try self.init(Array(text.utf8)) }

  /// Wraps text from a JSON writer of this package. Not validated in a release build.
  package init(written bytes: [UInt8]) {
    assert((try? DocumentValue(json: bytes.span, repeatedKeys: .firstCounts)) != nil, "a JSON writer writes JSON")
    self.bytes = bytes
  }

  /// Wraps text that was read from the store or encoded from a value.
  init(unchecked text: String) { bytes = Array(text.utf8) }

  /// Parses the value. Of two fields of one object with the same name, the first one is used.
  ///
  /// - Throws: `JSONError`: only for text that another program stored without validating it.
  /// - Complexity: O(*n*) in the bytes, at each call.
  public func value() throws(JSONError) -> DocumentValue {
    try DocumentValue(json: bytes.span, repeatedKeys: .firstCounts)
  }

  /// The text on one line: the same bytes, with a space instead of each line feed and carriage return. They can only be
  /// white space between tokens, because strings escape them.
  public var line: [UInt8] {
    guard bytes.contains(where: Self.isLineBreak) else { return bytes }
    return bytes.map { Self.isLineBreak($0) ? UInt8(ascii: " ") : $0 }
  }

  private static func isLineBreak(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
  }

  /// The first field called `name`; `nil` if the value is not an object or the field is not a string.
  ///
  /// - Complexity: Copies the bytes, and parses them up to that field.
  func text(ofField name: String) -> String? {
    var tokens = JSONTokenizer(
      limits: JSONLimits(nestingDepth: DocumentLimits.nestingDepth, tokenByteCount: .max))
    tokens.append(bytes.span)
    tokens.finish()
    do {
      guard try tokens.next() == .beginObject else { return nil }
      while try tokens.next() == .key {
        let isField = tokens.textString.utf8.elementsEqual(name.utf8)
        let token = try tokens.next()
        if isField { return token == .string ? tokens.textString : nil }
        while tokens.depth > 1 { _ = try tokens.next() }
      }
    } catch {}  // Invalid JSON has no fields.
    return nil
  }
}
