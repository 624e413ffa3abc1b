import Bytes
public import LogStore

/// A component of a set: its relation and, if the catalogue has it, its product.
public struct Component: Hashable, Sendable {
  /// The relation that makes this product a component of the set. It says how many pieces the set needs.
  public var relation: Relation
  /// The component's product; `nil` if it is missing, because the catalogue lacks it or the server sent it as deleted.
  /// The set cannot be completed then.
  public var product: Product?
}

extension CatalogSnapshot {
  /// Returns the relations of a set, sorted by component and id.
  public func relations(ofSet id: String) throws(StoreError) -> [Relation] {
    try relations(CatalogSchema.relationBySet, id)
  }

  /// Returns the relations that need a component, sorted by set and id.
  public func relations(ofComponent id: String) throws(StoreError) -> [Relation] {
    try relations(CatalogSchema.relationByComponent, id)
  }

  /// Lends each relation of a set, in no particular order, until `body` returns `false`.
  ///
  /// - Throws: `StoreError.damaged` if a block or record that the lookup reads fails its check; any error that `body`
  ///   throws.
  /// - Complexity: One lookup, and one record for each relation.
  public func forEachRelation(
    ofSet id: Span<UInt8>, _ body: (borrowing RelationView) throws(StoreError) -> Bool
  ) throws(StoreError) {
    try store?.forEachRecord(CatalogSchema.relationBySet, id.rawSpan) { (record) throws(StoreError) in
      try body(RelationView(record))
    }
  }

  /// Lends each relation that needs a component, as ``forEachRelation(ofSet:_:)`` does.
  public func forEachRelation(
    ofComponent id: Span<UInt8>, _ body: (borrowing RelationView) throws(StoreError) -> Bool
  ) throws(StoreError) {
    // As above.
    try store?.forEachRecord(CatalogSchema.relationByComponent, id.rawSpan) { (record) throws(StoreError) in
      try body(RelationView(record))
    }
  }

  private func relations(_ space: KeySpaceID, _ id: String) throws(StoreError) -> [Relation] {
    let key = Array(id.utf8)
    var relations: [Relation] = []
    try store?.forEachRecord(space, key.rawSpan) { (record) throws(StoreError) in
      relations.append(try copy(record))
      return true
    }
    return relations.sorted(by: Relation.precedes)
  }

  /// Returns the components of a set with their products; empty for a product that is not a set. A product that the
  /// server sent as deleted counts as missing, as it does in ``complete(_:options:)``, ``setStatistics()`` and every
  /// scan.
  ///
  /// - Complexity: One lookup, and one for each component.
  public func components(of id: String) throws(StoreError) -> [Component] {
    var components: [Component] = []
    for relation in try relations(ofSet: id) {
      var product = try product(id: relation.subProductId)
      if let found = product, found.delFlag != 0 { product = nil }
      components.append(Component(relation: relation, product: product))
    }
    return components
  }

  /// Returns the ids of the sets that contain a product as a component, in byte order.
  public func sets(with id: String) throws(StoreError) -> [String] {
    var ids: [String] = []
    for relation in try relations(ofComponent: id) {
      if let last = ids.last, last.isBytewiseEqual(to: relation.productId) { continue }
      ids.append(relation.productId)
    }
    return ids
  }

  /// Calls `body` with every relation, in file order.
  public func forEachRelation(_ body: (Relation) throws(StoreError) -> Void) throws(StoreError) {
    try store?.scan(CatalogSchema.relations) { (record) throws(StoreError) in try body(copy(record)) }
  }
}
