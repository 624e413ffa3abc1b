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
  /// The scan after full-width folding, if that reading matched.
  var foldedScan: Scan?
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
  }

  /// Whether no product was found.
  public var isEmpty: Bool { products.isEmpty }
}

extension CatalogSnapshot {
  /// The minimum number of characters of a head. Shorter barcodes are junk that would match almost everything.
  static let shortestHead = 4

  /// Matches a scanned text. The first step that finds a product ends the search and returns all products that it
  /// finds.
  ///
  /// 1. The text itself, then ignoring the case of letters.
  /// 2. The GTIN in every spelling, from a plain number, GS1 element strings or a Digital Link.
  /// 3. UPC-E, expanded.
  /// 4. The longest head.
  /// 5. Steps 1 to 4 for the text with full-width characters folded.
  ///
  /// - Throws: `StoreError.damaged`.
  /// - Complexity: One lookup for each spelling, and one for each length of catalogue barcodes that is less than the
  ///   length of the code.
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

  /// Matches a scanned text with the default configuration.
  public func match(_ text: String) throws(StoreError) -> Match { try match(Scan(text)) }

  private func matchAsRead(_ scan: Scan) throws(StoreError) -> Match {
    var match = Match(scan: scan)
    match.gtin = scan.gtin
    if scan.allowsExactText {
      // The text is compared including its add-on. Without it, the text is no longer what was scanned but its GTIN.
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
      // The spellings of a trade item differ only in leading zeros. Looking each one up needs no key of its own.
      for count in GTIN.digitCounts where lengths.contains(count) && gtin.canBeWritten(digitCount: count) {
        // Digits are their own key, so every candidate is exact except for blanks around its barcode.
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

  /// Finds the longest barcode that is a prefix of the code, first letter for letter, then ignoring case.
  private func matchHead(_ text: String, key: RawSpan, isKey: Bool, _ match: inout Match) throws(StoreError) {
    guard let store else { return }
    let code = text.utf8.span.rawSpan
    let lengths = store.keyLengths(CatalogSchema.productByCode)
    var folded: (rows: [RowID], length: Int)?
    var length = lengths.longest(below: code.byteCount)
    while length >= Self.shortestHead {
      let shorter = lengths.longest(below: length)
      // Prefetch the next shorter head during this lookup.
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
    // Count characters, not bytes: every byte that is not a UTF-8 continuation byte begins a character.
    var count = 0
    for offset in bytes.byteOffsets where bytes.u8(at: offset) & 0xC0 != 0x80 { count += 1 }
    return count >= shortestHead
  }

  /// The products found under one key.
  private struct Candidates {
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
  /// Records a lookup and stores the products that it found.
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
