public import DocumentFormat
public import JSONFormat

/// A JSON value as text. The queue stores the text and sends it byte for byte.
///
/// A ``UploadPayload/value(_:)`` is written as JSON by the queue: white space and the form of its numbers are the queue's. With this
/// a receiver gets the bytes that the caller has.
public struct UploadJSON: Sendable, Hashable {
  /// The text in UTF-8.
  public let bytes: [UInt8]

  /// Checks a JSON text.
  ///
  /// - Parameter bytes: one JSON value (RFC 8259) in UTF-8, with at most 128 levels. White space around
  ///   it, and line breaks between its parts, are allowed and kept.
  /// - Throws: what is wrong with the text, and at which byte.
  /// - Complexity: O(bytes); the value is read once, and not kept.
  public init(_ bytes: [UInt8]) throws(JSONError) {
    _ = try DocumentValue(json: bytes.span)
    self.bytes = bytes
  }

  /// Checks a JSON text, as `init(_: [UInt8])` does.
  public init(_ text: String) throws(JSONError) { try self.init(Array(text.utf8)) }

  /// A text that a JSON writer of this package made. It is not checked in a release build.
  package init(written bytes: [UInt8]) {
    assert((try? DocumentValue(json: bytes.span)) != nil, "a JSON writer writes JSON")
    self.bytes = bytes
  }

  /// A text that comes from the store, or that a value was written as.
  init(unchecked text: String) { bytes = Array(text.utf8) }

  /// The value that the text is.
  ///
  /// - Throws: `JSONError`: only for a text that another program put into the store unchecked.
  /// - Complexity: O(bytes), at each call.
  public func value() throws(JSONError) -> DocumentValue { try DocumentValue(json: bytes.span) }

  /// The text on one line: the same bytes, with a space for each line feed and carriage return. These are white space between the
  /// parts of a value; strings have them escaped.
  public var line: [UInt8] {
    guard bytes.contains(where: Self.isLineBreak) else { return bytes }
    return bytes.map { Self.isLineBreak($0) ? UInt8(ascii: " ") : $0 }
  }

  private static func isLineBreak(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
  }

  /// The text of the first field called `name`, if the value is an object and the field is a text.
  ///
  /// - Complexity: copies the bytes, and reads them up to that field.
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
    } catch {}  // no JSON, no field
    return nil
  }
}
