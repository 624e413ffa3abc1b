extension ElementString {
  /// Parses the human-readable form: `(01)05296849398452(10)KGL` (GS1 General Specifications, rules for human-readable
  /// interpretation).
  ///
  /// A bracket inside a value is text unless it opens a known identifier; `\(` is always text, as in the bracketed
  /// syntax of the GS1 Barcode Syntax Resource. Blanks around values are ignored.
  ///
  /// - Complexity: Linear in the length of `text`.
  public init(bracketed text: some StringProtocol) {
    self.init(bracketed: Array(text.utf8), from: 0)
  }

  init(bracketed bytes: [UInt8], from start: Int) {
    self.init()
    var offset = start
    while offset < bytes.count {
      guard let identifier = Self.openedElement(at: offset, in: bytes) else {
        record(.brokenBrackets, at: offset)
        return
      }
      let valueStart = offset + identifier.digitCount + 2
      let end = Self.endOfValue(identifier, from: valueStart, in: bytes)
      let value = ASCII.trimmed(Self.unescaped(bytes[valueStart..<end]))
      append(identifier, bytes[(offset + 1)...].prefix(identifier.digitCount), value: value, offset: offset)
      offset = end
    }
  }

  /// Returns the format of the identifier that `(…)` at `offset` contains; `nil` if no known identifier is opened
  /// there.
  static func openedElement(at offset: Int, in bytes: [UInt8]) -> ApplicationIdentifier? {
    guard offset < bytes.count, bytes[offset] == ASCII.opening,
      let identifier = ApplicationIdentifier(at: offset + 1, in: bytes)
    else { return nil }
    let closing = offset + 1 + identifier.digitCount
    return closing < bytes.count && bytes[closing] == ASCII.closing ? identifier : nil
  }

  private static func endOfValue(_ identifier: ApplicationIdentifier, from start: Int, in bytes: [UInt8]) -> Int {
    var end = start
    while end < bytes.count {
      if bytes[end] == ASCII.backslash, end + 1 < bytes.count, bytes[end + 1] == ASCII.opening {
        end += 2
        continue
      }
      // A number contains no brackets, so in a numeric field even a bracket that opens no identifier ends the value.
      if bytes[end] == ASCII.opening, identifier.isNumeric || openedElement(at: end, in: bytes) != nil { break }
      end += 1
    }
    return end
  }

  private static func unescaped(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard value.contains(ASCII.backslash) else { return value }
    var plain: [UInt8] = []
    for (index, byte) in zip(value.indices, value) {
      let escapes = byte == ASCII.backslash && index + 1 < value.endIndex && value[index + 1] == ASCII.opening
      if !escapes { plain.append(byte) }
    }
    return plain[...]
  }
}
