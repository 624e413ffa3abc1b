extension ElementString {
  /// Parses the form that GS1 symbols contain: identifier, value, identifier, value, …, with FNC1 sent as GS (0x1D)
  /// after each value whose length is not predefined (GS1 General Specifications 7.8).
  ///
  /// Leading, doubled and trailing separators are ignored. Parsing stops at the first invalid field, because the start
  /// of the next field cannot be determined.
  ///
  /// - Complexity: Linear in the length of `text`.
  public init(separated text: some StringProtocol) {
    self.init(separated: Array(text.utf8), from: 0)
  }

  init(separated bytes: [UInt8], from start: Int) {
    self.init()
    var offset = start
    while offset < bytes.count {
      if bytes[offset] == ASCII.groupSeparator {
        offset += 1
        continue
      }
      guard let format = ElementFormat(at: offset, in: bytes) else {
        record(.unknownIdentifier(text: Self.excerpt(of: bytes, at: offset)))
        return
      }
      let field = Self.field(format, from: offset + format.identifierLength, in: bytes)
      // Removing blanks must not make a truncated field valid.
      let isWhole = !format.isNumeric && field.count <= format.maximumLength
      let value = isWhole ? ASCII.trimmed(bytes[field]) : bytes[field]
      guard append(format, at: offset, in: bytes, value: value) else { return }
      offset = field.upperBound
    }
  }

  /// Returns the range of the value that starts at `start`. The search stops one byte after the maximum length, so that
  /// the cost for data without separators stays linear.
  private static func field(_ format: ElementFormat, from start: Int, in bytes: [UInt8]) -> Range<Int> {
    // The separator after a field of fixed length is optional here: printers sometimes omit a required one, and the end
    // is known without it.
    let reach = format.isFixed ? format.maximumLength : format.maximumLength + 1
    let limit = min(start + reach, bytes.count)
    var end = start
    while end < limit, bytes[end] != ASCII.groupSeparator { end += 1 }
    return start..<end
  }

  static func excerpt(of bytes: [UInt8], at offset: Int) -> String {
    let end = bytes[offset...].prefix(4).firstIndex(of: ASCII.groupSeparator) ?? min(offset + 4, bytes.count)
    return String(decoding: bytes[offset..<end], as: UTF8.self)
  }
}
