extension Scan {
  /// The payload without the add-on: the text that stands for the item.
  public var itemText: String {
    guard let addOn else { return payload }
    return String(payload.dropLast(addOn.utf8.count))
  }

  /// The text whose start may be a known text: ``itemText``, but for a restricted number of 14 digits its 13,
  /// for heads of such numbers are written as the label shows them.
  public var headText: String {
    guard kind == .rcn, let gtin, gtin.indicator == 0, payload.utf8.count == 14 else { return itemText }
    return String(payload.dropFirst())
  }

  /// Whether a known text that equals ``payload`` is a match.
  ///
  /// Data that a symbol declares to be GS1's, and web addresses, are structures: their text is never the
  /// item's. Nor is an add-on without its number.
  public var allowsExactText: Bool {
    if kind == .empty || isTooLong || symbology?.isAddOnAlone == true { return false }
    return evidence != .carrier && kind != .url && kind != .digitalLink
  }

  /// Whether a known text that ``headText`` starts with is a match, the rest being a serial number.
  ///
  /// Beyond what ``allowsExactText`` asks for: GS1 data have their own place for a serial number, unless the
  /// digits look like GS1 data only by chance or are none; and nothing can follow an EAN or UPC, unless it is
  /// a restricted number with a price or weight inside.
  public var allowsHead: Bool {
    guard allowsExactText, kind != .gs1 || evidence == .digits else { return false }
    return symbology?.isEANUPC != true || kind == .rcn
  }

  /// Whether ``gtin`` names what is *in* a logistic unit, (02), and not what was scanned.
  public var namesContents: Bool {
    guard let elements else { return false }
    return elements["01"] == nil && elements.contentGTIN != nil
  }

  /// False when no catalogue whatsoever can hold what was scanned.
  public var canMatch: Bool { gtin != nil || allowsExactText }

  /// A second reading for text that came from a keyboard: full-width characters as ASCII, and no blanks
  /// inside a number. To be tried only after this one has matched nothing.
  ///
  /// - Returns: Nil when folding changes nothing, when the configuration switches it off, and for data that
  ///   were not plain text.
  /// - Complexity: Linear in the length of ``text``; done anew each time.
  public var folded: Scan? {
    guard configuration.foldsFullWidth, kind == .text, !isTooLong else { return nil }
    var plain = configuration
    plain.foldsFullWidth = false
    let halfWidth = Folding.halfWidth(text)
    let scan = halfWidth.map { Scan($0, configuration: plain) } ?? self
    if scan.kind == .text, let digits = Folding.withoutBlanks(scan.payload) {
      return Scan((scan.symbology?.description ?? "") + digits, configuration: plain)
    }
    return halfWidth == nil ? nil : scan
  }

  /// Whether the payload is longer than the configuration takes for a scan.
  var isTooLong: Bool { payload.utf8.count > configuration.maximumLength }
}
