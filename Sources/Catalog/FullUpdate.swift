public import CatalogRows
import LogStore

/// A full update in progress: every row goes into a new generation as it comes.
///
/// Rows with `delFlag` are stored as the server sent them. Of several products with one id the last counts. Until
/// ``commit(cursor:defaulted:)`` returns the old catalogue serves, and it stays if the update is refused or given up.
public struct FullUpdate: RowSink {
  private let writer: StoreWriter
  private let transaction: Transaction
  private let gate: LossGate
  private var products = ProductEncoder()
  private var relations = RelationEncoder()
  private var counts = UpdateCounts()
  private var tally: RowTally

  init(_ writer: StoreWriter, _ transaction: Transaction, _ gate: LossGate, _ rowGate: RowGate?) {
    self.writer = writer
    self.transaction = transaction
    self.gate = gate
    tally = RowTally(gate: rowGate)
  }

  public mutating func product(_ row: borrowing ProductRow) throws {
    guard try tally.takes(row) else { return }
    try products.put(row, into: transaction)
  }

  public mutating func relation(_ row: borrowing RelationRow) throws {
    guard try tally.takes(row) else { return }
    try relations.put(row, into: transaction)
    counts.relationsWritten += 1
  }

  /// Whether the rows may be committed, as far as is known before that.
  ///
  /// - Throws: `CatalogError.tooManySkipped`.
  public func checkRows() throws(CatalogError) { try tally.checkSkipped() }

  /// Puts the new catalogue in the place of the old one, together with the cursor.
  ///
  /// - Parameters:
  ///   - cursor: what the next request sends.
  ///   - defaulted: fields of the payload that held another type; kept with the commit.
  /// - Returns: what was done; it is durable.
  /// - Throws: `CatalogError.wouldLose`, `.wouldCollapse` or `.tooManySkipped` if a gate refuses; `StoreError`. The old
  ///   catalogue then stays.
  ///
  /// The old catalogue is the one before the damage where the update takes the place of one that cannot be read, and such
  /// a one is kept.
  ///
  /// - Complexity: sorts the index entries, and looks up every old product in the new catalogue.
  public consuming func commit(cursor: String, defaulted: Int = 0) throws -> UpdateReport {
    let old = try CatalogSnapshot(writer.snapshot ?? writer.snapshotBeforeDamage())
    counts.defaulted = defaulted
    var state = CatalogState()
    state.cursor = cursor
    state.mode = .full
    state.counts = counts
    transaction.state = state.encoded
    do { try tally.checkSkipped() } catch {
      writer.discard(transaction)
      throw error
    }
    let (gate, tally) = (gate, tally)
    var notices = UpdateNotices()
    let new = try writer.commit(transaction) { candidate in
      let candidate = try CatalogSnapshot(candidate)
      state.counts.productsUpserted = candidate.productCount
      notices = try tally.notices(distinct: candidate.productCount)
      do {
        let (lost, all) = try Self.lostProducts(from: old, in: candidate)
        state.counts.productsDeleted = lost
        state.counts.relationsDeleted = try Self.lostRelations(from: old, in: candidate)
        try gate.check(lost: lost, of: all)
      } catch let error as StoreError {
        // What cannot be read is what this update is to take the place of.
        guard writer.replacesDamaged, error.isDamage else { throw error }
        try writer.noteDamage()
      }
    }
    return UpdateReport(state, new, notices)
  }

  /// Gives the update up; nothing changed.
  public consuming func cancel() { writer.discard(transaction) }

  /// How many products of `old` a scan can find, and how many of them it finds no more in `new`: they are not there,
  /// or the server sent them as deleted.
  private static func lostProducts(
    from old: CatalogSnapshot, in new: CatalogSnapshot
  ) throws -> (lost: Int, all: Int) {
    var lost = 0
    var all = 0
    try old.forEachProduct { (view) throws(StoreError) in
      if view.delFlag != 0 { return }
      all += 1
      if try !new.offers(view.utf8.id) { lost += 1 }
    }
    return (lost, all)
  }

  /// How many relations of `old` have no equal in `new`.
  private static func lostRelations(from old: CatalogSnapshot, in new: CatalogSnapshot) throws -> Int {
    var lost = 0
    // The relations of one set follow each other as a rule. Asking for them once keeps a large set affordable.
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
