import Barcodes
import Bytes
import LogStore

extension CatalogSnapshot {
  /// Returns the ids of the products that have a code as their barcode, or else as a further code, sorted.
  ///
  /// A GTIN finds the products that have it in any spelling, with more or fewer zeros at the front. So do digits that are
  /// one with zeros in front, if no product has them as they are. Any other code finds those whose barcode is exactly
  /// the code, or else those that have it in other capitals. Products that were sent as deleted are left out.
  ///
  /// - Complexity: One lookup, and for a GTIN one for each length of barcodes that its spellings have.
  func productIDs(code: String) throws(StoreError) -> [String] {
    var found = Candidates()
    let written = WrittenCode(code)
    if let gtin = written.gtin { try collect(gtin, &found) }
    if found.isEmpty {
      let text = code.utf8.span.rawSpan
      let trimmed = text.extracting(CodeKey.trimmed(text))
      let key = CodeKey.of(text)
      try collect(trimmed, key: key.rawSpan, isKey: key.rawSpan.hasSameBytes(as: trimmed), &found)
    }
    if found.isEmpty, written.gtin == nil, let gtin = written.zeroFilled { try collect(gtin, &found) }
    if found.isEmpty, hasCodes {
      var codes = try written.gtin.map { (gtin) throws(StoreError) in try self.codes(gtin) } ?? []
      if codes.isEmpty { codes = try self.codes(code.utf8.span.rawSpan, distinguishingCase: false) }
      return Set(codes.map { ProductID($0.product.id) }).sorted().map(\.text)
    }
    let products = found.exact.isEmpty ? try copies(found.folded) : found.exact
    return products.map(\.id).sorted { $0.isBytewiseLess(than: $1) }
  }
  /// Collects the products that have a GTIN as their barcode in any spelling.
  private func collect(_ gtin: GTIN, _ found: inout Candidates) throws(StoreError) {
    guard let lengths = store?.keyLengths(CatalogSchema.productByCode) else { return }
    let digits = gtin.digits.utf8.span.rawSpan
    let zeros = gtin.digits.utf8.prefix { $0 == UInt8(ascii: "0") }.count
    for count in max(1, 14 - zeros)...14 where lengths.contains(count) {
      let spelling = digits.extracting(last: count)
      try collect(spelling, key: spelling, isKey: true, &found)
    }
  }
}
