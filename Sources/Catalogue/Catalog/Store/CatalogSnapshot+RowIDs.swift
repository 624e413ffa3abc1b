import Bytes
package import CatalogRows
package import LogStore

// For code that reads a catalogue bit by bit, and not within a closure.

extension CatalogSnapshot {
  /// Returns the rows of all products and of all relations, and the records with codes, each of which has those of one
  /// product, in the order of the file.
  ///
  /// - Complexity: Reads the complete file. 8 bytes for each row.
  package func rowIDs() throws(StoreError) -> (products: [RowID], relations: [RowID], codes: [RowID]) {
    var rows: (products: [RowID], relations: [RowID], codes: [RowID]) = ([], [], [])
    guard let store else { return rows }
    rows.products.reserveCapacity(productCount)
    rows.relations.reserveCapacity(relationCount)
    try store.scan(CatalogSchema.products) { (record) throws(StoreError) in rows.products.append(record.rowID) }
    try store.scan(CatalogSchema.relations) { (record) throws(StoreError) in rows.relations.append(record.rowID) }
    if hasCodeTable {
      try store.scan(CatalogSchema.codes) { (record) throws(StoreError) in rows.codes.append(record.rowID) }
    }
    return rows
  }

  /// Returns the row of the product with an id; `nil` if there is no such product.
  package func productRow(id: [UInt8]) throws(StoreError) -> RowID? {
    let scope = ScratchScope(store)
    defer { scope.end() }
    return try view(id: id.rawSpan)?.rowID
  }

  /// Returns the codes of a record, in the order of the file; none if this commit has no such record.
  ///
  /// - Throws: `StoreError.damaged`.
  package func codes(inRecord id: RowID) throws(StoreError) -> [ProductCode] {
    var codes: [ProductCode] = []
    let scope = ScratchScope(store)
    defer { scope.end() }
    if let record = try store?.record(id, table: CatalogSchema.codes) { try append(record, to: &codes) }
    return codes
  }

  /// Copies the fields of a relation into a row that is reused.
  ///
  /// - Returns: Whether the row is a relation of this commit. If not, `row` is unchanged.
  /// - Throws: `StoreError.damaged`.
  package func copy(_ id: RowID, to row: inout RelationRow) throws(StoreError) -> Bool {
    let scope = ScratchScope(store)
    defer { scope.end() }
    guard let store, let record = try store.record(id, table: CatalogSchema.relations) else { return false }
    try copy(record).fill(&row)
    return true
  }
}
