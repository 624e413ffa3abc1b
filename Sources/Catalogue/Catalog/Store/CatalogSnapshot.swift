public import Bytes
package import CatalogRows
public import LogStore

/// The catalogue at one commit: immutable, and safe to use from any number of threads.
///
/// A catalogue without commits is empty.
public struct CatalogSnapshot: Sendable {
  /// The store's snapshot; `nil` before the first commit.
  public let store: Snapshot?
  /// The cursor, mode and counts of this commit.
  public let state: CatalogState
  /// The declared fields of one's own, by which conditions, orders and scans read the products; see
  /// ``declaring(_:)``.
  public var fields: DeclaredFields { declarations?.fields ?? DeclaredFields() }
  /// The fields whose values are codes, and their indexes: only those that the catalogue has.
  var codeFields: [CodeFieldIndex] { declarations?.codes ?? [] }
  /// What is declared, behind one reference: a snapshot is copied for every lookup.
  private var declarations: Declarations?

  /// Notes what matches ask for; `nil` if the catalogue has all rows, as nearly all have.
  @inline(__always)
  var trace: LookupTrace? { declarations?.trace }

  private final class Declarations: Sendable {
    let fields: DeclaredFields
    let codes: [CodeFieldIndex]
    let trace: LookupTrace?

    init(_ fields: DeclaredFields, _ codes: [CodeFieldIndex], _ trace: LookupTrace? = nil) {
      self.fields = fields
      self.codes = codes
      self.trace = trace
    }
  }

  /// Whether products may have further codes: the table of codes has rows, or a field of one's own is a code.
  package private(set) var hasCodes: Bool

  /// - Throws: `CatalogError.otherStore`, `.unknownState`.
  package init(_ store: Snapshot?) throws(CatalogError) {
    self.store = store
    if let store, !CatalogSchema.fits(store) { throw .otherStore(path: store.path, tables: store.tableNames) }
    guard let state = CatalogState(store?.state ?? []) else {
      throw .unknownState(path: store?.path ?? "")
    }
    if state.codeCount > 0, store.map(CatalogSchema.hasCodes) != true {
      throw .unknownState(path: store?.path ?? "")
    }
    self.state = state
    hasCodes = state.codeCount > 0
  }

  /// A catalogue without rows.
  public static let empty = CatalogSnapshot()

  private init() {
    store = nil
    state = CatalogState()
    hasCodes = false
  }

  /// Returns the same catalogue, read with the declarations of fields of one's own.
  ///
  /// Conditions, orders and columns then know the types of these fields, and scans find the codes that they contain, if
  /// the catalogue has the indexes: the first full update or compaction with the declarations writes them.
  ///
  /// - Complexity: Independent of the size of the catalogue.
  public func declaring(_ fields: DeclaredFields) -> CatalogSnapshot {
    var snapshot = self
    if fields.isEmpty {
      snapshot.declarations = nil
      snapshot.hasCodes = hasCodeTable
      return snapshot
    }
    let codes: [CodeFieldIndex] = fields.codes.compactMap { name in
      let field = fields.field(name)
      guard let declaration = fields[name],
        let index = store?.orderedIndex(CatalogSchema.products, named: ProductIndex.code(field).name)
      else { return nil }
      return CodeFieldIndex(field: field, declaration: declaration, index: index)
    }
    snapshot.declarations = Declarations(fields, codes)
    snapshot.hasCodes = hasCodeTable || !codes.isEmpty
    return snapshot
  }

  /// Returns the same rows, taken as some of those of a larger catalogue.
  ///
  /// - Parameters:
  ///   - trace: Notes what matches ask for.
  ///   - hasCodes: Whether products of the larger catalogue may have further codes.
  package func noting(_ trace: LookupTrace, hasCodes: Bool) -> CatalogSnapshot {
    var snapshot = self
    snapshot.declarations = Declarations(fields, codeFields, trace)
    snapshot.hasCodes = hasCodes
    return snapshot
  }

  /// The declared fields whose index the catalogue lacks, in byte order: it is written by the next full update or
  /// compaction. Until then a scan finds no code of such a field, a search none of its words, and an order by it reads
  /// all products.
  public var fieldsWithoutIndex: [String] {
    let names = store?.orderedIndexes(of: CatalogSchema.products) ?? []
    let search = ProductIndex.search(with: fields.searched).name
    return fields.names.filter { name in
      guard let declaration = fields[name] else { return false }
      let field = fields.field(name)
      return declaration.isOrdered && !names.contains(ProductIndex.extra(field).name)
        || declaration.isCode && !names.contains(ProductIndex.code(field).name)
        || declaration.isSearched && !names.contains(search)
    }
  }

  /// The server's `updateTime` of the last update; empty before the first update.
  public var cursor: String { state.cursor }
  /// The sequence number of the commit; 0 before the first commit.
  public var sequence: UInt64 { store?.sequence ?? 0 }
  /// The generation of the file that contains the commit; 0 before the first commit.
  public var generation: UInt64 { store?.generation ?? 0 }
  /// The number of products in the catalogue, including those that the server sent as deleted.
  public var productCount: Int { store?.rowCount(CatalogSchema.products) ?? 0 }
  /// The number of relations in the catalogue, including those whose set or component is missing.
  public var relationCount: Int { store?.rowCount(CatalogSchema.relations) ?? 0 }

  /// The number of codes in the table of codes, including those whose product is missing.
  public var codeCount: Int { state.codeCount }

  /// Whether the table of codes has any rows.
  @inline(__always)
  package var hasCodeTable: Bool { state.codeCount > 0 }

  /// Whether a product may have fields beyond the 25; `false` if none has.
  public var mayHaveExtra: Bool { state.hasExtra }

  /// Returns the catalogue at an earlier commit of this generation; `nil` if the file has no such commit.
  public func at(_ sequence: UInt64) throws -> CatalogSnapshot? {
    guard let earlier = try store?.snapshot(at: sequence) else { return nil }
    return try CatalogSnapshot(earlier).declaring(fields)
  }
}

// MARK: Products

extension CatalogSnapshot {
  /// Calls `body` with the product that has this id; does not call it if there is no such product.
  ///
  /// If the file is truncated at the same moment, bytes that `body` copies may be zeros; see `Snapshot.confirm(_:)`.
  /// This holds for every lent view. ``Product`` values that this type returns are confirmed.
  ///
  /// - Returns: The result of `body`; `nil` if no product has this id.
  /// - Throws: `StoreError.damaged` if a block or record that the lookup reads fails its check.
  /// - Complexity: Two cache misses, and one for each block of the tail.
  @inlinable
  public func withProduct<Result>(
    id: Span<UInt8>, _ body: (borrowing ProductView) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    if let store, store.isSealed { return try withOpenedProduct(id: id, body) }
    guard let view = try view(id: id.rawSpan) else { return nil }
    return try body(view)
  }

  /// The same in a sealed store.
  @inlinable @inline(never)
  func withOpenedProduct<Result>(
    id: Span<UInt8>, _ body: (borrowing ProductView) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    if let store, try store.hasNoProduct(id: id.rawSpan) { return nil }
    let scope = ScratchScope(store)
    defer { scope.end() }
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

  /// Returns the product with this id, valid for as long as this snapshot is borrowed.
  @inlinable @inline(__always)
  @_lifetime(borrow self)
  func view(id: RawSpan) throws(StoreError) -> ProductView? {
    guard let view = try store?.product(id: id) else { return nil }
    // The view depends on the store, which lives as long as this snapshot.
    return unsafe _overrideLifetime(view, borrowing: self)
  }

  /// Returns the product with this id; `nil` if there is no such product.
  public func product(id: String) throws(StoreError) -> Product? {
    let bytes = Array(id.utf8)
    let scope = ScratchScope(store)
    defer { scope.end() }
    guard let view = try view(id: bytes.rawSpan) else { return nil }
    return try copy(view)
  }

  /// Returns a copy of a product of this snapshot. The copy contains the committed values even if the file was
  /// truncated during the read.
  ///
  /// - Throws: `StoreError.damaged` if the product, or a text that it shares, can no longer be read.
  public func copy(_ view: borrowing ProductView) throws(StoreError) -> Product {
    let product = try Product(view)
    try store?.confirm(view.rowID)
    return product
  }

  /// Copies a product of this snapshot into a row that is reused, with the checks of ``copy(_:)``.
  ///
  /// - Returns: Whether `id` is the row of a live product. If not, `row` is unchanged.
  /// - Throws: `StoreError.damaged`, as ``copy(_:)`` does. The row then has only some of the fields.
  package func copy(_ id: RowID, to row: inout ProductRow) throws(StoreError) -> Bool {
    let scope = ScratchScope(store)
    defer { scope.end() }
    guard let store, let record = try store.record(id, table: CatalogSchema.products) else { return false }
    try ProductView(record).copy(to: &row)
    try store.confirm(id)
    return true
  }

  /// Returns a copy of a relation of this snapshot.
  func copy(_ record: borrowing RecordView) throws(StoreError) -> Relation {
    let relation = try Relation(record)
    try store?.confirm(record.rowID)
    return relation
  }

  /// Returns whether a product has this id.
  public func containsProduct(id: String) throws(StoreError) -> Bool {
    let bytes = Array(id.utf8)
    let scope = ScratchScope(store)
    defer { scope.end() }
    return try view(id: bytes.rawSpan) != nil
  }

  /// Returns whether a scan could match a product with this id: it exists and was not sent as deleted.
  func isMatchable(_ id: RawSpan) throws(StoreError) -> Bool {
    let scope = ScratchScope(store)
    defer { scope.end() }
    guard let view = try view(id: id) else { return false }
    return view.delFlag == 0
  }

  func isMatchable(_ id: String) throws(StoreError) -> Bool {
    let bytes = Array(id.utf8)
    return try isMatchable(bytes.rawSpan)
  }

  /// Lends each product whose barcode is exactly `barcode`, in no particular order, until `body` returns `false`.
  ///
  /// The barcode is compared exactly: letter case, blanks and other spellings of a GTIN are not considered. Use `match`
  /// for those. Products that the server sent as deleted are included. A barcode of only blanks finds nothing.
  ///
  /// - Complexity: Two cache misses for the first hit, and one for each block of the tail.
  public func forEachProduct(
    barcode: Span<UInt8>, _ body: (borrowing ProductView) throws(StoreError) -> Bool
  ) throws(StoreError) {
    try store?.forEachProduct(barcode: barcode.rawSpan, body)
  }

  /// Calls `body` with one product whose barcode is exactly `barcode`: the fast path when barcodes are known to be
  /// unique.
  @inlinable
  public func withProduct<Result>(
    barcode: Span<UInt8>, _ body: (borrowing ProductView) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    if let store, store.isSealed { return try withOpenedProduct(barcode: barcode, body) }
    guard let view = try view(barcode: barcode.rawSpan) else { return nil }
    return try body(view)
  }

  /// The same in a sealed store.
  @inlinable @inline(never)
  func withOpenedProduct<Result>(
    barcode: Span<UInt8>, _ body: (borrowing ProductView) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    if let store, try store.hasNoProduct(barcode: barcode.rawSpan) { return nil }
    let scope = ScratchScope(store)
    defer { scope.end() }
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

  /// A product whose barcode is exactly `barcode`, for catalogues whose barcodes are unique; `nil` if there is no such
  /// product.
  ///
  /// It is the stored text that is compared. A scan is matched with `match`, which knows GTINs, GS1 and models.
  ///
  /// - Throws: `StoreError.damaged` if a block or record on the way does not pass its check.
  /// - Complexity: As `withProduct(barcode:)`, and a copy of all 25 fields.
  public func product(barcode: String) throws(StoreError) -> Product? {
    let scope = ScratchScope(store)
    defer { scope.end() }
    guard let view = try view(barcode: barcode.utf8.span.rawSpan) else { return nil }
    return try copy(view)
  }

  /// Returns whether a product has exactly this barcode.
  public func containsProduct(barcode: String) throws(StoreError) -> Bool {
    let bytes = Array(barcode.utf8)
    let scope = ScratchScope(store)
    defer { scope.end() }
    return try view(barcode: bytes.rawSpan) != nil
  }

  /// Returns a product whose barcode is exactly `barcode`, valid for as long as this snapshot is borrowed.
  @inlinable @inline(__always)
  @_lifetime(borrow self)
  func view(barcode: RawSpan) throws(StoreError) -> ProductView? {
    guard let view = try store?.product(barcode: barcode) else { return nil }
    // The view depends on the store, which lives as long as this snapshot.
    return unsafe _overrideLifetime(view, borrowing: self)
  }

  /// Returns the products whose barcode is exactly `barcode`, sorted by id.
  public func products(barcode: String) throws(StoreError) -> [Product] {
    var products: [Product] = []
    let bytes = Array(barcode.utf8)
    try forEachProduct(barcode: bytes.span) { (view) throws(StoreError) in
      products.append(try copy(view))
      return true
    }
    return products.sorted { $0.id.isBytewiseLess(than: $1.id) }
  }

  /// Lends every product, in file order.
  ///
  /// - Complexity: Reads the complete file once.
  public func forEachProduct(
    _ body: (borrowing ProductView) throws(StoreError) -> Void
  ) throws(StoreError) {
    try store?.scan(CatalogSchema.products) { (record) throws(StoreError) in try body(ProductView(record)) }
  }

  /// Lends the product of a row; returns `nil` if the row is not a live product.
  public func withProduct<Result>(
    _ row: RowID, _ body: (borrowing ProductView) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    let scope = ScratchScope(store)
    defer { scope.end() }
    guard let store, let record = try store.record(row, table: CatalogSchema.products) else { return nil }
    return try body(ProductView(record))
  }
}
