import Bytes
public import LogStore

/// A row that differs between two commits.
public struct CatalogChange<Row: Sendable>: Sendable {
  /// The row in the earlier commit; `nil` for a row that was added.
  public internal(set) var before: Row?
  /// The row in the later commit; `nil` for a row that was removed.
  public internal(set) var after: Row?

  /// `added`, `removed` or `changed`.
  public var name: String { before == nil ? "added" : after == nil ? "removed" : "changed" }
}

/// The differences between two commits of a catalogue. Rows are compared byte for byte: a row that was written again
/// unchanged is not a difference.
public struct CatalogChanges: Sendable {
  /// The changed products, sorted by id in byte order.
  public internal(set) var products: [CatalogChange<Product>] = []
  /// The changed relations, sorted by set, component and id in byte order. A relation whose three ids are the same in
  /// both commits counts as changed; any other counts as added or removed.
  public internal(set) var relations: [CatalogChange<Relation>] = []

  /// Whether no product and no relation differs between the two commits.
  public var isEmpty: Bool { products.isEmpty && relations.isEmpty }

  /// The products that were added or changed, as they are in the later commit, sorted by id in byte order.
  public var upsertedProducts: [Product] { products.compactMap(\.after) }
  /// The ids of the products that were removed, in byte order.
  public var deletedProductIDs: [String] { products.compactMap { $0.after == nil ? $0.before?.id : nil } }
}

extension CatalogSnapshot {
  /// Returns the differences from another commit of this catalogue to this one. The other commit may be earlier or
  /// later. A catalogue without commits is empty, so every row differs from it.
  ///
  /// - Throws: `StoreError.damaged`.
  /// - Complexity: Time and memory are proportional to what was written between the two commits. Between commits of two
  ///   generations, or of two files of one generation that have grown apart, each row of both is looked up in the
  ///   other; memory holds the differences and the ids of all sets.
  public func changes(since other: CatalogSnapshot) throws(StoreError) -> CatalogChanges {
    let differences = try differences(since: other)
    var changes = CatalogChanges()
    changes.products.reserveCapacity(differences.productCount)
    for index in 0..<differences.productCount { changes.products.append(try differences.product(index)) }
    changes.relations = differences.relations
    return changes
  }

  func productID(at row: RowID) throws(StoreError) -> [UInt8]? {
    try withProduct(row) { (view) throws(StoreError) in view.utf8.id.copied() }
  }

  static func relations(_ rows: [RowID], in store: Snapshot) throws(StoreError) -> [Relation] {
    var relations: [Relation] = []
    for row in rows {
      guard let record = try store.record(row, table: CatalogSchema.relations) else { continue }
      relations.append(try Relation(record))
      try store.confirm(row)
    }
    return relations
  }

  /// Pairs relations that have the same three ids. If several do, equal ones are paired first.
  static func changes(added: [Relation], removed: [Relation]) -> [CatalogChange<Relation>] {
    var unmatched: [[UInt8]: [Relation]] = [:]
    for relation in added { unmatched[relation.content, default: []].append(relation) }
    var removedByIdentity: [[UInt8]: [Relation]] = [:]
    for relation in removed {
      let content = relation.content
      if unmatched[content]?.popLast() == nil { removedByIdentity[relation.identity, default: []].append(relation) }
    }
    var addedByIdentity: [[UInt8]: [Relation]] = [:]
    for relation in unmatched.values.joined() { addedByIdentity[relation.identity, default: []].append(relation) }
    var changes: [CatalogChange<Relation>] = []
    for identity in Set(removedByIdentity.keys).union(addedByIdentity.keys) {
      let before = removedByIdentity[identity, default: []].sorted { $0.content.lexicographicallyPrecedes($1.content) }
      let after = addedByIdentity[identity, default: []].sorted { $0.content.lexicographicallyPrecedes($1.content) }
      for index in 0..<max(before.count, after.count) {
        changes.append(
          CatalogChange(
            before: index < before.count ? before[index] : nil, after: index < after.count ? after[index] : nil))
      }
    }
    // The pairs of one identity are sorted by their contents and keep that order.
    return changes.enumerated().sorted { a, b in
      guard let x = a.element.before ?? a.element.after, let y = b.element.before ?? b.element.after else {
        return false
      }
      if Relation.precedes(x, y) { return true }
      return Relation.precedes(y, x) ? false : a.offset < b.offset
    }.map(\.element)
  }
}

extension Relation {
  /// All fields in an unambiguous encoding.
  var content: [UInt8] {
    var content: [UInt8] = []
    appendContent(to: &content)
    return content
  }

  /// Set, component and id in an unambiguous encoding.
  fileprivate var identity: [UInt8] {
    var identity: [UInt8] = []
    for part in [productId, subProductId, id] {
      let bytes = Array(part.utf8)
      identity.putText(bytes.rawSpan)
    }
    return identity
  }
}
