import Bytes
import CatalogRows
public import LogStore

/// The catalogue as it was at one commit: immutable, and safe to use from any number of threads.
///
/// A catalogue that was never filled is an empty one.
public struct CatalogSnapshot: Sendable {
  /// The store's view; `nil` before the first commit.
  public let store: Snapshot?
  /// Cursor, mode and counts of this commit.
  public let state: CatalogState

  /// - Throws: `CatalogError.otherStore`, `.unknownState`.
  package init(_ store: Snapshot?) throws(CatalogError) {
    self.store = store
    if let store, !CatalogSchema.fits(store) { throw .otherStore(path: store.path, tables: store.tableNames) }
    guard let state = CatalogState(store?.state ?? []) else {
      throw .unknownState(path: store?.path ?? "")
    }
    self.state = state
  }

  /// A catalogue without rows.
  public static let empty = CatalogSnapshot()

  private init() {
    store = nil
    state = CatalogState()
  }

  /// The server's `updateTime` of the last update; empty before the first one.
  public var cursor: String { state.cursor }
  /// The number of the commit; 0 before the first one.
  public var sequence: UInt64 { store?.sequence ?? 0 }
  /// The number of the file that holds it; 0 before the first one.
  public var generation: UInt64 { store?.generation ?? 0 }
  public var productCount: Int { store?.rowCount(CatalogSchema.products) ?? 0 }
  public var relationCount: Int { store?.rowCount(CatalogSchema.relations) ?? 0 }

  /// The catalogue at an earlier commit of this generation; `nil` if that commit is not there.
  public func at(_ sequence: UInt64) throws -> CatalogSnapshot? {
    guard let earlier = try store?.snapshot(at: sequence) else { return nil }
    return try CatalogSnapshot(earlier)
  }
}

// MARK: Products

extension CatalogSnapshot {
  /// Lends the product with this id; does not call `body` if there is none.
  ///
  /// What `body` copies from a file that is cut in that very moment may be zeros; see `Snapshot.confirm(_:)`. The same
  /// holds for every view that is lent; ``Product`` values that this type returns are confirmed.
  ///
  /// - Returns: what `body` returned.
  /// - Throws: `StoreError.damaged` if a block or record on the way does not pass its check.
  /// - Complexity: two cache misses, and one for each block of the tail.
  @inlinable
  public func withProduct<Result>(
    id: Span<UInt8>, _ body: (borrowing ProductView) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    guard let view = try view(id: id.rawSpan) else { return nil }
    return try body(view)
  }

  /// Lends the product with this id; does not call `body` if the catalogue has no such product.
  ///
  /// As the lookup by bytes, which is the fast path: a string whose storage is not UTF-8 is copied first.
  @inlinable
  public func withProduct<Result>(
    id: String, _ body: (borrowing ProductView) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try withProduct(id: id.utf8.span, body)
  }

  /// The product with this id, for as long as this snapshot is borrowed.
  @inlinable @inline(__always)
  @_lifetime(borrow self)
  func view(id: RawSpan) throws(StoreError) -> ProductView? {
    guard let view = try store?.product(id: id) else { return nil }
    // The product is the store's, which lives as long as this snapshot.
    return unsafe _overrideLifetime(view, borrowing: self)
  }

  /// The product with this id.
  public func product(id: String) throws(StoreError) -> Product? {
    let bytes = Array(id.utf8)
    guard let view = try view(id: bytes.rawSpan) else { return nil }
    return try copy(view)
  }

  /// A copy of a product of this snapshot: what was committed, even if the file was cut under the view a moment ago.
  ///
  /// - Throws: `StoreError.damaged` if the product, or a text that it shares, cannot be read any more.
  public func copy(_ view: borrowing ProductView) throws(StoreError) -> Product {
    let product = try Product(view)
    try store?.confirm(view.rowID)
    return product
  }

  /// The same for a relation.
  func copy(_ record: borrowing RecordView) throws(StoreError) -> Relation {
    let relation = try Relation(record)
    try store?.confirm(record.rowID)
    return relation
  }

  /// Whether a product has this id.
  public func containsProduct(id: String) throws(StoreError) -> Bool {
    let bytes = Array(id.utf8)
    return try view(id: bytes.rawSpan) != nil
  }

  /// Whether a scan could find a product with this id: it is there and was not sent as deleted.
  func offers(_ id: RawSpan) throws(StoreError) -> Bool {
    guard let view = try view(id: id) else { return false }
    return view.delFlag == 0
  }

  func offers(_ id: String) throws(StoreError) -> Bool {
    let bytes = Array(id.utf8)
    return try offers(bytes.rawSpan)
  }

  /// Lends each product whose barcode is exactly `barcode`, until `body` returns false. The order says nothing.
  ///
  /// No interpretation: neither case nor blanks nor another spelling of a GTIN. `match` does that. Products that
  /// the server sent as deleted are among them; a barcode of nothing but blanks finds nothing.
  ///
  /// - Complexity: two cache misses for the first hit, and one for each block of the tail.
  public func forEachProduct(
    barcode: Span<UInt8>, _ body: (borrowing ProductView) throws(StoreError) -> Bool
  ) throws(StoreError) {
    try store?.forEachProduct(barcode: barcode.rawSpan, body)
  }

  /// Lends one product whose barcode is exactly `barcode`: the fast path where barcodes are known to be unique.
  @inlinable
  public func withProduct<Result>(
    barcode: Span<UInt8>, _ body: (borrowing ProductView) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    guard let view = try view(barcode: barcode.rawSpan) else { return nil }
    return try body(view)
  }

  /// Lends one product whose barcode is exactly `barcode`; does not call `body` if the catalogue has no such product.
  ///
  /// As the lookup by bytes, which is the fast path: a string whose storage is not UTF-8 is copied first.
  @inlinable
  public func withProduct<Result>(
    barcode: String, _ body: (borrowing ProductView) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try withProduct(barcode: barcode.utf8.span, body)
  }

  /// A product whose barcode is exactly `barcode`, for catalogues whose barcodes are unique; `nil` if there is no such product.
  ///
  /// It is the stored text that is compared. A scan is matched with ``match(_:)``, which knows GTINs, GS1 and models.
  ///
  /// - Throws: `StoreError.damaged` if a block or record on the way does not pass its check.
  /// - Complexity: As ``withProduct(barcode:_:)``, and a copy of all 25 fields.
  public func product(barcode: String) throws(StoreError) -> Product? {
    guard let view = try view(barcode: barcode.utf8.span.rawSpan) else { return nil }
    return try copy(view)
  }

  /// Whether a product has exactly this barcode.
  public func containsProduct(barcode: String) throws(StoreError) -> Bool {
    let bytes = Array(barcode.utf8)
    return try view(barcode: bytes.rawSpan) != nil
  }

  /// A product whose barcode is exactly `barcode`, for as long as this snapshot is borrowed.
  @inlinable @inline(__always)
  @_lifetime(borrow self)
  func view(barcode: RawSpan) throws(StoreError) -> ProductView? {
    guard let view = try store?.product(barcode: barcode) else { return nil }
    // The product is the store's, which lives as long as this snapshot.
    return unsafe _overrideLifetime(view, borrowing: self)
  }

  /// The products whose barcode is exactly `barcode`, by id.
  public func products(barcode: String) throws(StoreError) -> [Product] {
    var products: [Product] = []
    let bytes = Array(barcode.utf8)
    try forEachProduct(barcode: bytes.span) { (view) throws(StoreError) in
      products.append(try copy(view))
      return true
    }
    return products.sorted { $0.id.isBytewiseLess(than: $1.id) }
  }

  /// Lends every product, in the order of the file.
  ///
  /// - Complexity: reads the whole file once.
  public func forEachProduct(
    _ body: (borrowing ProductView) throws(StoreError) -> Void
  ) throws(StoreError) {
    try store?.scan(CatalogSchema.products) { (record) throws(StoreError) in try body(ProductView(record)) }
  }

  /// Lends the product of a row; `nil` if the row is not a live product.
  public func withProduct<Result>(
    _ row: RowID, _ body: (borrowing ProductView) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    guard let store, let record = try store.record(row, table: CatalogSchema.products) else { return nil }
    return try body(ProductView(record))
  }
}
