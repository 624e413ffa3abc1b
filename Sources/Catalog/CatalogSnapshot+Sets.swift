import Bytes
public import LogStore

/// A set's component: what the relation says, and the product if the catalogue has it.
public struct Component: Hashable, Sendable {
  public var relation: Relation
  /// `nil` if the component is missing, and the set cannot be made whole: the catalogue lacks it, or the server sent it as
  /// deleted.
  public var product: Product?
}

extension CatalogSnapshot {
  /// The relations of a set, by component and id.
  public func relations(ofSet id: String) throws(StoreError) -> [Relation] {
    try relations(CatalogSchema.relationBySet, id)
  }

  /// The relations that ask for a component, by set and id.
  public func relations(ofComponent id: String) throws(StoreError) -> [Relation] {
    try relations(CatalogSchema.relationByComponent, id)
  }

  /// Lends each relation of a set, until `body` returns false. The order says nothing.
  ///
  /// - Throws: `StoreError.damaged` if a block or record on the way does not pass its check; what `body` throws.
  /// - Complexity: a lookup, and a record for each relation.
  public func forEachRelation(
    ofSet id: Span<UInt8>, _ body: (borrowing RelationView) throws(StoreError) -> Bool
  ) throws(StoreError) {
    try store?.forEachRecord(CatalogSchema.relationBySet, id.rawSpan) { (record) throws(StoreError) in
      try body(RelationView(record))
    }
  }

  /// Lends each relation that asks for a component, as ``forEachRelation(ofSet:_:)``.
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

  /// The components of a set, expanded; empty for a product that is no set. A product that the server sent as deleted is
  /// missing, as it is to ``complete(_:)``, ``setStatistics()`` and every scan.
  ///
  /// - Complexity: a lookup, and one for each component.
  public func components(of id: String) throws(StoreError) -> [Component] {
    var components: [Component] = []
    for relation in try relations(ofSet: id) {
      var product = try product(id: relation.subProductId)
      if let found = product, found.delFlag != 0 { product = nil }
      components.append(Component(relation: relation, product: product))
    }
    return components
  }

  /// The ids of the sets that a product is a component of, bytewise.
  public func sets(with id: String) throws(StoreError) -> [String] {
    var ids: [String] = []
    for relation in try relations(ofComponent: id) {
      if let last = ids.last, last.isBytewiseEqual(to: relation.productId) { continue }
      ids.append(relation.productId)
    }
    return ids
  }

  /// Calls `body` with every relation, in the order of the file.
  public func forEachRelation(_ body: (Relation) throws(StoreError) -> Void) throws(StoreError) {
    try store?.scan(CatalogSchema.relations) { (record) throws(StoreError) in try body(copy(record)) }
  }
}
