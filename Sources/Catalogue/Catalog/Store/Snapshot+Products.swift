import Bytes
public import LogStore

// The store's part of a lookup. These methods extend `Snapshot` and not ``CatalogSnapshot``: taking the reference out
// of a `CatalogSnapshot` retains and releases it. These are atomic steps, at which the processor waits for all earlier
// work before it starts later work, so lookups would not overlap.

extension Snapshot {
  /// Returns the product with this id.
  @usableFromInline
  @_lifetime(borrow self)
  func product(id: RawSpan) throws(StoreError) -> ProductView? {
    guard let record = try record(CatalogSchema.productById, id) else { return nil }
    return ProductView(record)
  }

  /// Returns whether there is certainly no product with this id. In a sealed store, that is found out faster than by a
  /// lookup, which prepares for what it opens.
  @usableFromInline
  func hasNoProduct(id: RawSpan) throws(StoreError) -> Bool { try isAbsent(CatalogSchema.productById, id) }

  /// Returns whether there is certainly no product whose barcode is exactly `barcode`.
  @usableFromInline
  func hasNoProduct(barcode: RawSpan) throws(StoreError) -> Bool {
    try isAbsent(CatalogSchema.productByCode, barcode) && CodeKey.isFolded(barcode)
  }

  /// Returns a product whose barcode is exactly `barcode`.
  @usableFromInline
  @_lifetime(borrow self)
  func product(barcode: RawSpan) throws(StoreError) -> ProductView? {
    if barcode.byteCount == 0 { return nil }
    // Almost every barcode is its own key, so a hit needs no further check of the barcode itself.
    if let record = try record(CatalogSchema.productByCode, barcode) {
      let view = ProductView(record)
      if view.hasBarcode(barcode, isKey: true) { return view }
    } else if CodeKey.isFolded(barcode) {
      return nil
    }
    return try otherProduct(barcode: barcode)
  }

  /// Returns the same for a barcode that is not its own key or that shares its key with others.
  @inline(never)
  @_lifetime(borrow self)
  private func otherProduct(barcode: RawSpan) throws(StoreError) -> ProductView? {
    var row: RowID?
    try forEachProduct(unfolded: barcode) { (view) throws(StoreError) in
      row = view.rowID
      return false
    }
    guard let row, let record = try record(row, table: CatalogSchema.products) else { return nil }
    return ProductView(record)
  }

  /// Lends each product whose barcode is exactly `barcode`, until `body` returns false.
  func forEachProduct(
    barcode: RawSpan, _ body: (borrowing ProductView) throws(StoreError) -> Bool
  ) throws(StoreError) {
    if CodeKey.isFolded(barcode) {
      try forEachProduct(barcode: barcode, key: barcode, isKey: true, body)
    } else {
      try forEachProduct(unfolded: barcode, body)
    }
  }

  private func forEachProduct(
    unfolded barcode: RawSpan, _ body: (borrowing ProductView) throws(StoreError) -> Bool
  ) throws(StoreError) {
    let key = CodeKey.of(barcode)
    let isKey = key.rawSpan.hasSameBytes(as: barcode)
    try forEachProduct(barcode: barcode, key: key.rawSpan, isKey: isKey, body)
  }

  private func forEachProduct(
    barcode: RawSpan, key: RawSpan, isKey: Bool, _ body: (borrowing ProductView) throws(StoreError) -> Bool
  ) throws(StoreError) {
    if key.byteCount == 0 { return }
    try forEachRecord(CatalogSchema.productByCode, key) { (record) throws(StoreError) in
      let view = ProductView(record)
      return view.hasBarcode(barcode, isKey: isKey) ? try body(view) : true
    }
  }
}
