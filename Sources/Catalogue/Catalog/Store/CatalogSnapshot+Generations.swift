import Bytes
package import LogStore

/// The rows in which commits of two generations differ.
struct DifferingRows: Sendable {
  /// The products that one commit lacks, or has with different content: before in the other commit, after in this one.
  var products: [ProductRows] = []
  var addedRelations: [Relation] = []
  var removedRelations: [Relation] = []
  var addedCodes: [ProductCode] = []
  var removedCodes: [ProductCode] = []
}

// Rows of two files share nothing but their content: row IDs of different files are unrelated. So each row is looked up
// by its id in the other file and compared.

extension CatalogSnapshot {
  /// Returns the rows in which this commit differs from `other`, a commit of another generation.
  ///
  /// - Throws: `StoreError.damaged`.
  /// - Complexity: By several threads, a lookup and a comparison for each product of this commit; a lookup for each
  ///   product of `other`, if this commit lacks any of them; and a lookup for each set of both.
  func differingRows(from other: CatalogSnapshot) throws(StoreError) -> DifferingRows {
    var rows = DifferingRows()
    guard let store, let otherStore = other.store else { return rows }
    // The number of products of the other commit whose ids this one has.
    var commonCount = 0
    let parts = try store.mapParts { [otherStore] (store, part) throws(StoreError) in
      var (found, count) = ([ProductRows](), 0)
      try store.forEachRecord(of: CatalogSchema.products, in: part) { (record) throws(StoreError) in
        let view = ProductView(record)
        let scope = ScratchScope(otherStore)
        defer { scope.end() }
        guard let counterpart = try otherStore.product(id: view.utf8.id) else {
          found.append(ProductRows(after: view.rowID))
          return true
        }
        count += 1
        if try !view.hasSameContent(as: counterpart) {
          found.append(ProductRows(before: counterpart.rowID, after: view.rowID))
        }
        return true
      }
      return (found, count)
    }
    for (found, count) in parts {
      rows.products += found
      commonCount += count
    }
    if commonCount < other.productCount {
      let parts = try otherStore.mapParts { [store] (otherStore, part) throws(StoreError) in
        var found: [ProductRows] = []
        try otherStore.forEachRecord(of: CatalogSchema.products, in: part) { (record) throws(StoreError) in
          let view = ProductView(record)
          let scope = ScratchScope(store)
          defer { scope.end() }
          if try store.product(id: view.utf8.id) == nil { found.append(ProductRows(before: view.rowID)) }
          return true
        }
        return found
      }
      rows.products += parts.joined()
    }
    try addRelations(from: other, to: &rows)
    try addCodes(from: other, to: &rows)
    return rows
  }

  /// Returns how many rows a rollback from `last` to this commit, which belongs to another generation, changes.
  func rollbackCounts(from last: CatalogSnapshot) throws(StoreError) -> UpdateCounts {
    let rows = try differingRows(from: last)
    var counts = UpdateCounts()
    counts.productsUpserted = rows.products.count { $0.after != nil }
    counts.productsDeleted = rows.products.count - counts.productsUpserted
    counts.relationsWritten = rows.addedRelations.count
    counts.relationsDeleted = rows.removedRelations.count
    counts.codesWritten = rows.addedCodes.count
    counts.codesDeleted = rows.removedCodes.count
    return counts
  }

  /// Returns whether the product with an id was added or changed since another commit, which may belong to another
  /// generation.
  ///
  /// - Returns: `false` also if no product has the id.
  /// - Throws: `StoreError.damaged`.
  /// - Complexity: Two lookups.
  package func hasChanged(product id: String, since earlier: CatalogSnapshot) throws(StoreError) -> Bool {
    try withProduct(id: id) { (view) throws(StoreError) in
      let scope = ScratchScope(earlier.store)
      defer { scope.end() }
      guard let former = try earlier.view(id: view.utf8.id) else { return true }
      return try !view.hasSameContent(as: former)
    } ?? false
  }

  /// Adds the relations that only this commit has and those that only `other` has, set by set.
  private func addRelations(from other: CatalogSnapshot, to rows: inout DifferingRows) throws(StoreError) {
    var sets: [ProductID] = []
    var seen: Set<ProductID> = []
    // Relations are found by reading the complete file.
    for snapshot in [self, other] where snapshot.relationCount > 0 {
      let parts = try snapshot.store?.mapParts { (store, part) throws(StoreError) in
        var ids: [ProductID] = []
        try store.forEachRecord(of: CatalogSchema.relations, in: part) { (record) throws(StoreError) in
          let id = ProductID(try snapshot.copy(record).productId)
          // The relations of a set usually lie next to one another.
          if id != ids.last { ids.append(id) }
          return true
        }
        return ids
      }
      for id in (parts ?? []).joined() where seen.insert(id).inserted { sets.append(id) }
    }
    let parts = Threads.map(sets[...], atLeast: 256) { part in
      Result { () throws(StoreError) in
        var rows = DifferingRows()
        for id in part { try addRelations(ofSet: id.text, differingFrom: other, to: &rows) }
        return rows
      }
    }
    for part in parts {
      let found = try part.get()
      rows.addedRelations += found.addedRelations
      rows.removedRelations += found.removedRelations
    }
  }

  /// Adds the codes that only this commit has and those that only `other` has. Equal codes are paired one to one.
  private func addCodes(from other: CatalogSnapshot, to rows: inout DifferingRows) throws(StoreError) {
    if !hasCodeTable, !other.hasCodeTable { return }
    var seen: Set<ProductID> = []
    for snapshot in [self, other] {
      try snapshot.forEachCodeRecord { (codes) throws(StoreError) in
        guard let product = codes.first?.productId, seen.insert(ProductID(product)).inserted else { return }
        var unpaired: [[UInt8]: [ProductCode]] = [:]
        for code in try other.codes(ofProduct: product) { unpaired[code.content, default: []].append(code) }
        for code in try self.codes(ofProduct: product) where unpaired[code.content]?.popLast() == nil {
          rows.addedCodes.append(code)
        }
        rows.removedCodes += unpaired.values.joined()
      }
    }
  }

  /// Adds the relations of one set that only this commit has and those that only `other` has. Equal relations are
  /// paired one to one, because a set may contain the same relation twice.
  private func addRelations(
    ofSet id: String, differingFrom other: CatalogSnapshot, to rows: inout DifferingRows
  ) throws(StoreError) {
    var unpaired: [[UInt8]: [Relation]] = [:]
    for relation in try other.relations(ofSet: id) { unpaired[relation.content, default: []].append(relation) }
    for relation in try relations(ofSet: id) where unpaired[relation.content]?.popLast() == nil {
      rows.addedRelations.append(relation)
    }
    rows.removedRelations += unpaired.values.joined()
  }
}
