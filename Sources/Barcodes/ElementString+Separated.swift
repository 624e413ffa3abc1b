extension ElementString {
  /// Reads the form that GS1 symbols carry: identifier, value, identifier, value, …, with FNC1 sent as GS
  /// (0x1D) after each value whose length is not predefined (GS1 General Specifications 7.8).
  ///
  /// Leading, doubled and trailing separators are passed over. Reading ends at the first field that cannot be
  /// one: behind it nothing tells where the next would start.
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
        note(.unknownIdentifier(text: Self.excerpt(of: bytes, at: offset)))
        return
      }
      let field = Self.field(format, from: offset + format.identifierLength, in: bytes)
      // Cut off in the middle, a field must not become right by losing its blanks.
      let isWhole = !format.isNumeric && field.count <= format.maximumLength
      let value = isWhole ? ASCII.trimmed(bytes[field]) : bytes[field]
      guard append(format, at: offset, in: bytes, value: value) else { return }
      offset = field.upperBound
    }
  }

  /// Where the value that starts at `start` ends. The search stops one byte beyond the greatest length, so
  /// that a source without separators costs no more than its own length.
  private static func field(_ format: ElementFormat, from start: Int, in bytes: [UInt8]) -> Range<Int> {
    // A separator after any field of fixed length can be missing: printers leave it out where it is due, and
    // the end is known without it.
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
