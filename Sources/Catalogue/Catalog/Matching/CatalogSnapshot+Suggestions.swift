import Barcodes
import Bytes
import LogStore

extension CatalogSnapshot {
  /// Adds suggestions to a match without products: those whose SKU is the text, then those whose code is one edit away.
  func suggest(_ options: MatchingOptions, _ match: inout Match) throws(StoreError) {
    var products: [Product] = []
    if options.sku != .off, match.scan.allowsExactText, try maySuggestBySKU(match.scan) {
      let text = (match.scan.folded ?? match.scan).payload
      var note: String?
      if hasSKUIndex {
        let limit = max(options.suggestionLimit, Self.suggestedBySKU)
        products = Array(try self.products(skuCode: text).prefix(limit))
        if !products.isEmpty { note = "an SKU is a suggestion (matching.sku)" }
      } else {
        note = "SKUs have no index yet: the next full update or 'catalogctl compact' writes it"
      }
      match.attempts.append(Match.Attempt(kind: .part, text: text, productCount: products.count, note: note))
    }
    if options.suggestionLimit > 0 {
      for product in try suggestions(for: match, limit: options.suggestionLimit)
      where products.count < options.suggestionLimit && !products.contains(where: { $0.id == product.id }) {
        products.append(product)
      }
    }
    if options.suggestionLimit > 0 || !products.isEmpty { match.suggestions = products }
  }

  /// Whether it is worth asking for suggestions: a number that is not in the catalogue costs nothing more.
  func maySuggest(for scan: Scan, _ options: MatchingOptions) throws(StoreError) -> Bool {
    if options.suggestionLimit > 0 { return true }
    if case .off = options.sku { return false }
    return try maySuggestBySKU(scan)
  }

  private func maySuggestBySKU(_ scan: Scan) throws(StoreError) -> Bool {
    switch scan.kind {
    case .gtin, .rcn, .upcE: try hasNumericSKUs()
    default: true
    }
  }

  /// The greatest number of products that one SKU suggests if no other suggestions are wanted.
  private static let suggestedBySKU = 5

  /// Finds the products whose barcode, or a further code, is one edit away from a scan that matched nothing: one digit or letter more,
  /// fewer or other, or two neighbours swapped. With an index of words, products whose SKU is one edit away follow.
  ///
  /// - Parameters:
  ///   - match: The match of the scan.
  ///   - limit: The maximum number of products.
  /// - Returns: The products without those that the server sent as deleted, each once: first those whose code is as
  ///   long as the scanned one, then by id.
  /// - Complexity: One lookup for each code that is one edit away, with overlapping cache misses: about a thousand for
  ///   13 digits, and 3,600 for the longest code. As many for the table of codes, and for each declared field of codes.
  ///   Then a search. No scan.
  func suggestions(for match: Match, limit: Int) throws(StoreError) -> [Product] {
    guard let store, limit > 0 else { return [] }
    var edits = CodeEdits(keyLengths: hasCodes ? nil : store.keyLengths(CatalogSchema.productByCode).lengths)
    for code in Self.codes(of: match) { edits.add(code) }
    var found: [(row: RowID, id: [UInt8], isSameLength: Bool)] = []
    try store.forEachRecord(CatalogSchema.productByCode, of: edits.keys) { (index, record) throws(StoreError) in
      let view = ProductView(record)
      // A product has one key, and each key is looked up once.
      if view.delFlag == 0 { found.append((view.rowID, view.utf8.id.copied(), edits.areSameLength[index])) }
    }
    if hasCodeTable { try addByCodes(edits, to: &found) }
    if !codeFields.isEmpty { try addByFieldCodes(edits, to: &found) }
    found.sort { a, b in
      a.isSameLength != b.isSameLength ? a.isSameLength : a.id.rawSpan.compare(to: b.id.rawSpan) < 0
    }
    var products = try copies(found.prefix(limit).map(\.row))
    if products.count < limit { try addModels(near: match, limit, to: &products) }
    return products
  }

  /// Adds the products that have a further code one edit away, and are not there yet.
  private func addByCodes(
    _ edits: CodeEdits, to found: inout [(row: RowID, id: [UInt8], isSameLength: Bool)]
  ) throws(StoreError) {
    guard let store else { return }
    let lengths = store.keyLengths(CatalogSchema.codesByCode)
    var keys = KeyBatch()
    var areSameLength: [Bool] = []
    var key: [UInt8] = []
    for index in 0..<edits.keys.count {
      DigitKey.make(of: edits.keys.key(index), into: &key)
      if !lengths.contains(key.count) { continue }
      keys.append(key.rawSpan)
      areSameLength.append(edits.areSameLength[index])
    }
    var rows = Set(found.map(\.row))
    try store.forEachRecord(CatalogSchema.codesByCode, of: keys) { (index, record) throws(StoreError) in
      guard let product = try store.product(id: CodeView(copy record).productId), product.delFlag == 0,
        rows.insert(product.rowID).inserted
      else { return }
      found.append((product.rowID, product.utf8.id.copied(), areSameLength[index]))
    }
  }

  /// Adds the products that have a code of a declared field one edit away, and are not there yet.
  private func addByFieldCodes(
    _ edits: CodeEdits, to found: inout [(row: RowID, id: [UInt8], isSameLength: Bool)]
  ) throws(StoreError) {
    guard let store else { return }
    var seen = Set(found.map(\.row))
    var key: [UInt8] = []
    for index in 0..<edits.keys.count {
      DigitKey.make(of: edits.keys.key(index), into: &key)
      // Of a longer key, the index has the beginning.
      if key.count > OrderedKeys.maximumKeyLength { continue }
      for codeField in codeFields {
        var rows: [RowID] = []
        try store.appendRows(inOrderOf: codeField.index, from: .before(key), to: .after(key), to: &rows)
        try store.forEachRecord(ofRows: rows, table: CatalogSchema.products) { (record) throws(StoreError) in
          let view = ProductView(record)
          if view.delFlag == 0, seen.insert(view.rowID).inserted {
            found.append((view.rowID, view.utf8.id.copied(), edits.areSameLength[index]))
          }
          return true
        }
      }
    }
  }

  /// The number of results of a search in which SKUs are looked for.
  private static let searchedCount = 50

  /// Adds products whose SKU is one edit away.
  private func addModels(near match: Match, _ limit: Int, to products: inout [Product]) throws(StoreError) {
    let code = (match.scan.folded ?? match.scan).payload
    let key = CodeKey.of(code)
    guard hasSearchIndex, CodeEdits.lengths.contains(key.count), key.contains(where: { $0 > 0x39 }) else { return }
    var options = SearchOptions()
    options.limit = Self.searchedCount
    let found: SearchResults
    do { found = try search(code, options) } catch {
      if case .store(let error) = error { throw error }
      return
    }
    for result in found.results where products.count < limit {
      guard Self.isOneEdit(from: key, to: CodeKey.of(result.product.skuCode)) else { continue }
      if !products.contains(where: { $0.id == result.product.id }) { products.append(result.product) }
    }
  }

  /// Whether one text becomes the other one by inserting, removing or replacing a byte, or by swapping two neighbours.
  private static func isOneEdit(from a: [UInt8], to b: [UInt8]) -> Bool {
    if abs(a.count - b.count) > 1 || a == b { return false }
    let start = zip(a, b).prefix { $0 == $1 }.count
    let (restA, restB) = (a[start...], b[start...])
    if a.count != b.count {
      return restA.dropFirst(a.count > b.count ? 1 : 0) == restB.dropFirst(b.count > a.count ? 1 : 0)
    }
    if restA.dropFirst() == restB.dropFirst() { return true }
    return restA.dropFirst(2) == restB.dropFirst(2) && a[start] == b[start + 1] && a[start + 1] == b[start]
  }

  /// The codes that may have been meant: the text, or the number in it, in each of its spellings.
  private static func codes(of match: Match) -> [String] {
    let scan = match.scan.folded ?? match.scan
    var codes = scan.kind == .gs1 || scan.kind == .digitalLink ? [] : [scan.payload]
    if let gtin = match.gtin { codes += gtin.spellings }
    return codes
  }
}

/// The keys of codes that are one edit away from others.
private struct CodeEdits {
  /// The lengths of codes whose edits are looked up, in characters. Almost everything is one edit from a shorter one,
  /// and a longer one is no code that a person types.
  static let lengths = 4...48
  /// What a character may have been.
  private static let alphabet: [Unicode.Scalar] =
    (UInt8(ascii: "0")...UInt8(ascii: "9")).map { Unicode.Scalar($0) }
    + (UInt8(ascii: "A")...UInt8(ascii: "Z")).map { Unicode.Scalar($0) }

  private(set) var keys = KeyBatch()
  /// Whether each key is as long as the code that it was made from.
  private(set) var areSameLength: [Bool] = []
  private var seen: Set<[UInt8]> = []
  /// The lengths that keys of the catalogue have. 255 stands for all longer ones too.
  private let keyLengths: Set<Int>?

  /// - Parameter keyLengths: The lengths of keys that are looked up; `nil` for all.
  init(keyLengths: [Int]?) { self.keyLengths = keyLengths.map { Set($0) } }

  /// Adds the keys that are one edit away from the key of a code.
  mutating func add(_ code: String) {
    let key = String(decoding: CodeKey.of(code), as: UTF8.self)
    let text = Array(key.unicodeScalars)
    guard Self.lengths.contains(text.count) else { return }
    for index in text.indices {
      for letter in Self.alphabet where letter != text[index] {
        add(text, replacing: index..<index + 1, with: [letter])
      }
      if index + 1 < text.count, text[index] != text[index + 1] {
        add(text, replacing: index..<index + 2, with: [text[index + 1], text[index]])
      }
    }
    for index in text.indices { add(text, replacing: index..<index + 1, with: []) }
    for index in 0...text.count {
      for letter in Self.alphabet { add(text, replacing: index..<index, with: [letter]) }
    }
  }

  private mutating func add(_ text: [Unicode.Scalar], replacing range: Range<Int>, with new: [Unicode.Scalar]) {
    var edited = String.UnicodeScalarView()
    edited.append(contentsOf: text[..<range.lowerBound])
    edited.append(contentsOf: new)
    edited.append(contentsOf: text[range.upperBound...])
    let key = Array(String(edited).utf8)
    guard keyLengths?.contains(min(key.count, 255)) ?? true, seen.insert(key).inserted else { return }
    keys.append(key.rawSpan)
    areSameLength.append(new.count == range.count)
  }
}
