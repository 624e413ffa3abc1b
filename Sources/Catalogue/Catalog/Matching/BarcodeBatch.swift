import Bytes
public import LogStore

/// A batch of barcodes that are looked up together.
///
/// Use it to look up many barcodes at once, as an importer, a picking list or a pallet does. The cache misses of the
/// lookups then overlap instead of following each other.
public struct BarcodeBatch: Sendable {
  /// The key of each barcode.
  var keys = KeyBatch()
  /// The barcodes that differ from their keys, by their index in the batch.
  private var others: [Int: [UInt8]] = [:]

  /// Creates an empty batch. Add barcodes with ``append(_:)``.
  public init() {}

  /// Creates a batch of the given barcodes.
  public init(_ barcodes: some Sequence<String>) {
    for barcode in barcodes { append(Array(barcode.utf8).span) }
  }

  /// Appends a barcode, written as in the catalogue.
  public mutating func append(_ barcode: Span<UInt8>) {
    let bytes = barcode.rawSpan
    if CodeKey.isFolded(bytes) {
      keys.append(bytes)
    } else {
      let key = CodeKey.of(bytes)
      if !key.rawSpan.hasSameBytes(as: bytes) { others[keys.count] = bytes.copied() }
      keys.append(key.rawSpan)
    }
  }

  /// Removes all barcodes and keeps the capacity of the buffers.
  public mutating func removeAll() {
    keys.removeAll()
    others.removeAll(keepingCapacity: true)
  }

  /// The number of barcodes in the batch.
  public var count: Int { keys.count }

  /// Returns whether `view`, found by the key of barcode `index`, has exactly that barcode.
  func isExact(_ index: Int, _ view: borrowing ProductView) -> Bool {
    if !others.isEmpty, let other = others[index] { return view.hasBarcode(other.rawSpan, isKey: false) }
    return view.hasBarcode(keys.key(index), isKey: true)
  }
}

extension CatalogSnapshot {
  /// Lends each product whose barcode is exactly one of `barcodes`, with the index of that barcode in the batch.
  ///
  /// Results come in the order of the batch. Barcodes are compared exactly, as in ``forEachProduct(barcode:_:)``.
  ///
  /// - Throws: `StoreError.damaged` if a block or record that the lookup reads fails its check; any error that `body`
  ///   throws.
  /// - Complexity: One lookup for each barcode, with overlapping cache misses.
  public func forEachProduct(
    barcodes: BarcodeBatch, _ body: (Int, borrowing ProductView) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard let store else { return }
    try store.forEachRecord(CatalogSchema.productByCode, of: barcodes.keys) { (index, record) throws(StoreError) in
      let view = ProductView(record)
      if barcodes.isExact(index, view) { try body(index, view) }
    }
  }

  /// Returns the products of each barcode, sorted by id, in the order of `barcodes`. The array for a barcode without
  /// products is empty.
  public func products(barcodes: [String]) throws(StoreError) -> [[Product]] {
    var products = [[Product]](repeating: [], count: barcodes.count)
    try forEachProduct(barcodes: BarcodeBatch(barcodes)) { (index, view) throws(StoreError) in
      products[index].append(try copy(view))
    }
    for index in products.indices where products[index].count > 1 {
      products[index].sort { $0.id.isBytewiseLess(than: $1.id) }
    }
    return products
  }
}
