import TextFormat

/// The identifiers of a Digital Link by number and by the short names that older links use (GS1 Digital Link Standard
/// 1.1, short names).
enum DigitalLinkKey {
  /// Returns the digits of the identifier with this number or short name; `nil` if the name is another one. The
  /// identifier may be unknown.
  static func identifier(named name: ArraySlice<UInt8>) -> [UInt8]? {
    guard let first = name.first else { return nil }
    if ASCII.isDigit(first) { return name.allSatisfy(ASCII.isDigit) ? Array(name) : nil }
    guard name.count <= 13 else { return nil }
    return shortNames[String(decoding: name.map(ASCII.lowercased), as: UTF8.self)].map { Array($0.utf8) }
  }

  /// The identifiers by their short names in lower case.
  private static let shortNames = [
    // Keys.
    "gtin": "01", "itip": "8006", "gmn": "8013", "cpid": "8010", "gln": "414", "party": "417", "payto": "415",
    "gsrnp": "8017", "gsrn": "8018", "gcn": "255", "sscc": "00", "gdti": "253", "ginc": "401", "gsin": "402",
    "grai": "8003", "giai": "8004", "shipto": "410", "billto": "411", "purchasedfrom": "412", "shipfor": "413",
    "glnprod": "416",
    // Qualifiers.
    "cpv": "22", "lot": "10", "ser": "21", "tpx": "235", "glnx": "254", "cpsn": "8011", "srin": "8019", "refno": "8020",
    // Attributes.
    "exp": "17", "expdt": "7003",
  ]

  /// Keys that only the first versions of the standard had.
  private static let formerKeys: Set<[UInt8]> = Set(["410", "411", "412", "413", "416"].map { Array($0.utf8) })

  /// Keys whose value has no check digit in a known position. Each starts with the company prefix, so with digits.
  private static let textKeys: Set<[UInt8]> = Set(["401", "8004", "8010", "8013"].map { Array($0.utf8) })

  /// Returns the index of the component that is the key of a link.
  ///
  /// A GTIN is preferred wherever it is, because the components before it may be the site's own. Otherwise it is the
  /// first key whose value has the right form.
  static func find(in parts: [ArraySlice<UInt8>]) -> Int? {
    var first: Int?
    for index in parts.indices.dropFirst().dropLast() {
      guard let name = identifier(named: parts[index]), isKey(name) else { continue }
      let encoded = parts[index + 1]
      guard let value = PercentEncoding.decoded(encoded.span) else { continue }
      if name.elementsEqual("01".utf8) {
        if DigitRun(value)?.hasLengthOfGTIN == true { return index }
      } else if first == nil, hasForm(value, name) {
        first = index
      }
    }
    return first
  }

  /// Returns whether a link may have this identifier as its key.
  static func isKey(_ name: [UInt8]) -> Bool {
    guard let identifier = ApplicationIdentifier(at: 0, in: name), identifier.digitCount == name.count else {
      return false
    }
    return identifier.linkQualifiers != nil || formerKeys.contains(name)
  }

  private static func hasForm(_ value: [UInt8], _ name: [UInt8]) -> Bool {
    guard let identifier = ApplicationIdentifier(at: 0, in: name), identifier.defect(of: value[...]) == nil else {
      return false
    }
    return !textKeys.contains(name) || (value.count > 4 && value.prefix(4).allSatisfy(ASCII.isDigit))
  }
}
