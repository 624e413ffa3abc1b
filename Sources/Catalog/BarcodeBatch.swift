import Bytes
public import LogStore

/// Barcodes that are looked up together.
///
/// An importer, a picking list or a pallet asks for many at once: the catalogue then waits for their memory together,
/// and not for one after the other.
public struct BarcodeBatch: Sendable {
  /// What each is found by.
  var keys = KeyBatch()
  /// Those that are not their own key, by number.
  private var others: [Int: [UInt8]] = [:]

  public init() {}

  /// A batch of these barcodes.
  public init(_ barcodes: some Sequence<String>) {
    for barcode in barcodes { append(Array(barcode.utf8).span) }
  }

  /// Adds a barcode, as it is written in the catalogue.
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

  /// Takes all barcodes out and keeps the buffers.
  public mutating func removeAll() {
    keys.removeAll()
    others.removeAll(keepingCapacity: true)
  }

  /// Barcodes in the batch.
  public var count: Int { keys.count }

  /// Whether `view`, found by the key of barcode `index`, has exactly that barcode.
  func isExact(_ index: Int, _ view: borrowing ProductView) -> Bool {
    if !others.isEmpty, let other = others[index] { return view.hasBarcode(other.rawSpan, isKey: false) }
    return view.hasBarcode(keys.key(index), isKey: true)
  }
}

extension CatalogSnapshot {
  /// Lends each product whose barcode is exactly one of `barcodes`, with the number of that barcode in the batch.
  ///
  /// Barcodes come in the order of the batch. No interpretation, as ``forEachProduct(barcode:_:)``.
  ///
  /// - Throws: `StoreError.damaged` if a block or record on the way does not pass its check; what `body` throws.
  /// - Complexity: as a lookup for each barcode, but their cache misses overlap.
  public func forEachProduct(
    barcodes: BarcodeBatch, _ body: (Int, borrowing ProductView) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard let store else { return }
    try store.forEachRecord(CatalogSchema.productByCode, of: barcodes.keys) { (index, record) throws(StoreError) in
      let view = ProductView(record)
      if barcodes.isExact(index, view) { try body(index, view) }
    }
  }

  /// The products of each barcode, by id, in the order of `barcodes`; an empty array where there is none.
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
