import Bytes
package import LogStore

/// An id of a catalogue with all that the catalogue has of it: the product with this id or none, the relations of the set
/// with this id, the codes of the product with this id.
package struct CatalogEntry: Sendable, Equatable {
  /// The id, in UTF-8.
  package var id: [UInt8]
  /// The key by which the product is found with its barcode; empty without a product or a barcode.
  package var code: [UInt8]
}

extension CatalogSnapshot {
  /// Returns the key by which scans of a code are compared: see *The code of a product* in the format.
  package static func key(ofCode code: String) -> [UInt8] { CodeKey.of(code) }

  /// Returns all entries, by code and id in byte order.
  ///
  /// - Throws: `StoreError.damaged`.
  /// - Complexity: Reads every row once, and sorts the ids. Memory: about 100 bytes for each entry.
  package func entries() throws(StoreError) -> [CatalogEntry] {
    var entries: [CatalogEntry] = []
    entries.reserveCapacity(productCount)
    try forEachProduct { (view) throws(StoreError) in
      entries.append(CatalogEntry(id: view.utf8.id.copied(), code: CodeKey.of(view.utf8.barcode)))
    }
    var others: Set<ProductID> = []
    if relationCount > 0 {
      try forEachRelation { (relation) throws(StoreError) in
        if try !containsProduct(id: relation.productId) { others.insert(ProductID(relation.productId)) }
      }
    }
    try forEachCode { (code) throws(StoreError) in
      if try !containsProduct(id: code.productId) { others.insert(ProductID(code.productId)) }
    }
    entries += others.map { CatalogEntry(id: Array($0.text.utf8), code: []) }
    entries.sort { a, b in
      if a.code == b.code { return a.id.lexicographicallyPrecedes(b.id) }
      return a.code.lexicographicallyPrecedes(b.code)
    }
    return entries
  }

  /// Returns the ids of the entries in which this catalogue differs from another one, in byte order.
  ///
  /// - Throws: `StoreError.damaged`.
  /// - Complexity: As `differences(since:)`.
  package func changedEntries(since other: CatalogSnapshot) throws(StoreError) -> [[UInt8]] {
    let differences = try differences(since: other)
    var ids: Set<[UInt8]> = []
    for index in 0..<differences.productCount {
      let change = try differences.product(index)
      if let id = (change.after ?? change.before)?.id { ids.insert(Array(id.utf8)) }
    }
    for change in differences.relations {
      for relation in [change.before, change.after] { if let id = relation?.productId { ids.insert(Array(id.utf8)) } }
    }
    for change in differences.codes {
      for code in [change.before, change.after] { if let id = code?.productId { ids.insert(Array(id.utf8)) } }
    }
    return ids.sorted { $0.lexicographicallyPrecedes($1) }
  }
}
