public import Barcodes
import Bytes
public import LogStore

/// How a scan was matched, named as the command line names it.
public enum MatchKind: String, Sendable {
  /// The scanned text is a catalogue barcode.
  case exact
  /// The scanned GTIN is a catalogue barcode, written with another number of digits.
  case gtin
  /// The (01) of GS1 element strings.
  case gs1
  /// The (02) of GS1 element strings: what a logistic unit contains, not the unit. No scan of the product itself.
  case gs1Content = "gs1-content"
  /// The (01) of a GS1 Digital Link.
  case digitalLink = "digital-link"
  /// A catalogue barcode is the beginning of the scanned code; a serial number follows.
  case head
  /// Nothing.
  case none
}

/// What a scan found: how, under which barcode, and every product that has it.
public struct Match: Sendable {
  public var kind = MatchKind.none
  /// The catalogue barcode that matched, without blanks around it; of several spellings the first, bytewise.
  public var key: String?
  /// The GTIN in the scan, whether the catalogue knows it or not.
  public var gtin: GTIN?
  /// What follows the head (a serial number), or an add-on.
  public var rest: String?
  /// All products that the scan may mean, by id.
  public var products: [Product] = []
  /// The scan as it was read.
  public var scan: Scan
  /// The second reading of the scan, if that one matched.
  var foldedScan: Scan?
  /// Each look into the catalogue, in order: for whoever wants to know why.
  public var attempts: [Attempt] = []

  /// One look into the catalogue.
  public struct Attempt: Sendable {
    public var kind: MatchKind
    /// The text that was looked up; for heads the whole code.
    public var text: String
    public var productCount: Int
  }

  /// Whether nothing was found.
  public var isEmpty: Bool { products.isEmpty }
}

extension CatalogSnapshot {
  /// A head has at least this many characters: shorter barcodes are junk that would match nearly everything.
  static let shortestHead = 4

  /// Matches a scanned text. The first step that finds something ends the search; it finds all products there are.
  ///
  /// 1. the text itself, then with letters in either case; 2. the GTIN in every spelling, as a plain number, from GS1
  /// element strings or a Digital Link; 3. UPC-E expanded; 4. the longest head; 5. the same for the text with
  /// full-width characters folded.
  ///
  /// - Throws: `StoreError.damaged`.
  /// - Complexity: a lookup for each spelling, and for each length of catalogue barcodes below that of the code.
  public func match(_ scan: Scan) throws(StoreError) -> Match {
    var match = try matchAsRead(scan)
    if match.isEmpty, let folded = scan.folded {
      var second = try matchAsRead(folded)
      second.attempts = match.attempts + second.attempts
      if second.isEmpty { second.gtin = match.gtin ?? second.gtin }
      second.scan = scan
      second.foldedScan = second.isEmpty ? nil : folded
      match = second
    }
    return match
  }

  /// Matches a scanned text with the standard configuration.
  public func match(_ text: String) throws(StoreError) -> Match { try match(Scan(text)) }

  private func matchAsRead(_ scan: Scan) throws(StoreError) -> Match {
    var match = Match(scan: scan)
    match.gtin = scan.gtin
    if scan.allowsExactText {
      // With its add-on the text is compared whole: without it, it is no longer what was scanned but its GTIN.
      try matchExactly(scan.payload, &match)
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
    if scan.allowsHead { try matchHead(scan.headText, &match) }
    return match
  }

  private func kind(of scan: Scan) -> MatchKind {
    switch scan.kind {
    case .digitalLink: .digitalLink
    case .gs1, .gs1Bad: scan.namesContents ? .gs1Content : .gs1
    default: .gtin
    }
  }

  private func matchExactly(_ text: String, _ match: inout Match) throws(StoreError) {
    let code = text.utf8.span.rawSpan
    var found = Candidates()
    if CodeKey.isFolded(code) {
      try collect(code, key: code, isKey: true, &found)
    } else {
      let trimmed = code.extracting(CodeKey.trimmed(code))
      let key = CodeKey.of(code)
      try collect(trimmed, key: key.rawSpan, isKey: key.rawSpan.hasSameBytes(as: trimmed), &found)
    }
    match.found(found.exact.isEmpty ? try copies(found.folded) : found.exact, .exact, text)
  }

  private func matchGTIN(_ gtin: GTIN, _ kind: MatchKind, _ match: inout Match) throws(StoreError) {
    let digits = gtin.digits
    var found = Candidates()
    if let lengths = store?.keyLengths(CatalogSchema.productByCode) {
      // Of one trade item the spellings differ by zeros in front: looking each one up needs no key of its own.
      for count in GTIN.digitCounts where lengths.contains(count) && gtin.canBeWritten(digitCount: count) {
        // Digits are their own key, so every candidate is an exact one, but for blanks that its barcode has around it.
        let spelling = digits.utf8.span.rawSpan.extracting(last: count)
        try collect(spelling, key: spelling, isKey: true, &found)
      }
    }
    match.found(found.exact, kind, digits)
  }

  private func matchHead(_ text: String, _ match: inout Match) throws(StoreError) {
    let code = text.utf8.span.rawSpan
    if CodeKey.isFolded(code) {
      try matchHead(text, key: code, isKey: true, &match)
    } else {
      let key = text.utf8.map(CodeKey.upper)
      try matchHead(text, key: key.rawSpan, isKey: key.rawSpan.hasSameBytes(as: code), &match)
    }
  }

  /// Looks for the longest barcode that the code begins with, letter for letter; failing that, in either case.
  private func matchHead(_ text: String, key: RawSpan, isKey: Bool, _ match: inout Match) throws(StoreError) {
    guard let store else { return }
    let code = text.utf8.span.rawSpan
    let lengths = store.keyLengths(CatalogSchema.productByCode)
    var folded: (rows: [RowID], length: Int)?
    var length = lengths.longest(below: code.byteCount)
    while length >= Self.shortestHead {
      let shorter = lengths.longest(below: length)
      // The next one is on its way while this one is looked up.
      if shorter >= Self.shortestHead {
        store.prefetch(CatalogSchema.productByCode, key.extracting(first: shorter))
      }
      var found = Candidates()
      let head = code.extracting(first: length)
      try collect(head, key: key.extracting(first: length), isKey: isKey, &found)
      if !found.isEmpty, Self.isHead(head) {
        if !found.exact.isEmpty {
          match.found(found.exact, .head, text)
          match.rest = code.extracting(length...).string
          return
        }
        if folded == nil { folded = (found.folded, length) }
      }
      length = shorter
    }
    match.found(try copies(folded?.rows ?? []), .head, text)
    if let folded { match.rest = code.extracting(folded.length...).string }
  }

  private static func isHead(_ bytes: RawSpan) -> Bool {
    // Characters, not bytes: those that begin one are no continuation of UTF-8.
    var count = 0
    for offset in bytes.byteOffsets where bytes.u8(at: offset) & 0xC0 != 0x80 { count += 1 }
    return count >= shortestHead
  }

  /// What one key finds.
  private struct Candidates {
    /// Products whose barcode is the text itself.
    var exact: [Product] = []
    /// Rows whose barcode differs from it in the case of letters. Few of them are ever read.
    var folded: [RowID] = []

    var isEmpty: Bool { exact.isEmpty && folded.isEmpty }
  }

  /// Adds the products whose barcode has this key, but for those that the server sent as deleted.
  ///
  /// - Parameters:
  ///   - text: What the barcode is compared with, without blanks around it.
  ///   - isKey: Whether `text` is its own key.
  private func collect(
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

  private func copies(_ rows: [RowID]) throws(StoreError) -> [Product] {
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
  /// Notes a look into the catalogue, and takes what it found.
  fileprivate mutating func found(_ products: consuming [Product], _ kind: MatchKind, _ text: String) {
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
  /// The bytes without blanks and the control characters that readers send around them.
  fileprivate var trimmedAsCode: RawSpan {
    @_lifetime(copy self)
    get { extracting(CodeKey.trimmed(self)) }
  }
}

extension String {
  /// The text without blanks and the control characters that readers send around it.
  fileprivate var trimmedAsCode: String {
    let bytes = utf8.span.rawSpan
    let range = CodeKey.trimmed(bytes)
    return range.count == bytes.byteCount ? self : bytes.extracting(range).string
  }
}
