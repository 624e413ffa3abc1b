public import Barcodes
import Bytes
public import LogStore

/// The way in which a scan was matched. Raw values are the names that the command line uses.
public enum MatchKind: String, Sendable {
  /// The scanned text is a catalogue barcode.
  case exact
  /// The scanned GTIN is a catalogue barcode, written with a different number of digits.
  case gtin
  /// The GTIN of AI (01) in GS1 element strings.
  case gs1
  /// The GTIN of AI (02) in GS1 element strings: the contents of a logistic unit, not the unit. It is not a scan of the
  /// product itself.
  case gs1Content = "gs1-content"
  /// The GTIN of AI (01) in a GS1 Digital Link.
  case digitalLink = "digital-link"
  /// A catalogue barcode is a prefix of the scanned code; a serial number follows.
  case head
  /// The item in a restricted number that also contains a weight, a price or a count.
  case measure
  /// A part number on a label is a catalogue barcode or SKU.
  case part
  /// The scan matched no product.
  case none
}

/// The result of matching a scan: the kind of match, the barcode that matched, and every product with that barcode.
public struct Match: Sendable {
  /// The way in which the scan was matched; `none` if no product was found.
  public var kind = MatchKind.none
  /// The catalogue barcode that matched, with surrounding blanks removed. If several spellings matched, the first in
  /// byte order.
  public var key: String?
  /// The GTIN in the scan, whether or not the catalogue contains it.
  public var gtin: GTIN?
  /// The text after the head (a serial number), or an add-on.
  public var rest: String?
  /// All products that the scan may refer to, sorted by id.
  public var products: [Product] = []
  /// The parsed scan.
  public var scan: Scan
  /// The scan after full-width folding, if that reading matched. Few scans have it, so it is kept apart.
  var foldedScan: Scan? {
    get {
      guard case .folded(let scan) = folding else { return nil }
      return scan
    }
    set { folding = newValue.map { .folded($0) } ?? .none }
  }
  private var folding = Folding.none

  private indirect enum Folding: Sendable {
    case none
    case folded(Scan)
  }

  /// What the rules for restricted numbers say of the scanned number. Few scans have it, so it is kept apart.
  var measuring = Measuring.none

  /// What the rules for restricted numbers say of a number.
  indirect enum Measuring: Sendable {
    /// No rule applies.
    case none
    /// A rule reads it, and its item is in the catalogue.
    case matched(MeasureReading)
    /// A rule reads it, but its item is not in the catalogue.
    case unmatched(MeasureReading)
    /// A rule applies, but does not read it.
    case refused(MeasureRefusal)
  }

  /// The weight, price or count in a restricted number, if its item matched by a rule.
  public var measure: MeasureReading? {
    guard case .matched(let reading) = measuring else { return nil }
    return reading
  }
  /// What a rule for restricted numbers reads, if the catalogue does not have the item.
  public var unmatchedMeasure: MeasureReading? {
    guard case .unmatched(let reading) = measuring else { return nil }
    return reading
  }
  /// Why a rule for restricted numbers that applies to the number does not read it; `nil` if it does, or none applies.
  public var measureRefusal: MeasureRefusal? {
    guard case .refused(let refusal) = measuring else { return nil }
    return refusal
  }

  /// The item inside the scanned case, if the catalogue contains that. It is a hint, never a match: the number of pieces
  /// in a case is not known.
  public var contents: Contents?
  /// The lookups that were tried, in order, for diagnostics.
  public var attempts: [Attempt] = []

  /// One lookup in the catalogue.
  public struct Attempt: Sendable {
    /// The way of matching that was tried.
    public var kind: MatchKind
    /// The text that was looked up; for heads, the complete code.
    public var text: String
    /// The number of products that the lookup found.
    public var productCount: Int
    /// Why products that were found do not count, for users; `nil` if they do.
    public var note: String?
  }

  /// A trade item that the scanned one contains.
  public struct Contents: Hashable, Sendable {
    /// The GTIN of the item inside, which the catalogue contains.
    public var gtin: GTIN
    /// The packaging level: the first digit of the scanned GTIN, 1 to 8.
    public var level: Int
  }

  /// Whether no product was found.
  public var isEmpty: Bool { products.isEmpty }

  /// Why no product was found, for users; `nil` if one was.
  public var reason: String? {
    guard isEmpty else { return nil }
    if isCoupon { return "a coupon, not a product" }
    return scan.refusal?.description ?? measureRefusal?.description ?? "sound, but not in the catalogue"
  }

  /// Whether the catalogue lacks what was scanned. A pallet or a location that no product has is no miss.
  public var isMiss: Bool { isEmpty && !scan.identifiesAnotherThing && !isCoupon }

  /// Whether the scan is the number of a coupon.
  private var isCoupon: Bool { scan.kind == .gtin && scan.codeKind == .coupon }

  /// What the scanned code is. A text that only looks like a label, and is a barcode or begins with one, is that.
  public var codeKind: CodeKind {
    guard let label = reading.label, label.isWeak, kind == .exact || kind == .head else { return reading.codeKind }
    return reading.codeKindWithoutLabel
  }

  /// The scan in the reading that matched.
  public var reading: Scan { foldedScan ?? scan }

  init(scan: Scan) { self.scan = scan }
}

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
  ///   length of the code.
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
  /// - Complexity: One lookup for each part. SKUs have no index: a label whose parts are no barcodes reads all products.
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
