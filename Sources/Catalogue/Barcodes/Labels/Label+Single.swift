/// The labels of one-dimensional symbols that hold one value with its data identifier of ANSI MH10.8.2:
///
///     1PLM358BIDDFR    P296-6501-1-ND    Q10
extension Label {
  /// Parses a part number or a quantity. Many an ordinary text begins like this, so the label is weak.
  init?(single bytes: [UInt8]) {
    guard let length = DataIdentifier.length(at: bytes[...]), bytes.count > length, bytes.count <= 64 else {
      return nil
    }
    let identifier = String(decoding: bytes.prefix(length), as: UTF8.self)
    let value = bytes.dropFirst(length)
    guard value.allSatisfy({ ASCII.isPrintable($0) && $0 != ASCII.blank }) else { return nil }
    if DataIdentifier.parts.contains(identifier) {
      self.init(kind: .label)
      addField(identifier, at: 0, value)
      addPart(String(decoding: value, as: UTF8.self))
      if identifier == "8P" || identifier == "3P" { gtin = GTIN(utf8: value) }
    } else if identifier == "Q", value.count <= 9, value.allSatisfy(ASCII.isDigit) {
      self.init(kind: .label)
      addField(identifier, at: 0, value)
      addFault(identifier, at: 0, "a quantity, not a product")
    } else {
      return nil
    }
    isWeak = true
    isGuess = true
  }
}
