import Barcodes
import Bytes
public import LogStore
import Synchronization

extension CatalogSnapshot {
  /// Whether products can be found by their SKU without reading all of them. A catalogue that an earlier program wrote
  /// gets the index with its next full update or compaction.
  public var hasSKUIndex: Bool { skuIndex != nil }

  /// Whether SKUs should be asked for a number that no barcode is: whether the catalogue has an SKU that is a sound GTIN.
  ///
  /// - Complexity: Two seeks at first; then the answer is remembered.
  func hasNumericSKUs() throws(StoreError) -> Bool {
    guard let store else { return false }
    let known = store.memo.load(ordering: .relaxed)
    if known != 0 { return known == 2 }
    var hasSome = false
    if let index = skuIndex {
      let range = (first: OrderedGap.before([SKUKey.gtin]), last: OrderedGap.before([SKUKey.other]))
      hasSome = try store.rowCount(inOrderOf: index, from: range.first, to: range.last).count > 0
    }
    store.memo.store(hasSome ? 2 : 1, ordering: .relaxed)
    return hasSome
  }

  private var skuIndex: OrderedIndexID? {
    store?.orderedIndex(CatalogSchema.products, named: ProductIndex.sku.name)
  }

  /// Returns the products whose SKU is a text, ignoring the case of letters and blanks around it, without those that the
  /// server sent as deleted, sorted by id.
  ///
  /// - Throws: `StoreError.damaged`.
  /// - Complexity: One lookup in an index; without ``hasSKUIndex``, all products are read.
  public func products(skuCode: String) throws(StoreError) -> [Product] {
    try products(ofSKUs: [CodeKey.of(skuCode)])?.products ?? []
  }

  /// Matches part numbers with SKUs, ignoring the case of letters. The first part that is one counts.
  func matchSKU(_ parts: [String], _ match: inout Match) throws(StoreError) {
    if let trace { trace.note(.otherFields) }
    guard let found = try products(ofSKUs: parts.map { CodeKey.of($0) }) else {
      match.found([], .part, parts[0])
      return
    }
    match.found(found.products, .part, parts[found.index])
    match.key = match.products[0].skuCode
  }

  /// Returns the products of the first key that is the key of an SKU, and its position; `nil` if none is.
  private func products(ofSKUs keys: [[UInt8]]) throws(StoreError) -> (index: Int, products: [Product])? {
    guard let store else { return nil }
    for (position, key) in keys.enumerated() where !key.isEmpty {
      guard let rows = try rows(ofSKU: key) else { return try productsByReadingAll(ofSKUs: keys) }
      var products: [Product] = []
      try store.forEachRecord(ofRows: rows, table: CatalogSchema.products) { (record) throws(StoreError) in
        let view = ProductView(record)
        if view.delFlag == 0, CodeKey.equals(view.utf8.skuCode, key.rawSpan) { products.append(try copy(view)) }
        return true
      }
      if products.isEmpty { continue }
      return (position, products.sorted { $0.id.isBytewiseLess(than: $1.id) })
    }
    return nil
  }

  /// Returns the rows of the products whose SKU may have a key; `nil` without ``hasSKUIndex``.
  func rows(ofSKU key: [UInt8]) throws(StoreError) -> [RowID]? {
    guard let store, let index = skuIndex else { return nil }
    var rows: [RowID] = []
    var start: [UInt8] = []
    SKUKey.make(of: key.rawSpan, into: &start)
    // Of a longer key, the index has the beginning.
    start.removeLast(max(0, start.count - OrderedKeys.maximumKeyLength))
    try store.appendRows(inOrderOf: index, from: .before(start), to: .after(start), to: &rows)
    return rows
  }

  private func productsByReadingAll(
    ofSKUs keys: [[UInt8]]
  ) throws(StoreError) -> (index: Int, products: [Product])? {
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
    return best < keys.count ? (best, found.sorted { $0.id.isBytewiseLess(than: $1.id) }) : nil
  }
}
