extension Scan {
  /// The payload without the add-on: the text that identifies the item.
  public var itemText: String {
    guard let addOn else { return payload }
    return String(payload.dropLast(addOn.utf8.count))
  }

  /// The text whose prefix may be a known barcode: ``itemText``, except that a restricted number of 14 digits is
  /// shortened to 13 digits. Heads of such numbers are written as on the label.
  public var headText: String {
    guard kind == .rcn, let gtin, gtin.indicator == 0, payload.utf8.count == 14 else { return itemText }
    return String(payload.dropFirst())
  }

  /// Whether a known barcode equal to ``payload`` is a match.
  ///
  /// GS1 data, as declared by the symbol, and web addresses are structured: their text never identifies the item.
  /// Neither does an add-on without its number.
  public var allowsExactText: Bool {
    if kind == .empty || isTooLong || symbology?.isAddOnAlone == true { return false }
    return evidence != .carrier && kind != .url && kind != .digitalLink
  }

  /// Whether a known barcode that is a prefix of ``headText`` is a match, with the rest being a serial number.
  ///
  /// This requires more than ``allowsExactText``. GS1 data and other labels have their own field for a serial number,
  /// unless the digits only look like GS1 data by chance. Nothing can follow an EAN or UPC, unless it is a
  /// restricted number that contains a price or a weight.
  public var allowsHead: Bool {
    guard allowsExactText, kind != .label, kind != .gs1 || evidence == .digits else { return false }
    return symbology?.isEANUPC != true || kind == .rcn
  }

  /// Whether ``gtin`` identifies the *contents* of a logistic unit, AI (02), and not the scanned object.
  public var namesContents: Bool {
    guard let elements else { return false }
    return elements["01"] == nil && elements.contentGTIN != nil
  }

  /// Whether any catalogue could contain the scanned item.
  public var canMatch: Bool { gtin != nil || allowsExactText }

  /// A second reading for text that was typed: full-width characters are converted to ASCII, and blanks inside a number
  /// are removed. Try it only after this scan has matched nothing.
  ///
  /// It is `nil` if folding changes nothing, if the configuration disables it, and for data that were not plain text.
  ///
  /// - Complexity: Linear in the length of ``text``; computed on each access.
  public var folded: Scan? {
    guard configuration.foldsFullWidth, kind == .text, !isTooLong else { return nil }
    var plain = configuration
    plain.foldsFullWidth = false
    let halfWidth = Folding.halfWidth(text)
    let scan = halfWidth.map { Scan($0, symbology: symbology, configuration: plain) } ?? self
    if scan.kind == .text, let digits = Folding.withoutBlanks(scan.payload) {
      return Scan(digits, symbology: scan.symbology, configuration: plain)
    }
    return halfWidth == nil ? nil : scan
  }

  /// Whether the payload exceeds the maximum length of the configuration.
  var isTooLong: Bool { payload.utf8.count > configuration.maximumLength }
}
