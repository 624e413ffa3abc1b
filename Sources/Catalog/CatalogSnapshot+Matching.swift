public import Barcodes
public import LogStore
import RecordFormat

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
    let candidates = try candidates(key: CodeKey.of(text))
    let trimmed = text.trimmedAsCode
    let exact = candidates.filter { $0.barcode.trimmedAsCode == trimmed }
    match.found(exact.isEmpty ? candidates : exact, .exact, text)
  }

  private func matchGTIN(_ gtin: GTIN, _ kind: MatchKind, _ match: inout Match) throws(StoreError) {
    var products: [Product] = []
    // Of one trade item the spellings differ by zeros in front: looking each one up needs no key of its own.
    for spelling in gtin.spellings { products += try candidates(key: Array(spelling.utf8)) }
    match.found(products, kind, gtin.digits)
  }

  /// Looks for the longest barcode that the code begins with, letter for letter; failing that, in either case.
  private func matchHead(_ text: String, _ match: inout Match) throws(StoreError) {
    guard let store else { return }
    let code = Array(text.utf8)
    let key = code.map(CodeKey.upper)
    let lengths = store.keyLengths(CatalogSchema.productByCode)
    var folded: (products: [Product], length: Int)?
    for length in stride(from: code.count - 1, through: Self.shortestHead, by: -1)
    where lengths.contains(length) {
      let candidates = try candidates(key: Array(key[..<length]))
      if candidates.isEmpty || !Self.isHead(code[..<length]) { continue }
      let head = String(decoding: code[..<length], as: UTF8.self)
      let exact = candidates.filter { $0.barcode.trimmedAsCode == head }
      if !exact.isEmpty {
        match.found(exact, .head, text)
        match.rest = String(decoding: code[length...], as: UTF8.self)
        return
      }
      if folded == nil { folded = (candidates, length) }
    }
    match.found(folded?.products ?? [], .head, text)
    if let folded { match.rest = String(decoding: code[folded.length...], as: UTF8.self) }
  }

  private static func isHead(_ bytes: ArraySlice<UInt8>) -> Bool {
    // Characters, not bytes: those that begin one are no continuation of UTF-8.
    bytes.reduce(0) { $1 & 0xC0 == 0x80 ? $0 : $0 + 1 } >= shortestHead
  }

  /// The products whose barcode has this key, but for those that the server sent as deleted.
  private func candidates(key: [UInt8]) throws(StoreError) -> [Product] {
    guard let store, !key.isEmpty else { return [] }
    var products: [Product] = []
    try store.forEachRecord(CatalogSchema.productByCode, key.rawSpan) { (record) throws(StoreError) in
      let view = ProductView(record)
      if view.delFlag == 0 { products.append(try copy(view)) }
      return true
    }
    return products
  }
}

extension Match {
  /// Notes a look into the catalogue, and takes what it found.
  fileprivate mutating func found(_ products: [Product], _ kind: MatchKind, _ text: String) {
    attempts.append(Attempt(kind: kind, text: text, productCount: products.count))
    if products.isEmpty { return }
    self.kind = kind
    self.products = products.sorted { $0.id.isBytewiseLess(than: $1.id) }
    key = products.map { $0.barcode.trimmedAsCode }.min { $0.isBytewiseLess(than: $1) }
  }
}

extension String {
  /// The text without blanks and the control characters that readers send around it.
  fileprivate var trimmedAsCode: String {
    let bytes = Array(utf8)
    let range = CodeKey.trimmed(bytes.rawSpan)
    return range.count == bytes.count ? self : String(decoding: bytes[range], as: UTF8.self)
  }
}
