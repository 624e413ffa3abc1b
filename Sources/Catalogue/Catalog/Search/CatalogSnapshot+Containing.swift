import Bytes
package import CatalogRows
package import LogStore

extension CatalogSnapshot {
  /// Lends every product that may contain a text in a field: all that do, and others. The caller compares.
  ///
  /// If an index covers the field, the products come from the index: those that contain the longest run of ASCII
  /// letters and digits of the text. Otherwise, or if the text has no run of three, all products come.
  ///
  /// - Parameters:
  ///   - text: The text to look for, in any letter case.
  ///   - field: The field to look into. The index of words covers `name`, `brand` and `skuCode`, and the index of
  ///     barcodes `barcode`.
  ///   - body: Called with each product once, in file order.
  /// - Throws: `StoreError.damaged` if a page or record fails its check; any error that `body` throws.
  /// - Complexity: With an index, the keys that contain the run, and their products. Otherwise reads the whole file.
  package func forEachProduct(
    possiblyContaining text: String, in field: ProductField,
    _ body: (borrowing ProductView) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard let rows = try rows(possiblyContaining: text, in: field) else { return try forEachProduct(body) }
    for row in rows { _ = try withProduct(row, body) }
  }

  /// Returns the rows of products that may contain a text in a field, in ascending order; `nil` if no index says.
  func rows(possiblyContaining text: String, in field: ProductField) throws(StoreError) -> [RowID]? {
    guard let store, let indexes = SearchIndexes(store) else { return nil }
    let isBarcode = field == .barcode
    switch field {
    case .name, .brand, .skuCode: break
    // The index has no more than the beginning of a longer key.
    case .barcode where !store.keyLengths(CatalogSchema.productByCode).contains(ProductIndex.longestListedKey): break
    default: return nil
    }
    guard let run = IndexedRun.longest(in: text, isBarcode: isBarcode) else { return nil }
    let index = isBarcode ? indexes.barcode : indexes.search
    var keys: Set<[UInt8]> = []
    try store.forEachKey(containing: run.rawSpan, of: index) { (key, _) throws(StoreError) in
      keys.insert(key.copied())
      return true
    }
    var numbers: [UInt32] = []
    for key in keys { try store.appendRows(of: key.rawSpan, in: index, to: &numbers) }
    numbers.sort()
    var rows: [RowID] = []
    for number in numbers where rows.last != RowID(number: UInt64(number)) {
      rows.append(RowID(number: UInt64(number)))
    }
    return rows
  }
}

extension ProductIndex {
  /// The length that a list of key lengths has for keys of that length and all longer ones.
  fileprivate static let longestListedKey = 255
}

/// A part of a text that an index has as it is in every product with that text.
private enum IndexedRun {
  /// The fewest bytes of a part that the index finds.
  private static let shortest = 3
  /// The most bytes of a part. A long word is indexed in pieces that overlap by as much.
  private static let longest = SearchTerm.longestWord / 2

  /// Returns the longest run of ASCII letters and digits, in the letter case of the index; `nil` if none has three.
  ///
  /// A run is never divided between two terms, and folding changes nothing in it but the letter case.
  static func longest(in text: String, isBarcode: Bool) -> [UInt8]? {
    var best: ArraySlice<UInt8> = []
    let bytes = Array(text.utf8)
    for run in bytes.split(whereSeparator: { !isIndexed($0, isBarcode: isBarcode) }) where run.count > best.count {
      best = run
    }
    if best.count < shortest { return nil }
    return best.prefix(longest).map { isBarcode ? CodeKey.upper($0) : lower($0) }
  }

  private static func isIndexed(_ byte: UInt8, isBarcode: Bool) -> Bool {
    switch lower(byte) {
    // The Kelvin sign and İ become these in lower case, and are other letters in the key of a barcode.
    case UInt8(ascii: "k"), UInt8(ascii: "i"): !isBarcode
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: false
    }
  }

  private static func lower(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}
