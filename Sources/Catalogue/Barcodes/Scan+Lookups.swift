extension Scan {
  /// The payload without the add-on: the text that identifies the item.
  public var itemText: String {
    guard addOn != nil, let count = details.itemByteCount else { return payload }
    return String(decoding: payload.utf8.prefix(count), as: UTF8.self)
  }

  /// The text whose prefix may be a known barcode: ``itemText``, except that a restricted number of 14 digits is
  /// shortened to 13 digits. Heads of such numbers are written as on the label.
  public var headText: String {
    guard kind == .rcn, let gtin, gtin.indicator == 0, payload.utf8.count == 14 else { return itemText }
    return String(payload.dropFirst())
  }

  /// Whether a known barcode equal to ``payload`` is a match.
  ///
  /// GS1 data, as declared by the symbol, and Digital Links are structured: their text never identifies the item.
  /// Neither does an add-on without its number. Another web address may be a barcode, letter for letter.
  public var allowsExactText: Bool {
    if kind == .empty || isTooLong || symbology?.isAddOnAlone == true { return false }
    return evidence != .carrier && kind != .digitalLink
  }

  /// The texts that may equal a known barcode, in the order in which they are compared: the payload, which is the only
  /// one for nearly all scans; before it the payload with the invisible characters that were removed at its ends, and
  /// after it the payload without separators at its ends. Empty unless ``allowsExactText``.
  public var exactTexts: [String] {
    guard allowsExactText else { return [] }
    return [details.framedText, payload, details.textBetweenSeparators].compactMap { $0 }
  }

  /// Whether ``payload`` is the only one of ``exactTexts``, as it is for nearly all scans.
  public var hasOneExactText: Bool { !hasDetails || details.framedText == nil && details.textBetweenSeparators == nil }

  /// Whether capital and small letters are different when the payload is compared with barcodes, as in a web address.
  public var distinguishesCase: Bool { kind == .url }

  /// Whether a known barcode that is a prefix of ``headText`` is a match, with the rest being a serial number.
  ///
  /// This requires more than ``allowsExactText``. GS1 data and other labels have their own field for a serial number,
  /// unless the digits only look like GS1 data by chance. Nothing can follow an EAN or UPC, unless it is a
  /// restricted number that contains a price or a weight.
  public var allowsHead: Bool {
    guard allowsExactText, kind != .label, kind != .url, kind != .gs1 || evidence == .digits else { return false }
    return symbology?.isEANUPC != true || kind == .rcn
  }

  /// Whether nothing but its digits says that the payload is GS1 data.
  package var isGS1ByDigits: Bool { elements != nil && evidence == .digits }

  /// Whether ``gtin`` identifies the *contents* of a logistic unit, AI (02), and not the scanned object.
  public var namesContents: Bool {
    guard let elements else { return false }
    return elements["01"] == nil && elements.contentGTIN != nil
  }

  /// Whether any catalogue could contain the scanned item.
  public var canMatch: Bool { gtin != nil || allowsExactText }

  /// A second reading for what may have been meant otherwise. Try it only after this scan has matched nothing.
  ///
  /// - Text that was typed: full-width characters are converted to ASCII, characters that nobody sees are removed, and
  ///   so are blanks inside a number.
  /// - A Codabar code with the letters that start and stop the symbol, which are removed.
  /// - The number of an EAN or UPC after the identifier of a symbol with GS1 data: `]e0` for `]E0`, typed with caps lock.
  ///
  /// It is `nil` if folding changes nothing, or if the configuration disables it.
  ///
  /// - Complexity: Linear in the length of ``text``; computed on each access.
  public var folded: Scan? {
    switch kind {
    case .text, .gs1Bad: break
    default: return nil
    }
    guard configuration.foldsFullWidth, !isTooLong else { return nil }
    var plain = configuration
    plain.foldsFullWidth = false
    if kind == .gs1Bad, evidence == .carrier, let gtin = GTIN(payload) {
      return Scan(payload, configuration: plain).gtin == gtin ? Scan(payload, configuration: plain) : nil
    }
    if symbology?.letter == "F", kind == .text, let inner = Folding.withoutStartAndStop(payload) {
      return Scan(inner, symbology: symbology, configuration: plain)
    }
    guard kind == .text else { return nil }
    let visible = Folding.plain(text)
    let scan = visible.map { Scan($0, symbology: symbology, configuration: plain) } ?? self
    if scan.kind == .text, let digits = Folding.withoutBlanks(scan.payload) {
      return Scan(digits, symbology: scan.symbology, configuration: plain)
    }
    return visible == nil ? nil : scan
  }

  /// Whether it is worth asking for ``possibleAddOn``: most numbers are whole.
  public var mayHaveAddOn: Bool {
    switch kind {
    case .digits, .text: true
    case .gtin, .rcn: payload.utf8.count == 14
    default: false
    }
  }

  /// A number and an add-on of 2 or 5 digits in a payload of 14, 15, 17 or 18 digits, which may as well be a head and a
  /// serial number, or a GTIN: a scanner that does not say that it read an add-on sends both as one number. `nil` if the
  /// number has a wrong check digit.
  public var possibleAddOn: (item: GTIN, itemDigitCount: Int, addOn: String)? {
    let count = payload.utf8.count
    guard kind == .digits || kind == .text || count == 14 && (kind == .gtin || kind == .rcn), addOn == nil else {
      return nil
    }
    let itemCount = count < 16 ? count - 2 : count - 5
    guard [14, 15, 17, 18].contains(count), payload.utf8.allSatisfy(ASCII.isDigit),
      let item = GTIN(utf8: payload.utf8.prefix(itemCount))
    else { return nil }
    return (item, itemCount, String(payload.suffix(count - itemCount)))
  }

  /// Whether the payload exceeds the maximum length of the configuration.
  var isTooLong: Bool { payload.utf8.count > configuration.maximumLength }
}
