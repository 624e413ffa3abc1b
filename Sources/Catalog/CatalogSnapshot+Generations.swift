import Bytes
package import LogStore

/// The rows in which commits of two generations differ.
struct DifferingRows {
  /// The products of one commit that the other lacks or has with different content, and vice versa.
  var addedProducts: [RowID] = []
  var removedProducts: [RowID] = []
  var addedRelations: [Relation] = []
  var removedRelations: [Relation] = []
}

// Rows of two files share nothing but their content: row IDs of different files are unrelated. So each row is looked up
// by its id in the other file and compared.

extension CatalogSnapshot {
  /// Returns the rows in which this commit differs from `other`, a commit of another generation.
  ///
  /// - Throws: `StoreError.damaged`.
  /// - Complexity: A lookup and a comparison for each product of this commit; a lookup for each product of `other`, if
  ///   this commit lacks any of them; and a lookup for each set of both.
  func differingRows(from other: CatalogSnapshot) throws(StoreError) -> DifferingRows {
    var rows = DifferingRows()
    // The number of products of the other commit whose ids this one has.
    var commonCount = 0
    try forEachProduct { (view) throws(StoreError) in
      guard let counterpart = try other.view(id: view.utf8.id) else {
        rows.addedProducts.append(view.rowID)
        return
      }
      commonCount += 1
      if try !Self.areEqual(view, counterpart) {
        rows.addedProducts.append(view.rowID)
        rows.removedProducts.append(counterpart.rowID)
      }
    }
    if commonCount < other.productCount {
      try other.forEachProduct { (view) throws(StoreError) in
        if try self.view(id: view.utf8.id) == nil { rows.removedProducts.append(view.rowID) }
      }
    }
    var seen: Set<ProductID> = []
    for snapshot in [self, other] {
      try snapshot.forEachRelation { (relation) throws(StoreError) in
        guard seen.insert(ProductID(relation.productId)).inserted else { return }
        try addRelations(ofSet: relation.productId, differingFrom: other, to: &rows)
      }
    }
    return rows
  }

  /// Returns how many rows a rollback from `last` to this commit, which belongs to another generation, changes.
  func rollbackCounts(from last: CatalogSnapshot) throws(StoreError) -> UpdateCounts {
    let rows = try differingRows(from: last)
    var counts = UpdateCounts()
    counts.productsUpserted = rows.addedProducts.count
    counts.relationsWritten = rows.addedRelations.count
    counts.relationsDeleted = rows.removedRelations.count
    for row in rows.removedProducts {
      let remains = try last.withProduct(row) { (product) throws(StoreError) in try view(id: product.utf8.id) != nil }
      if remains == false { counts.productsDeleted += 1 }
    }
    return counts
  }

  /// Returns whether the product with an id was added or changed since another commit, which may belong to another
  /// generation.
  ///
  /// - Returns: `false` also if no product has the id.
  /// - Throws: `StoreError.damaged`.
  /// - Complexity: Two lookups.
  package func hasChanged(product id: String, since earlier: CatalogSnapshot) throws(StoreError) -> Bool {
    try withProduct(id: id) { (view) throws(StoreError) in try !earlier.hasEqual(view) } ?? false
  }

  /// Returns whether this commit has a product with the id and all other fields of `product`.
  func hasEqual(_ product: borrowing ProductView) throws(StoreError) -> Bool {
    guard let own = try view(id: product.utf8.id) else { return false }
    return try Self.areEqual(product, own)
  }

  private static func areEqual(_ a: borrowing ProductView, _ b: borrowing ProductView) throws(StoreError) -> Bool {
    var content: [UInt8] = []
    var otherContent: [UInt8] = []
    try a.appendContent(to: &content)
    try b.appendContent(to: &otherContent)
    return content == otherContent
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
