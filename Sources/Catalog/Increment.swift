import Bytes
public import CatalogRows
import LogStore

/// An increment in progress: its rows are kept until the payload is whole, then merged in one commit.
///
/// Memory: the rows' bytes, up to ``byteLimit``, and their ids. What is more is refused on the way.
///
/// Upserts first, deletions last: a product that one payload both upserts and deletes is gone. An upserted product's
/// relations are replaced by those of the payload; a deleted product's relations go with it.
public struct Increment: RowSink {
  /// `nil` while nobody holds the writer's lock.
  private let writer: StoreWriter?
  private let threshold: Int?
  private var products = KeptRows()
  private var relations = KeptRows()
  /// The ids of the products, and what becomes of each.
  private var ids = ByteStringTable<PayloadProduct>(
    seed: HashSeed(.random(in: .min ... .max), .random(in: .min ... .max)))
  /// For each kept product the number of its id.
  private var idOfRow: [UInt32] = []
  /// Why a row was not kept.
  private var refusal: StoreError?
  private var tally: RowTally

  /// Rows of both lists that an increment takes, whatever the threshold.
  public static let rowLimit = 2_000_000
  /// Bytes of rows that an increment takes.
  public static let byteLimit = 512 << 20

  var rowLimit = Self.rowLimit
  var byteLimit = Self.byteLimit

  /// Begins an increment whose rows come before the catalogue is opened for writing: nobody waits for a slow server.
  /// `CatalogWriter.commit(_:cursor:defaulted:skipsUnchanged:)` merges it.
  ///
  /// - Parameters:
  ///   - threshold: This many rows in one list call for a full update; `nil` for no limit.
  ///   - rowGate: How many rows may be skipped or collapse. `nil` makes a row that exceeds a limit an error, and
  ///     accepts any number of products with one id.
  public init(threshold: Int? = nil, rowGate: RowGate? = nil) {
    self.init(nil, threshold: threshold, rowGate)
  }

  /// - Parameter refusal: why nothing will be committed, if that is known from the beginning.
  init(_ writer: StoreWriter?, threshold: Int?, _ rowGate: RowGate? = nil, refusal: StoreError? = nil) {
    self.writer = writer
    self.threshold = threshold
    self.refusal = refusal
    tally = RowTally(gate: rowGate)
  }

  /// - Throws: `CatalogError.needsFullUpdate` when the list reaches the threshold, `.incrementTooLarge`;
  ///   `StoreError.tooLarge` for a row that the format has no room for, if there is no gate for rows.
  public mutating func product(_ row: borrowing ProductRow) throws {
    let isTaken: Bool
    do throws(StoreError) { isTaken = try tally.takes(row, needingIDOnly: row.delFlag != 0) } catch {
      throw refused(error)
    }
    guard isTaken else { return try check(tally.products) }
    let id = ids.number(of: row.texts.raw(ProductText.id.rawValue), new: PayloadProduct())
    ids[id].meet(products.count, isDeletion: row.delFlag != 0)
    idOfRow.append(UInt32(id))
    products.append(row)
    try check(tally.products)
    try checkSize()
  }

  /// - Throws: as ``product(_:)``.
  public mutating func relation(_ row: borrowing RelationRow) throws {
    let isTaken: Bool
    do throws(StoreError) { isTaken = try tally.takes(row) } catch { throw refused(error) }
    if isTaken { relations.append(row) }
    try check(tally.relations)
    try checkSize()
  }

  /// Remembers the error: a row is missing, so this increment must not be committed.
  private mutating func refused(_ error: StoreError) -> StoreError {
    refusal = error
    return error
  }

  private func checkSize() throws(CatalogError) {
    if products.count + relations.count > rowLimit || products.byteCount + relations.byteCount > byteLimit {
      throw .incrementTooLarge(rowLimit: rowLimit, byteLimit: byteLimit)
    }
  }

  private func check(_ count: Int) throws(CatalogError) {
    if let threshold, count > 0, count >= threshold {
      throw .needsFullUpdate(rows: count, threshold: threshold)
    }
  }

  /// Whether the rows may be committed, as far as is known before that.
  ///
  /// - Throws: `CatalogError.tooManySkipped`, `.wouldCollapse`.
  public func checkRows() throws(CatalogError) {
    try tally.checkSkipped()
    _ = try tally.notices(distinct: ids.count)
  }

  /// Merges the rows, and moves the cursor, in one commit.
  ///
  /// - Parameters:
  ///   - cursor: what the next request sends.
  ///   - defaulted: fields of the payload that held another type; kept with the commit.
  ///   - skipsUnchanged: makes no commit where there are no rows and the cursor stays: a client that asks every
  ///     minute should not write every minute. The report then names the last commit.
  /// - Returns: what was done; it is durable.
  /// - Throws: `CatalogError.wouldCollapse` or `.tooManySkipped` if the gate for rows refuses; `StoreError`; what
  ///   refused a row, if one was. Nothing changed then. It is a programmer's error to call this for an increment that
  ///   was begun without a writer.
  /// - Complexity: in the payload's rows, whatever the size of the catalogue.
  public consuming func commit(
    cursor: String, defaulted: Int = 0, skipsUnchanged: Bool = false
  ) throws -> UpdateReport {
    guard let writer else { preconditionFailure("an increment without a writer is committed by a CatalogWriter") }
    return try commit(to: writer, cursor: cursor, defaulted: defaulted, skipsUnchanged: skipsUnchanged)
  }

  consuming func commit(
    to writer: StoreWriter, cursor: String, defaulted: Int, skipsUnchanged: Bool
  ) throws -> UpdateReport {
    if let refusal { throw refusal }
    try check(max(tally.products, tally.relations))
    try checkSize()
    try tally.checkSkipped()
    var notices = try tally.notices(distinct: ids.count)
    var state = CatalogState()
    state.cursor = cursor
    state.mode = .incremental
    if skipsUnchanged, products.isEmpty, relations.isEmpty, let last = writer.snapshot,
      try CatalogSnapshot(last).cursor == cursor
    {
      return UpdateReport(state, last, notices)
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
    let old = writer.snapshot
    let new = try writer.commit(transaction)
    // The commit is durable. What cannot be read now, the next command reports as damage.
    if let old { notices.brokenSets = (try? brokenSets(since: CatalogSnapshot(old), in: CatalogSnapshot(new))) ?? [] }
    return UpdateReport(state, new, notices)
  }

  /// The sets of `new` that lack a component which this increment deleted from `old`.
  private func brokenSets(since old: CatalogSnapshot, in new: CatalogSnapshot) throws(StoreError) -> [BrokenSet] {
    var missing: [ProductID: [String]] = [:]
    for id in 0..<ids.count where !ids[id].isUpserted {
      let component = ids.text(id).string
      let sets = try new.sets(with: component)
      if sets.isEmpty { continue }
      guard try old.offers(component) else { continue }
      for set in sets {
        if try new.offers(set) { missing[ProductID(set), default: []].append(component) }
      }
    }
    return missing.sorted { $0.key < $1.key }.map { set, components in
      BrokenSet(id: set.text, missing: components.sorted { $0.isBytewiseLess(than: $1) })
    }
  }

  private func merge(into transaction: Transaction) throws(StoreError) -> UpdateCounts {
    var counts = UpdateCounts()
    try deleteOld(in: transaction, &counts)
    var productEncoder = ProductEncoder()
    try products.forEachProduct { (index, row) throws(StoreError) in
      let product = ids[Int(idOfRow[index])]
      guard product.isUpserted, product.lastUpsert == index else { return }
      try productEncoder.put(row, into: transaction)
      counts.productsUpserted += 1
    }
    var relationEncoder = RelationEncoder()
    try relations.forEachRelation { (row) throws(StoreError) in
      guard let id = ids.find(row.texts.raw(RelationText.productId.rawValue)), ids[id].isUpserted else {
        counts.relationsIgnored += 1
        return
      }
      try relationEncoder.put(row, into: transaction)
      counts.relationsWritten += 1
    }
    return counts
  }

  /// Deletes what the products of the payload had before, but for rows that will be replaced. Many lookups at once wait for
  /// memory together.
  private func deleteOld(in transaction: Transaction, _ counts: inout UpdateCounts) throws(StoreError) {
    var upserted = KeyBatch()
    var deleted = KeyBatch()
    for id in 0..<ids.count {
      if ids[id].isUpserted { upserted.append(ids.text(id)) } else { deleted.append(ids.text(id)) }
    }
    counts.relationsDeleted += try transaction.delete(CatalogSchema.relationBySet, upserted)
    // Those are replaced when their rows are put.
    transaction.expect(CatalogSchema.productById, upserted)
    counts.relationsDeleted += try transaction.delete(CatalogSchema.relationBySet, deleted)
    counts.productsDeleted += try transaction.delete(CatalogSchema.productById, deleted)
  }
}

/// What an increment says about one product.
private struct PayloadProduct: BitwiseCopyable {
  private var lastRow: UInt32 = 0
  private(set) var isDeleted = false

  /// The last of the rows that upsert it.
  var lastUpsert: Int { Int(lastRow) - 1 }
  /// Deletions come last: one wins over any upsert.
  var isUpserted: Bool { lastRow != 0 && !isDeleted }

  mutating func meet(_ row: Int, isDeletion: Bool) {
    if isDeletion { isDeleted = true } else { lastRow = UInt32(row) + 1 }
  }
}
