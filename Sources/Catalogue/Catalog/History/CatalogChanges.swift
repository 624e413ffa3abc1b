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

  /// The changed codes of the table of codes, sorted by product, code and id in byte order. A code whose product, code
  /// and id are the same in both commits counts as changed; any other counts as added or removed.
  public internal(set) var codes: [CatalogChange<ProductCode>] = []

  /// Whether no product, no relation and no code differs between the two commits.
  public var isEmpty: Bool { products.isEmpty && relations.isEmpty && codes.isEmpty }

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
    changes.codes = differences.codes
    return changes
  }

  func productID(at row: RowID) throws(StoreError) -> [UInt8]? {
    try withProduct(row) { (view) throws(StoreError) in view.utf8.id.copied() }
  }

  static func relations(_ rows: [RowID], in store: Snapshot) throws(StoreError) -> [Relation] {
    var relations: [Relation] = []
    for row in rows {
      let scope = ScratchScope(store)
      defer { scope.end() }
      guard let record = try store.record(row, table: CatalogSchema.relations) else { continue }
      relations.append(try Relation(record))
      try store.confirm(row)
    }
    return relations
  }

  static func codes(_ rows: [RowID], in store: Snapshot) throws(StoreError) -> [ProductCode] {
    var codes: [ProductCode] = []
    for row in rows {
      let scope = ScratchScope(store)
      defer { scope.end() }
      guard let record = try store.record(row, table: CatalogSchema.codes) else { continue }
      try CodeView(copy record).append(to: &codes)
      try store.confirm(row)
    }
    return codes
  }

  /// Pairs codes that have the same product, code and id. If several do, equal ones are paired first.
  static func changes(added: [ProductCode], removed: [ProductCode]) -> [CatalogChange<ProductCode>] {
    changes(
      added: added, removed: removed, content: \.content, identity: \.identity, precedes: ProductCode.precedes)
  }

  /// Pairs relations that have the same three ids. If several do, equal ones are paired first.
  static func changes(added: [Relation], removed: [Relation]) -> [CatalogChange<Relation>] {
    changes(added: added, removed: removed, content: \.content, identity: \.identity, precedes: Relation.precedes)
  }

  private static func changes<Row: Sendable>(
    added: [Row], removed: [Row], content: (Row) -> [UInt8], identity: (Row) -> [UInt8],
    precedes: (Row, Row) -> Bool
  ) -> [CatalogChange<Row>] {
    var unmatched: [[UInt8]: [Row]] = [:]
    for row in added { unmatched[content(row), default: []].append(row) }
    var removedByIdentity: [[UInt8]: [Row]] = [:]
    for row in removed {
      if unmatched[content(row)]?.popLast() == nil { removedByIdentity[identity(row), default: []].append(row) }
    }
    var addedByIdentity: [[UInt8]: [Row]] = [:]
    for row in unmatched.values.joined() { addedByIdentity[identity(row), default: []].append(row) }
    func sorted(_ rows: [Row]?) -> [Row] {
      (rows ?? []).sorted { content($0).lexicographicallyPrecedes(content($1)) }
    }
    var changes: [CatalogChange<Row>] = []
    for identity in Set(removedByIdentity.keys).union(addedByIdentity.keys) {
      let before = sorted(removedByIdentity[identity])
      let after = sorted(addedByIdentity[identity])
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
      if precedes(x, y) { return true }
      return precedes(y, x) ? false : a.offset < b.offset
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
