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
  /// 6. The longest head.
  /// 7. A text that may be a printed ISBN, a PZN or another weak label.
  /// 8. Steps 1 to 7 for the text with full-width characters folded.
  ///
  /// - Parameters:
  ///   - scan: The parsed scan.
  ///   - options: How heads are matched. How the text is parsed was decided when `scan` was created.
  /// - Throws: `StoreError.damaged`.
  /// - Complexity: One lookup for each spelling, and one for each length of catalogue barcodes that is less than the
  ///   length of the code. If suggestions are wanted and nothing matches, also one for each code that is one edit away.
  public func match(_ scan: Scan, options: MatchingOptions = .standard) throws(StoreError) -> Match {
    var match = try matchAsRead(scan, options)
    if match.isEmpty, let folded = scan.folded {
      var second = try matchAsRead(folded, options)
      second.attempts = match.attempts + second.attempts
      if second.isEmpty { second.gtin = match.gtin ?? second.gtin }
      second.scan = scan
      second.foldedScan = second.isEmpty ? nil : folded
      match = second
    }
    // 9 stands for an item of variable measure, which contains no other.
    if let gtin = match.gtin, (1...8).contains(gtin.indicator), match.kind != .gs1Content {
      match.contents = try contents(of: gtin, scan)
    }
    if options.suggestionLimit > 0, match.isEmpty {
      match.suggestions = try suggestions(for: match, limit: options.suggestionLimit)
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
      try matchExactly(scan.payload, .exact, &match)
      if !match.isEmpty { return match }
    }
    match.rest = scan.addOn
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
      try matchParts(of: label, &match)
      if !match.isEmpty { return match }
    }
    if scan.kind == .rcn, let gtin = scan.gtin, !options.measures.isEmpty {
      try matchMeasure(gtin, options.measures, &match)
      if !match.isEmpty { return match }
    }
    if scan.allowsHead, options.heads.allows(scan) { try matchHead(scan, options.heads, &match) }
    if match.isEmpty, let label = scan.label, label.isWeak {
      match.gtin = label.gtin
      if let gtin = label.gtin { try matchGTIN(gtin, .gtin, &match) }
      if match.isEmpty { try matchParts(of: label, &match) }
    }
    return match
  }

  /// Matches the part numbers of a label with barcodes, and then with SKUs.
  ///
  /// - Complexity: One lookup for each part. SKUs have no index: a label whose parts are no barcodes reads all
  ///   products.
  private func matchParts(of label: Label, _ match: inout Match) throws(StoreError) {
    // An ISBN or a PZN identifies the product like its GTIN.
    let isNumber = [.isbn, .issn, .ismn, .pzn].contains(label.kind)
    for part in label.parts {
      try matchExactly(part, isNumber ? .gtin : .part, &match)
      if !match.isEmpty { return }
    }
    if isNumber || label.parts.isEmpty { return }
    try matchSKU(label.parts, &match)
  }

  /// Matches part numbers with SKUs, ignoring the case of letters. The first part that is one counts.
  private func matchSKU(_ parts: [String], _ match: inout Match) throws(StoreError) {
    let keys = parts.map { CodeKey.of($0) }
    var best = keys.count
    var found: [Product] = []
    try forEachProduct { (view) throws(StoreError) in
      let sku = view.utf8.skuCode
      if sku.byteCount == 0 || view.delFlag != 0 { return }
      guard let index = keys.firstIndex(where: { CodeKey.equals(sku, $0.rawSpan) }), index <= best else { return }
      if index < best { found = [] }
      best = index
      found.append(try copy(view))
    }
    match.found(found, .part, best < parts.count ? parts[best] : parts[0])
    if !match.isEmpty { match.key = match.products[0].skuCode }
  }

  private func kind(of scan: Scan) -> MatchKind {
    switch scan.kind {
    case .digitalLink: .digitalLink
    case .gs1, .gs1Bad: scan.namesContents ? .gs1Content : .gs1
    default: .gtin
    }
  }

  /// Matches the item of a restricted number that also contains a weight, a price or a count.
  private func matchMeasure(_ gtin: GTIN, _ rules: MeasureRules, _ match: inout Match) throws(StoreError) {
    switch rules.reading(of: gtin) {
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

  private func matchExactly(_ text: String, _ kind: MatchKind, _ match: inout Match) throws(StoreError) {
    let code = text.utf8.span.rawSpan
    var found = Candidates()
    if CodeKey.isFolded(code) {
      try collect(code, key: code, isKey: true, &found)
    } else {
      let trimmed = code.extracting(CodeKey.trimmed(code))
      let key = CodeKey.of(code)
      try collect(trimmed, key: key.rawSpan, isKey: key.rawSpan.hasSameBytes(as: trimmed), &found)
    }
    match.found(found.exact.isEmpty ? try copies(found.folded) : found.exact, kind, text)
  }

  private func matchGTIN(_ gtin: GTIN, _ kind: MatchKind, _ match: inout Match) throws(StoreError) {
    let digits = gtin.digits
    var found = Candidates()
    if let lengths = store?.keyLengths(CatalogSchema.productByCode) {
      // The spellings of a trade item differ only in leading zeros. Looking each one up needs no key of its own.
      for count in GTIN.digitCounts where lengths.contains(count) && gtin.canBeWritten(digitCount: count) {
        // Digits are their own key, so every candidate is exact except for blanks around its barcode.
        let spelling = digits.utf8.span.rawSpan.extracting(last: count)
        try collect(spelling, key: spelling, isKey: true, &found)
      }
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
  fileprivate var trimmedAsCode: RawSpan {
    @_lifetime(copy self)
    get { extracting(CodeKey.trimmed(self)) }
  }
}

extension String {
  /// The text without the surrounding blanks and control characters that scanners send.
  fileprivate var trimmedAsCode: String {
    let bytes = utf8.span.rawSpan
    let range = CodeKey.trimmed(bytes)
    return range.count == bytes.byteCount ? self : bytes.extracting(range).string
  }
}
