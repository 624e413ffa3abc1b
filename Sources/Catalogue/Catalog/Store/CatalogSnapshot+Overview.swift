import Bytes
public import LogStore

/// A commit and the state stored with it.
public struct CatalogCommit: Sendable {
  /// The commit in the log: its sequence number, generation, time and size.
  public let commit: CommitRecord
  /// The cursor, mode and counts that are stored with the commit.
  public let state: CatalogState
  /// The number of products at that commit.
  public let products: Int
  /// Whether the commit belongs to the generation that the last full update replaced.
  public internal(set) var isPrevious = false

  /// The numbers of rows that the commit changed, as far as they are stored with it.
  ///
  /// A full update and a repair write all rows, so their products are all those of the commit. What they left out is
  /// reported when they are made, and not stored.
  public var counts: ChangeCounts {
    let isComplete = state.mode == .full || state.mode == .repair
    return ChangeCounts(
      productsUpserted: isComplete ? products : state.counts.productsUpserted,
      productsDeleted: isComplete ? nil : state.counts.productsDeleted,
      relationsWritten: state.counts.relationsWritten,
      relationsDeleted: isComplete ? nil : state.counts.relationsDeleted,
      codesWritten: state.counts.codesWritten,
      codesDeleted: isComplete ? nil : state.counts.codesDeleted)
  }
}

/// The numbers of rows that one commit changed, or several together. A row that several commits changed counts each
/// time.
public struct ChangeCounts: Equatable, Sendable {
  /// The number of products that were added or replaced; `nil` if it is not known.
  public var productsUpserted: Int?
  /// The number of products that were deleted; `nil` if it is not known.
  public var productsDeleted: Int?
  /// The number of relations that were added; `nil` if it is not known.
  public var relationsWritten: Int?
  /// The number of relations that were removed; `nil` if it is not known.
  public var relationsDeleted: Int?

  /// The number of codes that were added; `nil` if it is not known.
  public var codesWritten: Int?
  /// The number of codes that were removed; `nil` if it is not known.
  public var codesDeleted: Int?

  /// Creates counts that are not known.
  public init() {}

  init(
    productsUpserted: Int?, productsDeleted: Int?, relationsWritten: Int?, relationsDeleted: Int?, codesWritten: Int?,
    codesDeleted: Int?
  ) {
    self.codesWritten = codesWritten
    self.codesDeleted = codesDeleted
    self.productsUpserted = productsUpserted
    self.productsDeleted = productsDeleted
    self.relationsWritten = relationsWritten
    self.relationsDeleted = relationsDeleted
  }

  /// The sum of two sets of counts. A sum is not known if one of its parts is not.
  static func + (a: ChangeCounts, b: ChangeCounts) -> ChangeCounts {
    func sum(_ a: Int?, _ b: Int?) -> Int? {
      guard let a, let b else { return nil }
      // Counts come from a file: a sum that is too large stays at the limit.
      let (sum, hasOverflowed) = a.addingReportingOverflow(b)
      return hasOverflowed ? .max : sum
    }
    return ChangeCounts(
      productsUpserted: sum(a.productsUpserted, b.productsUpserted),
      productsDeleted: sum(a.productsDeleted, b.productsDeleted),
      relationsWritten: sum(a.relationsWritten, b.relationsWritten),
      relationsDeleted: sum(a.relationsDeleted, b.relationsDeleted),
      codesWritten: sum(a.codesWritten, b.codesWritten),
      codesDeleted: sum(a.codesDeleted, b.codesDeleted))
  }
}

/// The number of sets and of missing components.
public struct SetStatistics: Sendable, Equatable {
  /// The number of products that have relations.
  public var sets = 0
  /// The number of products that relations need and that are missing: the catalogue lacks them, or the server sent them
  /// as deleted.
  public var danglingComponents = 0
}

extension CatalogSnapshot {
  /// Returns this commit and the earlier ones of this generation, newest first.
  ///
  /// - Complexity: Two reads for each commit.
  public func history() throws -> [CatalogCommit] { try store.map { try commits($0.history(), in: $0) } ?? [] }

  /// Returns this commit and the earlier ones of this generation whose number is greater than `sequence`, newest first.
  ///
  /// - Complexity: Two reads for each of them.
  public func history(after sequence: UInt64) throws -> [CatalogCommit] {
    try store.map { try commits($0.history(after: sequence), in: $0) } ?? []
  }

  private func commits(_ records: [CommitRecord], in store: Snapshot) throws -> [CatalogCommit] {
    try records.map { commit in
      guard let state = CatalogState(commit.state) else { throw CatalogError.unknownState(path: store.path) }
      let products = CatalogSchema.products
      return CatalogCommit(
        commit: commit, state: state,
        products: products < commit.rowCounts.count ? commit.rowCounts[products] : 0)
    }
  }

  /// Counts sets and dangling components.
  ///
  /// - Complexity: Reads every relation.
  public func setStatistics() throws(StoreError) -> SetStatistics {
    var sets: Set<ProductID> = []
    var components: Set<ProductID> = []
    try forEachRelation { relation in
      sets.insert(ProductID(relation.productId))
      components.insert(ProductID(relation.subProductId))
    }
    var statistics = SetStatistics()
    statistics.sets = sets.count
    for component in components where try !isMatchable(component.text) {
      statistics.danglingComponents += 1
    }
    return statistics
  }

  /// Counts the products that the server sent as deleted. They stay in the catalogue, but no scan matches them.
  ///
  /// - Complexity: Reads every product.
  package func deletedProductCount() throws(StoreError) -> Int {
    var count = 0
    try forEachProduct { view in if view.delFlag != 0 { count += 1 } }
    return count
  }

  /// Returns the row IDs of all products, sorted by product id in byte order.
  ///
  /// - Complexity: Reads the complete file once and sorts 20 bytes for each product.
  public func productRowsByID() throws(StoreError) -> [RowID] {
    var rows: [(prefix: (UInt64, UInt64), id: RowID)] = []
    rows.reserveCapacity(productCount)
    try forEachProduct { view in
      rows.append(((view.utf8.id.orderedWord(at: 0), view.utf8.id.orderedWord(at: 8)), view.rowID))
    }
    var failure: StoreError?
    // Ids that share their first 16 bytes are compared completely.
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
  /// Returns the eight bytes at `offset`, padded with zeros, as an integer with the same order.
  func orderedWord(at offset: Int) -> UInt64 {
    var word: UInt64 = 0
    for index in offset..<(offset + 8) { word = word << 8 | (index < byteCount ? UInt64(u8(at: index)) : 0) }
    return word
  }
}
