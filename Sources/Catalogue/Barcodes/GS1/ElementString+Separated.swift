extension ElementString {
  /// Parses the form that GS1 symbols contain: identifier, value, identifier, value, …, with FNC1 sent as GS (0x1D)
  /// after each value whose length is not predefined (GS1 General Specifications 7.8).
  ///
  /// Leading and trailing separators, and those after a value whose length is predefined, mean nothing. After a value
  /// that cannot be read, parsing goes on after the next separator, as the start of the next element is known there.
  ///
  /// - Complexity: Linear in the length of `text`.
  public init(separated text: some StringProtocol) {
    self.init(separated: Array(text.utf8), from: 0)
  }

  init(separated bytes: [UInt8], from start: Int) {
    self.init()
    lacksSeparators = !bytes.contains(ASCII.groupSeparator)
    var offset = start
    while offset < bytes.count {
      if bytes[offset] == ASCII.groupSeparator {
        let next = bytes[offset...].firstIndex { $0 != ASCII.groupSeparator } ?? bytes.count
        if next - offset > 1, offset > start, next < bytes.count { record(.emptyElement, at: offset + 1) }
        offset = next
        continue
      }
      let end = readElement(at: offset, in: bytes)
      offset = end ?? bytes[offset...].firstIndex(of: ASCII.groupSeparator) ?? bytes.count
    }
  }

  /// Reads the element at `offset`.
  ///
  /// - Returns: The offset after its value; `nil` if that is unknown, as the element cannot be read.
  private mutating func readElement(at offset: Int, in bytes: [UInt8]) -> Int? {
    guard let identifier = ApplicationIdentifier(at: offset, in: bytes) else {
      readUnknown(at: offset, in: bytes)
      return nil
    }
    let field = Self.field(identifier, from: offset + identifier.digitCount, in: bytes)
    // Removing blanks must not make a truncated field valid.
    let isWhole = !identifier.isNumeric && field.count <= identifier.maximumLength
    let value = isWhole ? ASCII.trimmed(bytes[field]) : bytes[field]
    guard append(identifier, at: offset, in: bytes, value: value) else { return nil }
    if identifier.isFixed, !identifier.isPredefined, field.upperBound < bytes.count,
      bytes[field.upperBound] != ASCII.groupSeparator
    {
      let ai = String(decoding: bytes[offset..<offset + identifier.digitCount], as: UTF8.self)
      record(.missingSeparator(ai: ai), at: offset)
    }
    return field.upperBound
  }

  /// Records that the identifier at `offset` is unknown. If it follows another element, its value up to the next
  /// separator is kept as it is.
  private mutating func readUnknown(at offset: Int, in bytes: [UInt8]) {
    record(.unknownIdentifier(text: Self.excerpt(of: bytes, at: offset)), at: offset)
    guard !elements.isEmpty, let count = ApplicationIdentifier.digitCount(at: offset, in: bytes) else { return }
    let value = bytes[(offset + count)...].prefix { $0 != ASCII.groupSeparator }
    guard !value.isEmpty, value.allSatisfy(ASCII.isPrintable) else { return }
    let ai = String(decoding: bytes[offset..<offset + count], as: UTF8.self)
    elements.append(Element(ai: ai, value: String(decoding: value, as: UTF8.self), offset: offset))
  }

  /// Returns the range of the value that starts at `start`. The search stops one byte after the maximum length, so that
  /// the cost for data without separators stays linear.
  private static func field(_ identifier: ApplicationIdentifier, from start: Int, in bytes: [UInt8]) -> Range<Int> {
    // The separator after a field of fixed length is optional here: printers sometimes omit a required one, and the end
    // is known without it.
    let reach = identifier.isFixed ? identifier.maximumLength : identifier.maximumLength + 1
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
