extension Scan {
  /// Why no scan can find a product by a barcode that is exactly this text; `nil` if a scan of it looks it up.
  package enum Unscannable: String, Sendable, CaseIterable {
    /// It is a web address, whose text identifies no product.
    case address = "a web address"
    /// It begins with a symbology identifier, which scanners add and matching takes away.
    case symbologyIdentifier = "begins with a symbology identifier"
    /// It is longer than a scan may be.
    case length = "longer than a scan may be"
    /// It has an end of line, where a scan ends.
    case lineEnd = "has an end of line inside"
    /// It begins or ends with a character that nobody sees, which no label shows.
    case invisible = "begins or ends with a character that nobody sees"
    /// A scan of it is taken for something else.
    case other = "a scan of it is taken for something else"
  }

  /// Returns why no scan finds a product by a barcode that is exactly `text`; `nil` if one does.
  ///
  /// The scan itself decides: it has to allow the exact text, and to look up all of it.
  ///
  /// - Complexity: One pass over a text of letters, digits and signs that mean nothing in a scan; for others a scan.
  package static func unscannable(_ text: String) -> Unscannable? {
    if isPlain(text.utf8.span) { return nil }
    let trimmed = Noise.trimmed(Array(text.utf8)[...])
    if trimmed.isEmpty { return nil }
    if trimmed.contains(where: { $0 == 0x0A || $0 == 0x0D }) { return .lineEnd }
    let scan = Scan(text)
    if scan.allowsExactText {
      if scan.details.hasInvisible { return .invisible }
      if scan.payload.utf8.elementsEqual(trimmed) { return nil }
    }
    if scan.isTooLong { return .length }
    if scan.symbology != nil { return .symbologyIdentifier }
    return scan.kind == .url || scan.kind == .digitalLink ? .address : .other
  }

  /// Whether a text has only characters that decide nothing in a scan, and is short, so that it is its own payload.
  package static func isPlain(_ text: Span<UInt8>) -> Bool {
    if text.count > 64 { return false }
    for index in text.indices {
      let byte = text[index]
      guard ASCII.isAlphanumeric(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") else { return false }
    }
    return true
  }
}
