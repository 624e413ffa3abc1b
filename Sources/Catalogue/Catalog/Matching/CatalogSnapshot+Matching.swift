public import Barcodes
import Bytes
public import LogStore

extension CatalogSnapshot {
  /// Matches a scanned text. The first step that finds a product ends the search and returns all products that it
  /// finds.
  ///
  /// 1. The text itself, then ignoring the case of letters.
  /// 2. The GTIN in every spelling, from a plain number, GS1 element strings or a Digital Link.
  /// 3. UPC-E, expanded.
  /// 4. The part numbers of a label, among barcodes and SKUs.
  /// 5. The item of a restricted number, by the rules for weights and prices.
  /// 6. The text itself among SKUs, if the options say so.
  /// 7. Nothing, if the text is several numbers of which the catalogue has the first: see ``Match/gluedCodes``.
  /// 8. The longest head; or the GTIN before an add-on, if that is longer.
  /// 9. A text that may be a printed ISBN, a PZN or another weak label.
  /// 10. Steps 1 to 9 for the second reading of the text, such as with full-width characters folded.
  ///
  /// Wherever the text is compared with barcodes, codes of the table of codes are looked at after these: if no product
  /// has the text as its barcode, those are found that have it as a further code.
  ///
  /// A text that the options ignore matches nothing.
  ///
  /// - Parameters:
  ///   - scan: The parsed scan.
  ///   - options: How heads are matched. How the text is parsed was decided when `scan` was created.
  /// - Throws: `StoreError.damaged`.
  /// - Complexity: One lookup for each spelling, and one for each length of catalogue barcodes that is less than the
  ///   length of the code. If suggestions are wanted and nothing matches, also one for each code that is one edit away.
  public func match(_ scan: Scan, options: MatchingOptions = .standard) throws(StoreError) -> Match {
    if options.ignores(scan) {
      var match = Match(scan: scan)
      match.transmission = .ignored
      return match
    }
    var match = try matchAsRead(scan, options)
    if hasCodes { match.mayHavePackage = true }
    if case .severalCodes = match.transmission { return match }
    if match.isEmpty, let folded = scan.folded {
      var second = try matchAsRead(folded, options)
      if hasCodes { second.mayHavePackage = true }
      second.attempts = match.attempts + second.attempts
      if second.isEmpty { second.gtin = match.gtin ?? second.gtin }
      second.scan = scan
      second.foldedScan = second.isEmpty ? nil : folded
      match = second
    }
    // 9 stands for an item of variable measure, which contains no other.
    // A code of the table says what the case contains.
    if let gtin = match.gtin, (1...8).contains(gtin.indicator), match.kind != .gs1Content, match.package == nil {
      match.contents = try contents(of: gtin, scan)
    }
    if match.isEmpty, trace == nil, try maySuggest(for: scan, options), case .oneCode = match.transmission {
      try suggest(options, &match)
    }
    return match
  }

  /// Matches a scanned text.
  ///
  /// - Parameters:
  ///   - text: The text as the scanner sent it.
  ///   - symbology: The symbology, if the scanner sent it beside the text.
  ///   - options: How the text is parsed and matched.
  public func match(
    _ text: String, symbology: SymbologyIdentifier? = nil, options: MatchingOptions = .standard
  ) throws(StoreError) -> Match {
    try match(Scan(text, symbology: symbology, configuration: options.scan), options: options)
  }

  /// Returns the item inside a case, if the catalogue contains it.
  private func contents(of gtin: GTIN, _ scan: Scan) throws(StoreError) -> Match.Contents? {
    guard let inner = gtin.withoutIndicator else { return nil }
    var found = Match(scan: scan)
    try matchGTIN(inner, .gtin, &found)
    return found.isEmpty ? nil : Match.Contents(gtin: inner, level: gtin.indicator)
  }

  private func matchAsRead(_ scan: Scan, _ options: MatchingOptions) throws(StoreError) -> Match {
    var match = Match(scan: scan)
    // As many as a plain number needs that is not there.
    match.attempts.reserveCapacity(3)
    match.gtin = scan.gtin
    if scan.allowsExactText {
      // The text is compared including its add-on. Without it, the text is no longer what was scanned but its GTIN.
      if scan.hasOneExactText {
        try matchExactly(scan.payload, .exact, distinguishingCase: scan.distinguishesCase, &match)
        if !match.isEmpty { return match }
      } else {
        for text in scan.exactTexts {
          try matchExactly(text, .exact, distinguishingCase: scan.distinguishesCase, &match)
          if !match.isEmpty { return match }
        }
      }
    }
    match.rest = scan.addOn
    let mayBeSeveral = scan.mayBeSeveralCodes
    if mayBeSeveral, scan.elements != nil, try findGluedCodes(scan, options, &match) { return match }
    if let gtin = scan.gtin {
      try matchGTIN(gtin, kind(of: scan), &match)
      if !match.isEmpty { return match }
    }
    if let gtin = scan.upcE, gtin != scan.gtin {
      try matchGTIN(gtin, .gtin, &match)
      if !match.isEmpty {
        match.gtin = gtin
        return match
      }
    }
    if let label = scan.label, !label.isWeak {
      try matchParts(of: label, options, &match)
      if !match.isEmpty { return match }
    }
    if !options.measures.isEmpty {
      switch scan.kind {
      case .rcn:
        if let gtin = scan.gtin { try matchMeasure(options.measures.reading(of: gtin), &match) }
      case .digits: try matchMeasure(options.measures.reading(ofDigits: scan.payload), &match)
      default: break
      }
      if !match.isEmpty { return match }
    }
    if case .match = options.sku, scan.allowsExactText {
      try matchSKU([scan.payload], &match)
      if !match.isEmpty { return match }
    }
    if mayBeSeveral, try findGluedCodes(scan, options, &match) { return match }
    if scan.allowsHead, options.heads.allows(scan) { try matchHead(scan, options.heads, &match) }
    if scan.mayHaveAddOn, let addOn = scan.possibleAddOn {
      try matchItem(before: addOn, &match)
    }
    if mayBeSeveral, match.isEmpty, try findGluedCodes(scan, options, whoseFirstIsKnown: false, &match) { return match }
    if match.isEmpty, let label = scan.label, label.isWeak {
      match.gtin = label.gtin
      if let gtin = label.gtin { try matchGTIN(gtin, .gtin, &match) }
      if match.isEmpty { try matchParts(of: label, options, &match) }
    }
    return match
  }

  /// Finds out whether a scan is several numbers of products in one transmission, of which the catalogue has the first, or
  /// any. Returns whether it is.
  private func findGluedCodes(
    _ scan: Scan, _ options: MatchingOptions, whoseFirstIsKnown: Bool = true, _ match: inout Match
  ) throws(StoreError) -> Bool {
    var best: (codes: [String], known: Int)?
    for codes in scan.possibleGluedCodes {
      var known = 0
      for (index, code) in codes.enumerated() {
        var found = Match(scan: scan)
        let gtin = Scan(code, configuration: scan.configuration).gtin
        if let gtin { try matchGTIN(gtin, .gtin, &found) }
        if let gtin, found.isEmpty, gtin.isRestricted, !options.measures.isEmpty {
          try matchMeasure(options.measures.reading(of: gtin), &found)
        }
        if !found.isEmpty { known += 1 }
        if index == 0, known == 0, whoseFirstIsKnown { break }
      }
      if known > best?.known ?? 0 { best = (codes, known) }
    }
    if let best { match.gluedCodes = best.codes }
    return best != nil
  }

  /// Matches the number before an add-on, unless a head was found that is at least as long.
  private func matchItem(
    before reading: (item: GTIN, itemDigitCount: Int, addOn: String), _ match: inout Match
  ) throws(StoreError) {
    let restCount = match.rest?.utf8.count ?? .max
    if !match.isEmpty, restCount <= reading.addOn.utf8.count { return }
    var found = Match(scan: match.scan)
    try matchGTIN(reading.item, .gtin, &found)
    let attempts = match.attempts + found.attempts
    if !found.isEmpty {
      found.gtin = reading.item
      found.rest = reading.addOn
      match = found
    }
    match.attempts = attempts
  }

  /// Matches the part numbers of a label with barcodes, and then with SKUs.
  ///
  /// - Complexity: Two lookups for each part.
  private func matchParts(of label: Label, _ options: MatchingOptions, _ match: inout Match) throws(StoreError) {
    // An ISBN or a PZN identifies the product like its GTIN.
    let isNumber = [.isbn, .issn, .ismn, .pzn].contains(label.kind)
    // After a letter, as after a head, a short text is most likely a coincidence.
    if label.isGuess, label.parts.contains(where: { $0.count < options.heads.minimumLength }) { return }
    for part in label.parts {
      try matchExactly(part, isNumber ? .gtin : .part, &match)
      if !match.isEmpty { return }
    }
    if isNumber || label.parts.isEmpty { return }
    // A text of which only the first character says that it is a label is not worth reading all products.
    if hasSKUIndex || trace != nil || !label.isGuess { try matchSKU(label.parts, &match) }
  }

  private func kind(of scan: Scan) -> MatchKind {
    switch scan.kind {
    case .digitalLink: .digitalLink
    case .gs1, .gs1Bad: scan.namesContents ? .gs1Content : .gs1
    default: .gtin
    }
  }

  /// Matches the item of a restricted number that also contains a weight, a price or a count.
  private func matchMeasure(
    _ reading: Result<MeasureReading, MeasureRefusal>?, _ match: inout Match
  ) throws(StoreError) {
    switch reading {
    case nil: return
    case .failure(let refusal): match.measuring = .refused(refusal)
    case .success(let reading):
      for key in reading.keys {
        switch key {
        case .itemNumber(let number): try matchGTIN(number, .measure, &match)
        case .text(let text): try matchExactly(text, .measure, &match)
        }
        if match.isEmpty { continue }
        match.measuring = .matched(reading)
        return
      }
      match.measuring = .unmatched(reading)
    }
  }

  func matchExactly(
    _ text: String, _ kind: MatchKind, distinguishingCase: Bool = false, _ match: inout Match
  ) throws(StoreError) {
    let code = text.utf8.span.rawSpan
    if let trace { trace.note(.barcodes([CodeKey.of(code)])) }
    var found = Candidates()
    if CodeKey.isFolded(code) {
      try collect(code, key: code, isKey: true, &found)
    } else {
      let trimmed = code.extracting(CodeKey.trimmed(code))
      let key = CodeKey.of(code)
      try collect(trimmed, key: key.rawSpan, isKey: key.rawSpan.hasSameBytes(as: trimmed), &found)
    }
    let isExact = !found.exact.isEmpty || distinguishingCase
    if hasCodes, isExact ? found.exact.isEmpty : found.folded.isEmpty {
      let codes = try codes(code, distinguishingCase: distinguishingCase)
      if !codes.isEmpty { return match.foundCodes(codes, kind, text) }
    }
    match.found(isExact ? found.exact : try copies(found.folded), kind, text)
  }

  func matchGTIN(_ gtin: GTIN, _ kind: MatchKind, _ match: inout Match) throws(StoreError) {
    let digits = gtin.digits
    if let trace { trace.note(.barcodes(LookupTrace.keys(of: gtin))) }
    var found = Candidates()
    if let lengths = store?.keyLengths(CatalogSchema.productByCode) {
      // The spellings of a trade item differ only in leading zeros. Looking each one up needs no key of its own.
      for count in GTIN.digitCounts where lengths.contains(count) && gtin.canBeWritten(digitCount: count) {
        // Digits are their own key, so every candidate is exact except for blanks around its barcode.
        let spelling = digits.utf8.span.rawSpan.extracting(last: count)
        try collect(spelling, key: spelling, isKey: true, &found)
      }
    }
    if hasCodes, found.exact.isEmpty {
      let codes = try codes(gtin)
      if !codes.isEmpty { return match.foundCodes(codes, kind, digits) }
    }
    match.found(found.exact, kind, digits)
  }

  /// The products found under one key.
  struct Candidates {
    /// The products whose barcode equals the text.
    var exact: [Product] = []
    /// The rows whose barcode differs from the text only in case. Few of them are ever read.
    var folded: [RowID] = []

    var isEmpty: Bool { exact.isEmpty && folded.isEmpty }
  }

  /// Adds the products whose barcode has this key, except those that the server sent as deleted.
  ///
  /// - Parameters:
  ///   - text: The text to compare barcodes with, without surrounding blanks.
  ///   - isKey: Whether `text` is its own key.
  func collect(
    _ text: RawSpan, key: RawSpan, isKey: Bool, _ found: inout Candidates
  ) throws(StoreError) {
    guard let store, key.byteCount > 0 else { return }
    try store.forEachRecord(CatalogSchema.productByCode, key) { (record) throws(StoreError) in
      let view = ProductView(record)
      if view.delFlag != 0 { return true }
      if view.hasBarcode(text, isKey: isKey) || view.utf8.barcode.trimmedAsCode.hasSameBytes(as: text) {
        found.exact.append(try copy(view))
      } else {
        found.folded.append(view.rowID)
      }
      return true
    }
  }

  func copies(_ rows: [RowID]) throws(StoreError) -> [Product] {
    var products: [Product] = []
    for row in rows {
      if let product = try withProduct(row, { (view) throws(StoreError) in try copy(view) }) {
        products.append(product)
      }
    }
    return products
  }
}

extension Match {
  /// Records a lookup and stores the products that it found.
  mutating func found(_ products: consuming [Product], _ kind: MatchKind, _ text: String) {
    attempts.append(Attempt(kind: kind, text: text, productCount: products.count))
    if products.isEmpty { return }
    self.kind = kind
    if products.count == 1 {
      key = products[0].barcode.trimmedAsCode
    } else {
      products.sort { $0.id.isBytewiseLess(than: $1.id) }
      key = products.map { $0.barcode.trimmedAsCode }.min { $0.isBytewiseLess(than: $1) }
    }
    self.products = products
  }
}

extension RawSpan {
  /// The bytes without the surrounding blanks and control characters that scanners send.
  var trimmedAsCode: RawSpan {
    @_lifetime(copy self)
    get { extracting(CodeKey.trimmed(self)) }
  }
}

extension String {
  /// The text without the surrounding blanks and control characters that scanners send.
  var trimmedAsCode: String {
    let bytes = utf8.span.rawSpan
    let range = CodeKey.trimmed(bytes)
    return range.count == bytes.byteCount ? self : bytes.extracting(range).string
  }
}
