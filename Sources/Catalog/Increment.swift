public import CatalogRows
import LogStore
import RecordFormat

/// An increment in progress: its rows are kept until the payload is whole, then merged in one commit.
///
/// Upserts first, deletions last: a product that one payload both upserts and deletes is gone. An upserted product's
/// relations are replaced by those of the payload; a deleted product's relations go with it.
public struct Increment: RowSink {
  private let writer: StoreWriter
  private let threshold: Int?
  private var products: [ProductRow] = []
  private var relations: [RelationRow] = []

  init(_ writer: StoreWriter, threshold: Int?) {
    self.writer = writer
    self.threshold = threshold
  }

  /// - Throws: `CatalogError.needsFullUpdate` when the list reaches the threshold.
  public mutating func product(_ row: borrowing ProductRow) throws {
    products.append(copy row)
    try check(products.count)
  }

  /// - Throws: `CatalogError.needsFullUpdate` when the list reaches the threshold.
  public mutating func relation(_ row: borrowing RelationRow) throws {
    relations.append(copy row)
    try check(relations.count)
  }

  private func check(_ count: Int) throws(CatalogError) {
    if let threshold, count > 0, count >= threshold {
      throw .needsFullUpdate(rows: count, threshold: threshold)
    }
  }

  /// Merges the rows, and moves the cursor, in one commit.
  ///
  /// - Parameters:
  ///   - defaulted: fields of the payload that held another type; kept with the commit.
  ///   - skipsUnchanged: makes no commit where there are no rows and the cursor stays: a client that asks every
  ///     minute should not write every minute. The report then names the last commit.
  /// - Returns: what was done; it is durable.
  /// - Throws: `StoreError`; `CatalogError.needsFullUpdate` if a row was refused. Nothing changed then.
  /// - Complexity: in the payload's rows, whatever the size of the catalogue.
  public consuming func commit(
    cursor: String, defaulted: Int = 0, skipsUnchanged: Bool = false
  ) throws -> UpdateReport {
    try check(max(products.count, relations.count))
    var state = CatalogState()
    state.cursor = cursor
    state.mode = .incremental
    if skipsUnchanged, products.isEmpty, relations.isEmpty, let last = writer.snapshot,
      try CatalogSnapshot(last).cursor == cursor
    {
      return UpdateReport(state, last)
    }
    let transaction = try writer.begin()
    do {
      state.counts = try merge(into: transaction)
      state.counts.defaulted = defaulted
      transaction.state = state.encoded
    } catch {
      writer.discard(transaction)
      throw error
    }
    return UpdateReport(state, try writer.commit(transaction))
  }

  private func merge(into transaction: Transaction) throws(StoreError) -> UpdateCounts {
    var counts = UpdateCounts()
    var deleted: Set<[UInt8]> = []
    var upserted: [[UInt8]: Int] = [:]
    for (index, row) in products.enumerated() {
      let id = row.texts.raw(ProductText.id.rawValue).copied()
      if row.delFlag == 0 { upserted[id] = index } else { deleted.insert(id) }
    }
    for id in deleted { upserted[id] = nil }
    try put(upserted, into: transaction, &counts)
    for row in relations {
      if upserted[row.texts.raw(RelationText.productId.rawValue).copied()] == nil {
        counts.relationsIgnored += 1
      }
    }
    for id in deleted {
      counts.productsDeleted += try transaction.delete(CatalogSchema.productById, id.rawSpan)
      counts.relationsDeleted += try transaction.delete(CatalogSchema.relationBySet, id.rawSpan)
    }
    return counts
  }

  /// Puts the last row of each upserted product, and the relations that belong to one.
  private func put(
    _ upserted: [[UInt8]: Int], into transaction: Transaction, _ counts: inout UpdateCounts
  ) throws(StoreError) {
    var productEncoder = ProductEncoder()
    for (index, row) in products.enumerated() {
      let id = row.texts.raw(ProductText.id.rawValue).copied()
      guard upserted[id] == index else { continue }
      counts.relationsDeleted += try transaction.delete(CatalogSchema.relationBySet, id.rawSpan)
      try productEncoder.put(row, into: transaction)
      counts.productsUpserted += 1
    }
    var relationEncoder = RelationEncoder()
    for row in relations where upserted[row.texts.raw(RelationText.productId.rawValue).copied()] != nil {
      try relationEncoder.put(row, into: transaction)
      counts.relationsWritten += 1
    }
  }
}
