extension Label {
  /// Parses a PZN as Code 39 contains it, `-` and seven or eight digits, or as it is printed: `PZN-03752864`,
  /// `PZN 3752864`.
  init?(pzn bytes: [UInt8], symbology: SymbologyIdentifier?) {
    guard bytes.count <= 24 else { return nil }
    let isNamed = bytes.prefix(3).map(ASCII.lowercased).elementsEqual("pzn".utf8)
    let digits: ArraySlice<UInt8>
    if isNamed {
      digits = bytes.dropFirst(3).drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ":") || $0 == ASCII.blank }
    } else if bytes.first == UInt8(ascii: "-") {
      digits = bytes.dropFirst()
    } else {
      return nil
    }
    guard digits.count == 7 || digits.count == 8, digits.allSatisfy(ASCII.isDigit) else { return nil }

    self.init(kind: .pzn)
    isWeak = !isNamed && symbology?.letter != "A"
    addElement("PZN", at: 0, digits)
    guard let pzn = Pharmazentralnummer(digits) else {
      addFault("PZN", at: 0, "the check digit of the PZN is wrong")
      return
    }
    take(pzn)
    addEntry("pzn", .text, "PZN", at: 0, pzn.digits.utf8)
  }

  /// Takes the keys by which a product with a PZN is found.
  mutating func take(_ pzn: Pharmazentralnummer) {
    if gtin == nil { gtin = pzn.gtin }
    for spelling in pzn.spellings { addPart(spelling) }
  }
}
