import Barcodes
import Bytes
package import LogStore

/// A code of the table of codes that a lookup found, with its product.
struct FoundCode {
  var code: ProductCode
  var product: Product
  /// Whether the code is letter for letter the text that was looked up.
  var isExact: Bool
  /// The declared field that has the code; `nil` for a code of the table.
  var field: String?
}

extension CatalogSnapshot {
  /// Returns the codes that are a text, of the table or, if none of these is, of the declared fields: letter for letter,
  /// or else, unless letters are distinguished, in other capitals.
  func codes(_ text: RawSpan, distinguishingCase: Bool) throws(StoreError) -> [FoundCode] {
    if let trace { trace.noteFurtherCodes([CodeKey.of(text)]) }
    if CodeKey.isFolded(text) { return try codes(text, key: text, distinguishingCase) }
    let key = CodeKey.of(text)
    return try codes(text.extracting(CodeKey.trimmed(text)), key: key.rawSpan, distinguishingCase)
  }

  /// Returns the codes with a key, as ``codes(_:distinguishingCase:)``.
  private func codes(
    _ text: RawSpan, key: RawSpan, _ distinguishingCase: Bool
  ) throws(StoreError) -> [FoundCode] {
    let found = try Self.best(tableCodes(text, key: key), distinguishingCase)
    return found.isEmpty ? try Self.best(fieldCodes(text, key: key), distinguishingCase) : found
  }

  private static func best(_ found: [FoundCode], _ distinguishingCase: Bool) -> [FoundCode] {
    if found.count == 1 { return found[0].isExact || !distinguishingCase ? found : [] }
    let exact = found.filter(\.isExact)
    return exact.isEmpty && !distinguishingCase ? found : exact
  }

  /// Returns the codes that are a GTIN in any of its spellings, of the table or, if none of these is, of the declared
  /// fields.
  func codes(_ gtin: GTIN) throws(StoreError) -> [FoundCode] {
    let digits = gtin.digits
    if let trace { trace.noteFurtherCodes(LookupTrace.keys(of: gtin)) }
    var found: [FoundCode] = []
    for count in GTIN.digitCounts where gtin.canBeWritten(digitCount: count) {
      let spelling = digits.utf8.span.rawSpan.extracting(last: count)
      found += try tableCodes(spelling, key: spelling)
    }
    if !found.isEmpty || codeFields.isEmpty { return found }
    for count in GTIN.digitCounts where gtin.canBeWritten(digitCount: count) {
      let spelling = digits.utf8.span.rawSpan.extracting(last: count)
      found += try fieldCodes(spelling, key: spelling)
    }
    return found
  }

  /// Returns the codes with a key, of the table or, if it has none, of the declared fields.
  ///
  /// - Parameters:
  ///   - text: The text to compare codes with, without surrounding blanks.
  ///   - key: The folded text.
  func codes(_ text: RawSpan, key: RawSpan) throws(StoreError) -> [FoundCode] {
    let found = try tableCodes(text, key: key)
    return found.isEmpty ? try fieldCodes(text, key: key) : found
  }

  /// Returns the codes of the table with a key.
  ///
  /// - Parameters:
  ///   - text: The text to compare codes with, without surrounding blanks.
  ///   - key: The folded text.
  private func tableCodes(_ text: RawSpan, key folded: RawSpan) throws(StoreError) -> [FoundCode] {
    guard hasCodeTable, let store, folded.byteCount > 0 else { return [] }
    let lengths = store.keyLengths(CatalogSchema.codesByCode)
    guard lengths.contains(DigitKey.byteCount(of: folded)) else { return [] }
    if let number = DigitKey.number(folded) {
      let key = DigitKey.Packed(number)
      return try codes(text, packed: key.bytes)
    }
    return try codes(text, packed: folded)
  }

  private func codes(_ text: RawSpan, packed key: RawSpan) throws(StoreError) -> [FoundCode] {
    var found: [FoundCode] = []
    try forEachCode(withKey: key) { (entry, product) throws(StoreError) in
      let copy = try self.copy(product)
      guard let code = entry.copy(of: copy.id) else { throw product.record.damage("a code that is not UTF-8") }
      let isExact = code.code.utf8.span.rawSpan.trimmedAsCode.hasSameBytes(as: text)
      found.append(FoundCode(code: code, product: copy, isExact: isExact))
    }
    return found
  }
}

// MARK: - Lookups by a written code

extension CatalogSnapshot {
  /// Returns the products that the first steps of a scan find by a text, which is not interpreted otherwise: those whose
  /// barcode or further code it is, or else those that have it as a GTIN with another number of digits.
  ///
  /// - Parameters:
  ///   - text: The code. Blanks around it do not count.
  ///   - distinguishingCase: Whether a code in other capitals is another one.
  /// - Returns: The products, sorted by id, without those that the server sent as deleted.
  /// - Complexity: One lookup for each spelling of the code, and one for each declared field of codes.
  package func products(
    scannedAs text: String, distinguishingCase: Bool = false
  ) throws(StoreError) -> [Product] {
    let text = text.trimmedAsCode
    var match = Match(scan: Scan(text))
    try matchExactly(text, .exact, distinguishingCase: distinguishingCase, &match)
    if match.isEmpty, let gtin = GTIN(text) { try matchGTIN(gtin, .gtin, &match) }
    return match.products
  }

  /// Returns the products that have a text as a further code, of the table or of a declared field, whether or not it is
  /// a barcode of others: letter for letter, in other capitals, or as a GTIN with another number of digits.
  ///
  /// - Parameters:
  ///   - text: The code. Blanks around it do not count.
  ///   - distinguishingCase: Whether a code in other capitals is another one.
  /// - Returns: The products, each once, in no particular order, without those that the server sent as deleted.
  /// - Complexity: As ``products(scannedAs:distinguishingCase:)``.
  package func products(
    furtherCode text: String, distinguishingCase: Bool = false
  ) throws(StoreError) -> [Product] {
    guard hasCodes else { return [] }
    let text = text.trimmedAsCode
    let code = text.utf8.span.rawSpan
    let folded = CodeKey.of(text)
    var found = try tableCodes(code, key: folded.rawSpan) + fieldCodes(code, key: folded.rawSpan)
    if distinguishingCase { found.removeAll { !$0.isExact } }
    if let gtin = GTIN(text) { found += try codes(gtin) }
    var ids: Set<String> = []
    return found.map(\.product).filter { ids.insert($0.id).inserted }
  }
}

extension Match {
  /// Records a lookup among further codes and stores the products that it found, each once.
  mutating func foundCodes(_ found: consuming [FoundCode], _ kind: MatchKind, _ text: String) {
    if found.count == 1, let only = found.popLast() { return foundCode(only, kind, text) }
    let codes = found
    var products: [Product] = []
    for code in codes where !products.contains(where: { $0.id.isBytewiseEqual(to: code.product.id) }) {
      products.append(code.product)
    }
    self.found(products, kind, text)
    guard let first = codes.min(by: { ProductCode.precedes($0.code, $1.code) }) else { return }
    key = codes.map { $0.code.code.trimmedAsCode }.min { $0.isBytewiseLess(than: $1) }
    package = codes.allSatisfy { $0.code.quantity == first.code.quantity } ? first.code : nil
    noteCode(of: first)
  }

  /// The same for a code that is the only one, as nearly all are.
  private mutating func foundCode(_ found: consuming FoundCode, _ kind: MatchKind, _ text: String) {
    self.found([found.product], kind, text)
    key = found.code.code.trimmedAsCode
    package = found.code
    noteCode(of: found)
  }

  private mutating func noteCode(of found: borrowing FoundCode) {
    note(found.field.map { "a code of the field extra.\($0)" } ?? "a code of the table of codes")
  }
}
