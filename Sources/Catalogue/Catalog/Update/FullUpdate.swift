public import CatalogRows
import LogStore

/// A full update in progress. Each row is written into a new generation as it arrives.
///
/// Rows with `delFlag` are stored as the server sent them. If several products have the same id, the last one wins. The
/// old catalogue remains current until ``commit(cursor:defaulted:)`` returns. It also remains if the update is refused
/// or cancelled.
public struct FullUpdate: RowSink {
  private let writer: StoreWriter
  private let transaction: Transaction
  private let lossLimit: LossLimit
  private var products = ProductEncoder()
  private var relations = RelationEncoder()
  private var codes = CodeEncoder()
  private var counts = UpdateCounts()
  private var tally: RowTally

  init(_ writer: StoreWriter, _ transaction: Transaction, _ lossLimit: LossLimit, _ rowLimits: RowLimits?) {
    self.writer = writer
    self.transaction = transaction
    self.lossLimit = lossLimit
    tally = RowTally(limits: rowLimits)
  }

  /// Writes a product into the new generation. A row that exceeds a limit of the format is skipped and counted.
  ///
  /// - Throws: `StoreError.tooLarge` for such a row if the update has no ``RowLimits``; any other `StoreError` if the
  ///   row cannot be written.
  public mutating func product(_ row: borrowing ProductRow) throws {
    guard try tally.accepts(row) else { return }
    try products.put(row, into: transaction)
  }

  /// Writes a relation into the new generation. A row that exceeds a limit of the format is skipped and counted.
  ///
  /// - Throws: `StoreError.tooLarge` for such a row if the update has no ``RowLimits``; any other `StoreError` if the
  ///   row cannot be written.
  public mutating func relation(_ row: borrowing RelationRow) throws {
    guard try tally.accepts(row) else { return }
    try relations.put(row, into: transaction)
    counts.relationsWritten += 1
  }

  /// Writes a code into the new generation. A row that exceeds a limit of the format is skipped and counted. Codes of one
  /// product take less room if they follow each other.
  ///
  /// - Throws: `StoreError.tooLarge` for such a row if the update has no ``RowLimits``; any other `StoreError` if the
  ///   row cannot be written.
  public mutating func code(_ row: borrowing CodeRow) throws {
    guard try tally.accepts(row) else { return }
    try codes.put(row, into: transaction)
  }

  /// Checks whether the rows may be committed, as far as this can be known before the commit.
  ///
  /// - Throws: `CatalogError.tooManySkipped`.
  package func checkRows() throws(CatalogError) { try tally.checkSkipped() }

  /// Replaces the old catalogue and its cursor with the new ones.
  ///
  /// If the update replaces a catalogue that cannot be read, the old catalogue is the kept one from before the damage.
  ///
  /// - Parameters:
  ///   - cursor: The cursor to send with the next request.
  ///   - defaulted: The number of fields of the payload that had the wrong type. It is stored with the commit.
  /// - Returns: The changes, which are durable.
  /// - Throws: `CatalogError.wouldLose`, `.wouldLoseCodes`, `.wouldCollapse` or `.tooManySkipped` if a lossLimit refuses the update;
  ///   `StoreError`. The old catalogue then remains.
  /// - Complexity: Sorts the index entries and looks up every old product in the new catalogue.
  public consuming func commit(cursor: String, defaulted: Int = 0) throws -> UpdateReport {
    try commit(cursor: cursor, defaulted: defaulted, publication: nil) { _ in }
  }

  /// Replaces the old catalogue by one that was published.
  ///
  /// - Parameters:
  ///   - publication: What the catalogue knows of the publication from now on; `nil` to keep what it knows.
  ///   - accept: Examines the new catalogue, which nobody else sees yet, and rejects it by throwing.
  /// - Throws: The errors of ``commit(cursor:defaulted:)`` and of `accept`. The old catalogue then remains.
  package consuming func commit(
    cursor: String, defaulted: Int = 0, publication: PublicationMark?, _ accept: (CatalogSnapshot) throws -> Void
  ) throws -> UpdateReport {
    let old = try CatalogSnapshot(writer.snapshot ?? writer.snapshotBeforeDamage())
    do { try codes.finish(into: transaction) } catch {
      writer.discard(transaction)
      throw error
    }
    counts.defaulted = defaulted
    counts.codesWritten = codes.count
    var state = CatalogState()
    state.cursor = cursor
    state.mode = .full
    state.counts = counts
    state.publication = publication ?? old.publication?.withoutSum
    state.hasExtra = products.hasExtra
    state.codeCount = codes.count
    transaction.state = state.encoded
    do { try tally.checkSkipped() } catch {
      writer.discard(transaction)
      throw error
    }
    let (lossLimit, tally) = (lossLimit, tally)
    var notices = UpdateNotices()
    let new = try writer.commit(transaction) { candidate in
      let candidate = try CatalogSnapshot(candidate)
      state.counts.productsUpserted = candidate.productCount
      notices = try tally.notices(distinct: candidate.productCount)
      try accept(candidate)
      do {
        let (lost, all) = try Self.lostProducts(from: old, in: candidate)
        state.counts.productsDeleted = lost
        state.counts.relationsDeleted = try Self.lostRelations(from: old, in: candidate)
        try lossLimit.check(lost: lost, of: all)
        let lostCodes = try Self.lostCodes(from: old, in: candidate)
        state.counts.codesDeleted = lostCodes
        try lossLimit.check(lostCodes: lostCodes, of: old.codeCount)
      } catch let error as StoreError {
        // This update replaces a catalogue that cannot be read.
        guard writer.replacesDamaged, error.isDamage else { throw error }
        try writer.markDamaged()
      }
    }
    return UpdateReport(state, new, notices)
  }

  /// Cancels the update. Nothing is changed.
  public consuming func cancel() { writer.discard(transaction) }

  /// Returns how many products of `old` a scan can match, and how many of them it can no longer match in `new`, because
  /// they are missing or the server sent them as deleted.
  private static func lostProducts(
    from old: CatalogSnapshot, in new: CatalogSnapshot
  ) throws -> (lost: Int, all: Int) {
    var lost = 0
    var all = 0
    try old.forEachProduct { (view) throws(StoreError) in
      if view.delFlag != 0 { return }
      all += 1
      if try !new.isMatchable(view.utf8.id) { lost += 1 }
    }
    return (lost, all)
  }

  /// Returns how many codes of `old` no longer belong to their product in `new`. One with another quantity, unit or kind
  /// still does.
  private static func lostCodes(from old: CatalogSnapshot, in new: CatalogSnapshot) throws -> Int {
    var lost = 0
    if !old.hasCodeTable { return lost }
    guard let store = old.store else { return lost }
    var codes: [ProductCode] = []
    try store.scan(CatalogSchema.codes) { (record) throws(StoreError) in
      // Nearly all records are as they were.
      if try new.hasCodeRecord(like: record) { return }
      codes.removeAll(keepingCapacity: true)
      try old.append(record, to: &codes)
      guard let product = codes.first?.productId else { return }
      var texts: Set<[UInt8]> = []
      for code in try new.codes(ofProduct: product) { texts.insert(CodeKey.of(code.code)) }
      lost += codes.count { !texts.contains(CodeKey.of($0.code)) }
    }
    return lost
  }

  /// Returns how many relations of `old` have no equal in `new`.
  private static func lostRelations(from old: CatalogSnapshot, in new: CatalogSnapshot) throws -> Int {
    var lost = 0
    // The relations of one set are usually adjacent. Looking them up once per run keeps a large set affordable.
    var set: String?
    var remaining: Set<Relation> = []
    try old.forEachRelation { (relation) throws(StoreError) in
      if set.map(relation.productId.isBytewiseEqual) != true {
        set = relation.productId
        remaining = Set(try new.relations(ofSet: relation.productId))
      }
      if !remaining.contains(relation) { lost += 1 }
    }
    return lost
  }
}
