package import Catalog
package import CatalogRows
import LogStore
package import RowFiles

/// Rows on their way into a catalogue: a sink for the rows of any reader, and their commit, as a full update or as the
/// difference.
///
/// A second thread stores or compares the rows. Rows that are too large for the format are refused here, and not only
/// where they are stored: by then the reader is past the row that the fault has to name. Only a row of more than 64 KiB
/// is encoded for the check.
package struct CatalogImport: RowSink {
  private let writer: CatalogWriter
  private let lossLimit: LossLimit
  private var update: RowThread<FullUpdate>?
  private var merge: RowThread<CatalogMerge>?
  private var check = RowSizeCheck()
  /// Whether a product without an id is refused. The readers of a person's own files find such rows by themselves.
  package var requiresIDs = false
  /// The products that codes of a table of their own can belong to; `nil` if codes name products by id, and are kept
  /// whatever products there are.
  package private(set) var join: CodeJoin?
  private var code = CodeRow()
  /// Whether the codes that come now are those of a table of their own.
  package var joinsCodes = false
  /// The quantities of the codes so far, to refuse a code that a product has with two; `nil` for a server's rows, which
  /// are kept as they are. Then no package is named for such a code.
  package var quantities: CodeQuantities?
  private var saysCodes = false
  private let isWhole: Bool
  /// What a difference changes; `nil` for a full update, and before ``finish(cursor:_:)``.
  package private(set) var counts: MergeCounts?

  /// Begins an import, which locks the catalogue until it ends.
  ///
  /// - Parameters:
  ///   - writer: The writer of the catalogue.
  ///   - mode: What the rows are.
  ///   - lossLimit: The limit on products that the update may remove.
  ///   - keepsRelations: Whether a difference leaves the relations of the catalogue as they are if there are none among
  ///     the rows.
  ///   - keepsCodes: Whether a difference leaves the table of codes as it is if there are no codes among the rows.
  ///   - matchesCodes: Whether a row of a difference is about the product that has its barcode; see ``CatalogMerge``.
  /// - Throws: `StoreError`.
  package init(
    _ writer: CatalogWriter, _ mode: RowImport.Mode, _ lossLimit: LossLimit, keepsRelations: Bool = true,
    keepsCodes: Bool = true, matchesCodes: Bool = false
  ) throws {
    self.writer = writer
    self.lossLimit = lossLimit
    isWhole = mode != .upsert
    switch mode {
    case .replace: update = RowThread(try writer.beginFullUpdate(lossLimit))
    case .upsert, .difference:
      var merge = try CatalogMerge(writer.snapshot(), deletesMissing: mode == .difference)
      merge.keepsRelations = keepsRelations
      merge.keepsCodes = keepsCodes
      merge.matchesCodes = matchesCodes
      self.merge = RowThread(merge)
    }
  }

  /// Takes a product. After ``cancel()`` only its size is checked.
  ///
  /// - Throws: `RowRefusal` for a row that is too large, or lacks an id that it needs; the errors of storing or comparing an earlier row.
  package mutating func product(_ row: borrowing ProductRow) throws {
    if requiresIDs, row.texts.byteCount(ProductText.id.rawValue) == 0 {
      throw RowRefusal(.missingId, "it has no id; give each product its own")
    }
    do { try check.product(row) } catch StoreError.tooLarge(let what, let byteCount, let limit) {
      throw Self.refusal(what, byteCount, limit)
    }
    join?.note(row)
    try update?.product(row)
    try merge?.product(row)
  }

  /// The number of codes of the table whose product is not there, and the first of them.
  var orphans: (count: Int, first: (code: String, product: String)?) { (join?.orphanCount ?? 0, join?.firstOrphan) }

  /// Announces a table of codes, which has to come after all products.
  ///
  /// - Parameter field: The field of the product that a code names in its `productId`.
  /// - Throws: `StoreError`.
  package mutating func expectCodes(joinedBy field: ProductField) throws {
    join = try CodeJoin(field, isWhole: isWhole, writer.snapshot())
    speakOfCodes()
  }

  /// Notes that the rows say which codes the products have, also if they have none.
  package mutating func speakOfCodes() { saysCodes = true }

  /// Takes a code. One of a table of its own whose product is not there is counted and left out. After ``cancel()`` only
  /// its size is checked.
  ///
  /// - Throws: As ``product(_:)``; `RowRefusal` for a code that may belong to several products.
  package mutating func code(_ row: borrowing CodeRow) throws {
    if row.isOfProductRow || !joinsCodes { return try take(row, isOfTable: false) }
    code.copy(row)
    if try !(join?.resolve(&code) ?? true) { return }
    try take(code, isOfTable: true)
  }

  private mutating func take(_ row: borrowing CodeRow, isOfTable: Bool) throws {
    try quantities?.check(row, isOfTable: isOfTable)
    do { try check.code(row) } catch StoreError.tooLarge(let what, let byteCount, let limit) {
      throw Self.refusal(what, byteCount, limit)
    }
    try update?.code(row)
    try merge?.code(row)
  }

  /// Takes a relation. After ``cancel()`` only its size is checked.
  ///
  /// - Throws: As ``product(_:)``.
  package mutating func relation(_ row: borrowing RelationRow) throws {
    do { try check.relation(row) } catch StoreError.tooLarge(let what, let byteCount, let limit) {
      throw Self.refusal(what, byteCount, limit)
    }
    try update?.relation(row)
    try merge?.relation(row)
  }

  /// Waits until all rows are stored or compared, and commits them. A difference without any change writes nothing.
  ///
  /// - Parameters:
  ///   - cursor: The cursor for the next request to the server; `nil` is an empty one for a full update, and the one
  ///     that the catalogue has for a difference.
  ///   - willCommit: Called when something is to be changed, before the commit begins.
  ///   - checking: Called with the counts of a difference before anything is committed, also if it changes nothing but
  ///     the cursor.
  /// - Returns: The report of the update, which is durable.
  /// - Throws: `CatalogError.wouldLose` if the loss limit refuses; the errors of storing or comparing a row. Nothing is
  ///   changed in these cases.
  /// - Precondition: The import was not finished or cancelled.
  package mutating func finish(
    cursor: String?, _ willCommit: () throws -> Void = {}, checking: (MergeCounts) throws -> Void = { _ in }
  ) throws -> UpdateReport {
    if var merge = try takeMerge() {
      if saysCodes { merge.keepsCodes = false }
      try merge.finish()
      try merge.checkLosses(lossLimit)
      try checking(merge.counts)
      if merge.hasChanges { try willCommit() }
      counts = merge.counts
      return try merge.commit(to: writer, cursor: cursor, lossLimit)
    }
    guard let update = try takeUpdate() else { preconditionFailure("an import is finished once") }
    do { try willCommit() } catch {
      update.cancel()
      throw error
    }
    return try update.commit(cursor: cursor ?? "")
  }

  /// Cancels the import, which has changed nothing.
  package mutating func cancel() {
    update?.abandon()?.cancel()
    _ = merge?.abandon()
    (update, merge) = (nil, nil)
  }

  private mutating func takeUpdate() throws -> FullUpdate? {
    do {
      let taken = try update?.take() ?? nil
      update = nil
      return taken
    } catch {
      cancel()
      throw error
    }
  }

  private mutating func takeMerge() throws -> CatalogMerge? {
    defer { merge = nil }
    return try merge?.take() ?? nil
  }

  private static func refusal(_ what: String, _ byteCount: Int, _ limit: Int) -> RowRefusal {
    RowRefusal("\(what) would take \(byteCount) bytes, and there is room for \(limit)")
  }
}
