import Bytes
public import LogStore

/// A commit with what the catalogue keeps beside it.
public struct CatalogCommit: Sendable {
  public let commit: CommitRecord
  public let state: CatalogState
  /// Products at that commit.
  public let products: Int
  /// Whether it belongs to the generation that the last full update replaced.
  public internal(set) var isPrevious = false
}

/// Sets, and components that are wanted but not there.
public struct SetStatistics: Sendable, Equatable {
  /// Products that have relations.
  public var sets = 0
  /// Products that relations ask for and that are missing: the catalogue lacks them, or the server sent them as deleted.
  public var danglingComponents = 0
}

extension CatalogSnapshot {
  /// This commit and those before it in this generation, newest first.
  ///
  /// - Complexity: two reads for each commit.
  public func history() throws -> [CatalogCommit] {
    guard let store else { return [] }
    return try store.history().map { commit in
      guard let state = CatalogState(commit.state) else { throw CatalogError.unknownState(path: store.path) }
      let products = CatalogSchema.products
      return CatalogCommit(
        commit: commit, state: state,
        products: products < commit.rowCounts.count ? commit.rowCounts[products] : 0)
    }
  }

  /// Counts sets and dangling components. Complexity: reads every relation.
  public func setStatistics() throws(StoreError) -> SetStatistics {
    var sets: Set<ProductID> = []
    var components: Set<ProductID> = []
    try forEachRelation { relation in
      sets.insert(ProductID(relation.productId))
      components.insert(ProductID(relation.subProductId))
    }
    var statistics = SetStatistics()
    statistics.sets = sets.count
    for component in components where try !offers(component.text) {
      statistics.danglingComponents += 1
    }
    return statistics
  }

  /// Counts the products that the server sent as deleted: they stay in the catalogue, and no scan finds them.
  ///
  /// - Complexity: reads every product.
  public func deletedProductCount() throws(StoreError) -> Int {
    var count = 0
    try forEachProduct { view in if view.delFlag != 0 { count += 1 } }
    return count
  }

  /// The rows of all products, in the bytewise order of their ids.
  ///
  /// - Complexity: reads the whole file once, and sorts 20 bytes for each product.
  public func productRowsByID() throws(StoreError) -> [RowID] {
    var rows: [(prefix: (UInt64, UInt64), id: RowID)] = []
    rows.reserveCapacity(productCount)
    try forEachProduct { view in
      rows.append(((view.utf8.id.orderedWord(at: 0), view.utf8.id.orderedWord(at: 8)), view.rowID))
    }
    var failure: StoreError?
    // Ids that begin with the same 16 bytes are compared whole.
    rows.sort { a, b in
      if a.prefix != b.prefix { return a.prefix < b.prefix }
      do { return try (productID(at: a.id) ?? []).lexicographicallyPrecedes(productID(at: b.id) ?? []) } catch {
        failure = error as? StoreError
        return false
      }
    }
    if let failure { throw failure }
    return rows.map(\.id)
  }
}

extension RawSpan {
  /// Eight bytes from `offset` on as a number that orders as they do; padded with zeros.
  fileprivate func orderedWord(at offset: Int) -> UInt64 {
    var word: UInt64 = 0
    for index in offset..<(offset + 8) { word = word << 8 | (index < byteCount ? UInt64(u8(at: index)) : 0) }
    return word
  }
}
