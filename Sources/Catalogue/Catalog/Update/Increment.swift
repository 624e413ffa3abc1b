import Bytes
public import CatalogRows
import LogStore

/// An increment in progress. Its rows are kept in memory until the payload is complete and are then merged in one
/// commit.
///
/// It uses memory for the rows, up to ``byteLimit``, and for their ids. Rows beyond the limit are refused as they
/// arrive.
///
/// Upserts are applied first and deletions last: a product that a payload both upserts and deletes is deleted. The
/// payload's relations replace those of an upserted product, and so do its codes, unless ``keepsCodes`` says otherwise;
/// relations and codes of a deleted product are deleted with it.
public struct Increment: RowSink {
  /// The writer; `nil` while no writer is open.
  private let writer: StoreWriter?
  private let threshold: Int?
  private var products = RowBuffer()
  private var relations = RowBuffer()
  private var codes = RowBuffer()
  /// Whether upserted products keep the codes that they have. It is so until the first code arrives: a payload without a
  /// list of codes says nothing about them. Set it to `false` for a payload with an empty list.
  public var keepsCodes = true
  /// The ids of the payload's products and what to do with each.
  private var ids = ByteStringTable<PayloadProduct>(
    seed: HashSeed(.random(in: .min ... .max), .random(in: .min ... .max)))
  /// The id's index in `ids` for each kept product.
  private var idOfRow: [UInt32] = []
  /// Whether the last row of a product decides, and not a deletion whatever comes after it.
  var lastRowDecides = false
  /// The number of ids that are upserted or deleted.
  private var changedCount = 0
  /// The error for which a row was refused.
  private var refusal: StoreError?
  private var tally: RowTally

  /// The maximum number of rows of both lists together, regardless of the threshold.
  public static let rowLimit = 2_000_000
  /// The maximum size of the kept rows in bytes.
  public static let byteLimit = 512 << 20

  var rowLimit = Self.rowLimit
  var byteLimit = Self.byteLimit

  /// Starts an increment before the catalogue is opened for writing, so that a slow server does not keep the writer's
  /// lock. Merge it with `CatalogWriter.commit(_:cursor:defaulted:skipsUnchanged:)`.
  ///
  /// - Parameters:
  ///   - threshold: The number of rows in one list that makes a full update due; `nil` for no limit.
  ///   - rowLimits: The limits on rows that are skipped or collapse. With `nil`, a row that exceeds a limit of the
  ///     format is an error, and any number of products may have the same id.
  public init(threshold: Int? = nil, rowLimits: RowLimits? = nil) {
    self.init(nil, threshold: threshold, rowLimits)
  }

  /// - Parameter refusal: The reason why nothing will be committed, if it is known from the start.
  init(_ writer: StoreWriter?, threshold: Int?, _ rowLimits: RowLimits? = nil, refusal: StoreError? = nil) {
    self.writer = writer
    self.threshold = threshold
    self.refusal = refusal
    tally = RowTally(limits: rowLimits)
  }

  /// Adds a product.
  ///
  /// - Throws: `CatalogError.needsFullUpdate` when the list reaches the threshold, `.incrementTooLarge`; without a row
  ///   limits, `StoreError.tooLarge` for a row that exceeds a limit of the format.
  public mutating func product(_ row: borrowing ProductRow) throws {
    let isTaken: Bool
    do throws(StoreError) { isTaken = try tally.accepts(row, needingIDOnly: row.delFlag != 0) } catch {
      throw refused(error)
    }
    guard isTaken else { return try check(tally.products) }
    let id = ids.number(of: row.texts.raw(ProductText.id.rawValue), new: PayloadProduct())
    if !ids[id].isChanged { changedCount += 1 }
    ids[id].addRow(products.count, isDeletion: row.delFlag != 0, decides: lastRowDecides)
    idOfRow.append(UInt32(id))
    products.append(row)
    try check(tally.products)
    try checkSize()
  }

  /// Adds a relation.
  ///
  /// - Throws: The errors of ``product(_:)``.
  public mutating func relation(_ row: borrowing RelationRow) throws {
    let isTaken: Bool
    do throws(StoreError) { isTaken = try tally.accepts(row) } catch { throw refused(error) }
    if isTaken { relations.append(row) }
    try check(tally.relations)
    try checkSize()
  }

  /// Adds a code. The codes of an upserted product are then those of the payload.
  ///
  /// - Throws: The errors of ``product(_:)``.
  public mutating func code(_ row: borrowing CodeRow) throws {
    let isTaken: Bool
    do throws(StoreError) { isTaken = try tally.accepts(row) } catch { throw refused(error) }
    keepsCodes = false
    if isTaken { codes.append(row) }
    try check(tally.codes)
    try checkSize()
  }

  /// Records the error. A row is missing, so this increment must not be committed.
  private mutating func refused(_ error: StoreError) -> StoreError {
    refusal = error
    return error
  }

  /// Takes the rows of a product back: the product is neither upserted nor deleted.
  mutating func withdraw(_ id: RawSpan) {
    guard let number = ids.find(id), ids[number].isChanged else { return }
    ids[number] = PayloadProduct()
    changedCount -= 1
  }

  /// Whether no product is upserted or deleted, and there are no relations and no codes.
  var isEmpty: Bool { changedCount == 0 && relations.isEmpty && codes.isEmpty }

  /// Whether a product is upserted or deleted.
  func contains(_ id: RawSpan) -> Bool { ids.find(id).map { ids[$0].isChanged } ?? false }

  /// Whether a product is deleted.
  func deletes(_ id: RawSpan) -> Bool { ids.find(id).map { ids[$0].isDeleted } ?? false }

  /// The ids of the products that are upserted or deleted.
  var productIDs: [ProductID] {
    (0..<ids.count).filter { ids[$0].isChanged }.map { ProductID(ids.text($0).string) }
  }

  private func checkSize() throws(CatalogError) {
    let byteCount = products.byteCount + relations.byteCount + codes.byteCount
    if products.count + relations.count + codes.count > rowLimit || byteCount > byteLimit {
      throw .incrementTooLarge(rowLimit: rowLimit, byteLimit: byteLimit)
    }
  }

  private func check(_ count: Int) throws(CatalogError) {
    if let threshold, count > 0, count >= threshold {
      throw .needsFullUpdate(rows: count, threshold: threshold)
    }
  }

  /// Checks whether the rows may be committed, as far as this can be known before the commit.
  ///
  /// - Throws: `CatalogError.tooManySkipped`, `.wouldCollapse`.
  package func checkRows() throws(CatalogError) {
    try tally.checkSkipped()
    _ = try tally.notices(distinct: ids.count)
  }

  /// Merges the rows and moves the cursor in one commit.
  ///
  /// - Parameters:
  ///   - cursor: The cursor to send with the next request.
  ///   - defaulted: The number of fields of the payload that had the wrong type. It is stored with the commit.
  ///   - skipsUnchanged: Whether to skip the commit if there are no rows and the cursor is unchanged. A client that
  ///     polls every minute should not write every minute. The report then refers to the last commit.
  /// - Returns: The changes, which are durable.
  /// - Throws: `CatalogError.wouldCollapse` or `.tooManySkipped` if the row limits refuse the increment; `StoreError`;
  ///   the error for which a row was refused. Nothing was changed in these cases.
  /// - Precondition: The increment was started by a writer.
  /// - Complexity: Proportional to the rows of the payload, regardless of the size of the catalogue.
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
    try check(max(tally.products, tally.relations, tally.codes))
    try checkSize()
    try tally.checkSkipped()
    var notices = try tally.notices(distinct: ids.count)
    var state = CatalogState()
    state.cursor = cursor
    state.mode = .incremental
    if skipsUnchanged, isEmpty, let last = writer.snapshot,
      try CatalogSnapshot(last).cursor == cursor
    {
      return UpdateReport(state, last, notices)
    }
    let transaction = try writer.begin()
    do {
      var encoder = ProductEncoder()
      let old = try CatalogSnapshot(writer.snapshot)
      state.counts = try merge(into: transaction, &encoder, old)
      state.publication = old.publication?.withoutSum
      state.hasExtra = encoder.hasExtra || old.state.hasExtra
      state.codeCount = max(0, old.codeCount + state.counts.codesWritten - state.counts.codesDeleted)
      state.counts.defaulted = defaulted
      transaction.state = state.encoded
    } catch {
      writer.discard(transaction)
      throw error
    }
    let old = writer.snapshot
    let new = try writer.commit(transaction)
    // The commit is durable. If something cannot be read now, the next command reports it as damage.
    if let old { notices.brokenSets = (try? brokenSets(since: CatalogSnapshot(old), in: CatalogSnapshot(new))) ?? [] }
    return UpdateReport(state, new, notices)
  }

  /// Returns the sets of `new` that lack a component which this increment deleted from `old`.
  private func brokenSets(since old: CatalogSnapshot, in new: CatalogSnapshot) throws(StoreError) -> [BrokenSet] {
    var missing: [ProductID: [String]] = [:]
    for id in 0..<ids.count where ids[id].isDeleted {
      let component = ids.text(id).string
      let sets = try new.sets(with: component)
      if sets.isEmpty { continue }
      guard try old.isMatchable(component) else { continue }
      for set in sets {
        if try new.isMatchable(set) { missing[ProductID(set), default: []].append(component) }
      }
    }
    return missing.sorted { $0.key < $1.key }.map { set, components in
      BrokenSet(id: set.text, missing: components.sorted { $0.isBytewiseLess(than: $1) })
    }
  }

  private func merge(
    into transaction: Transaction, _ productEncoder: inout ProductEncoder, _ old: CatalogSnapshot
  ) throws(StoreError) -> UpdateCounts {
    var counts = UpdateCounts()
    try deleteOld(in: transaction, &counts, old)
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
    var codeEncoder = CodeEncoder()
    try codes.forEachCode { (row) throws(StoreError) in
      guard let id = ids.find(row.texts.raw(CodeText.productId.rawValue)), ids[id].isUpserted else {
        counts.codesIgnored += 1
        return
      }
      try codeEncoder.put(row, into: transaction)
    }
    try codeEncoder.finish(into: transaction)
    counts.codesWritten = codeEncoder.count
    return counts
  }

  /// Deletes the old rows of the payload's products, except rows that will be replaced. Lookups are batched so that
  /// their cache misses overlap.
  private func deleteOld(
    in transaction: Transaction, _ counts: inout UpdateCounts, _ old: CatalogSnapshot
  ) throws(StoreError) {
    var upserted = KeyBatch()
    var deleted = KeyBatch()
    for id in 0..<ids.count {
      if ids[id].isUpserted { upserted.append(ids.text(id)) }
      if ids[id].isDeleted { deleted.append(ids.text(id)) }
    }
    counts.relationsDeleted += try transaction.delete(CatalogSchema.relationBySet, upserted)
    // These rows are replaced when the new ones are put.
    transaction.prefetch(CatalogSchema.productById, upserted)
    counts.relationsDeleted += try transaction.delete(CatalogSchema.relationBySet, deleted)
    counts.productsDeleted += try transaction.delete(CatalogSchema.productById, deleted)
    guard old.hasCodeTable else { return }
    for keys in keepsCodes ? [deleted] : [upserted, deleted] {
      counts.codesDeleted += try old.codeCount(ofProducts: keys)
      try transaction.delete(CatalogSchema.codesByProduct, keys)
    }
  }
}

/// The rows of an increment for one product.
private struct PayloadProduct: BitwiseCopyable {
  private var lastRow: UInt32 = 0
  private(set) var isDeleted = false

  /// The index of the last row that upserts the product; -1 if there is no such row.
  var lastUpsert: Int { Int(lastRow) - 1 }
  /// Whether the product is upserted and not deleted. Deletions are applied last, so a deletion overrides every upsert.
  var isUpserted: Bool { lastRow != 0 && !isDeleted }
  /// Whether the product is upserted or deleted.
  var isChanged: Bool { lastRow != 0 || isDeleted }

  /// - Parameter decides: Whether an upsert overrides a deletion before it.
  mutating func addRow(_ row: Int, isDeletion: Bool, decides: Bool) {
    if isDeletion {
      isDeleted = true
    } else {
      lastRow = UInt32(row) + 1
      if decides { isDeleted = false }
    }
  }
}
