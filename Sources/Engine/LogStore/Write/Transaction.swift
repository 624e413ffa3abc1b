import Bytes
import RecordFormat
import Synchronization

/// The changes of one commit. A transaction is lent to the closure that fills it, and has no effect before the commit
/// returns.
///
/// Deletions and replacements apply to the snapshot with which the transaction started. If several rows are put with
/// the same unique key, the last one wins.
///
/// Invariants:
/// - What it writes lies beyond the last commit of `log`, so that nobody reads it before the commit's footer is there.
/// - It is committed at most once, and never after a put or a deletion that failed halfway (`failure`).
/// - `dead` has rows of `base` only. A row of its own that a later one replaces is left out when its rows are settled.
public final class Transaction {
  /// The snapshot in which replaced and deleted rows are looked up; `nil` for a new generation.
  public let base: Snapshot?
  /// The application's state, stored with the rows and read back with them.
  public var state: [UInt8]

  /// The file to which the transaction is written.
  let log: LogFile
  /// The sequence number of the transaction's commit.
  public let sequence: UInt64
  /// A number that is unique among the transactions of this process.
  private let number = Transaction.numbers.add(1, ordering: .relaxed).newValue
  /// The last number that was assigned. Only its own value depends on it, so relaxed order is enough.
  private static let numbers = Atomic<UInt32>(0)
  /// Whether the transaction is neither committed nor discarded.
  var isOpen = true
  /// The error that stopped a put or deletion halfway. Such a transaction cannot be committed, even if the error was
  /// caught.
  private(set) var failure: StoreError?
  /// The destination of rows.
  var appender: RowAppender
  /// The manifest of the commit, without the rows that are not settled; see ``settle()``.
  var manifest: Manifest
  /// The entries of new rows by key space, at `[table][index]`, once they are settled.
  var entries: [[NewEntries]] = []
  /// The rows of `base` that this transaction deletes.
  var dead = UnitSet()
  /// The writer's cache of the tail, lent while the transaction is open.
  var tail: TailCache?
  /// The rows of each block that sealing wrote after the base, by the block's offset.
  var writtenRows: [UInt64: [IndexEntry]] = [:]
  /// The functions that derive the keys of ordered indexes, by table and name.
  var keyFunctions: [Int: [String: Schema.OrderedIndex.KeyFunction]] = [:]
  /// The ordered indexes that are copied from the file that this generation replaces, by table and name.
  var orderedCopies: [Int: [String: OrderedCopy]] = [:]
  /// Where the rows of that file are now.
  var rowMap = RowMap()
  /// The number of rows put.
  private(set) var putCount = 0

  init(
    log: LogFile, start: Int, sequence: UInt64, base: Snapshot?, manifest: Manifest, schema: Schema,
    location: StoreLocation
  ) {
    self.log = log
    self.sequence = sequence
    self.base = base
    self.manifest = manifest
    var checkFile: SegmentBuilder.FileCheck?
    if let base {
      checkFile = { () throws(StoreError) in
        if try !log.hasCommit(base.footer) { throw .replaced(path: log.path) }
      }
    }
    appender = RowAppender(
      SegmentBuilder(
        at: start, in: log.file, seed: log.seed, flushLimit: location.environment.flushLimit,
        isNewFile: base == nil,
        sealing: log.sealing.map {
          SegmentSealing($0, nonces: NonceSequence(location.environment.random), isBase: base == nil)
        }, checkFile: checkFile),
      manifest.tables, seed: log.seed, SpillSpace(nextTo: location),
      isNewGeneration: base == nil,
      owner: number)
    state = manifest.state
    for (table, described) in schema.tables.enumerated() where table < manifest.tables.count {
      know(described, table)
    }
  }

  /// Learns how to derive the keys of a table's ordered indexes, and leaves out those that it does not know.
  private func know(_ described: Schema.Table, _ table: Int) {
    for index in described.orderedIndexes { keyFunctions[table, default: [:]][index.name] = index.addKeys }
    for index in manifest.tables[table].orderedIndexes where keyFunctions[table]?[index.name] == nil {
      keyFunctions[table, default: [:]][index.name] = described.otherOrderedIndex?(index.name)?.addKeys
    }
    dropUnknownOrderedIndexes(of: table)
  }

  /// Writes `text` once into this segment, for rows of this transaction to refer to.
  ///
  /// - Complexity: One hash.
  public func share(_ text: RawSpan) throws(StoreError) -> SharedString {
    precondition(isOpen, "a transaction that was committed or discarded takes nothing more")
    if text.byteCount == 0 { return .empty }
    do { return try appender.share(text) } catch { throw recorded(error) }
  }

  /// Returns the index of the table with the name of `table`: an existing one, or a new one after all others.
  ///
  /// - Throws: `StoreError.schema` if the existing table has other key spaces, or if the store has the maximum number
  ///   of tables.
  public func table(_ table: Schema.Table) throws(StoreError) -> Int {
    precondition(isOpen, "a transaction that was committed or discarded takes nothing more")
    if let index = manifest.tables.firstIndex(where: { $0.name == table.name }) {
      try table.check(manifest.tables[index], path: log.path)
      know(table, index)
      return index
    }
    guard manifest.tables.count < ObjectKind.tableLimit else {
      throw .schema(path: log.path, reason: "a store has at most \(ObjectKind.tableLimit) tables")
    }
    manifest.tables.append(table.manifest)
    appender.addTable(table.manifest)
    know(table, manifest.tables.count - 1)
    return manifest.tables.count - 1
  }

  /// Puts a row into a table. It replaces the live row that has one of its unique keys.
  ///
  /// - Precondition: The row has a key for each key space of the table, and no shared string of another transaction.
  /// - Throws: `StoreError.tooLarge` for a key or record that exceeds a limit of the format.
  /// - Complexity: One lookup for each unique key space, and one append.
  public func put(_ table: Int, _ draft: borrowing RecordDraft) throws(StoreError) {
    precondition(isOpen, "a transaction that was committed or discarded takes nothing more")
    precondition(
      draft.keyEnds.count == manifest.tables[table].keySpaces.count,
      "a row has one key for each key space of its table")
    try Self.checkSize(
      draft, "a row of \(manifest.tables[table].name)", overhead: appender.builder.objectOverhead)
    do {
      if base != nil { try deleteReplaced(table, draft) }
      try appender.put(table, draft, "a row of \(manifest.tables[table].name)")
    } catch { throw recorded(error) }
    putCount += 1
  }

  /// Puts a row into a table. It replaces a row of `base`.
  ///
  /// - Parameter replaced: The live row to replace. It has all the unique keys of the new row, or no live row has them.
  /// - Precondition, throws: As ``put(_:_:)``.
  /// - Complexity: One append, without a lookup.
  package func put(_ table: Int, _ draft: borrowing RecordDraft, replacing replaced: RowID) throws(StoreError) {
    precondition(isOpen, "a transaction that was committed or discarded takes nothing more")
    precondition(
      draft.keyEnds.count == manifest.tables[table].keySpaces.count,
      "a row has one key for each key space of its table")
    try Self.checkSize(
      draft, "a row of \(manifest.tables[table].name)", overhead: appender.builder.objectOverhead)
    try delete(table, replaced)
    do {
      try appender.put(table, draft, "a row of \(manifest.tables[table].name)")
    } catch { throw recorded(error) }
    putCount += 1
  }

  /// Checks whether the row in `draft` fits the limits of the format.
  ///
  /// - Throws: `StoreError.tooLarge`.
  package static func checkSize(
    _ draft: borrowing RecordDraft, _ what: @autoclosure () -> String, overhead: Int = 0
  ) throws(StoreError) {
    let limit = RecordLayout.maximumKeyLength
    guard draft.keys.count <= limit else {
      throw .tooLarge(what: "the keys of a row", byteCount: draft.keys.count, limit: limit)
    }
    let start = RecordLayout.keyStart(sharedCount: draft.shared.count, keyCount: draft.keyEnds.count)
    let length = start + draft.keys.count + draft.body.count + overhead
    guard length <= ObjectHeader.maximumLength else {
      throw .tooLarge(what: what(), byteCount: length, limit: ObjectHeader.maximumLength)
    }
  }

  /// Checks whether a shared string fits the limits of the format.
  ///
  /// - Throws: `StoreError.tooLarge`.
  package static func checkSize(shared text: RawSpan) throws(StoreError) {
    let length = ObjectHeader.byteCount + text.byteCount
    guard length <= ObjectHeader.maximumLength else {
      throw .tooLarge(what: "a shared string", byteCount: length, limit: ObjectHeader.maximumLength)
    }
  }

  /// Deletes the rows of `base` that have the unique keys of the new row.
  private func deleteReplaced(_ table: Int, _ draft: borrowing RecordDraft) throws(StoreError) {
    var start = 0
    for (index, space) in manifest.tables[table].keySpaces.enumerated() {
      let end = draft.keyEnds[index]
      let key = draft.keys.rawSpan.slice(start, end - start)
      start = end
      if space.isUnique, !(space.skipsEmptyKeys && key.byteCount == 0) {
        _ = try delete(KeySpaceID(table: table, index: index), key)
      }
    }
  }

  /// Records an error, except one that left the transaction unchanged, and returns it.
  func recorded(_ error: StoreError) -> StoreError {
    if case .tooLarge = error { return error }
    if failure == nil { failure = error }
    return error
  }

  /// The manifest including the rows put so far.
  var currentManifest: Manifest {
    appender.settleCounts(in: &manifest)
    return manifest
  }

  /// Deletes every row of `base` that has `key` in `space`.
  ///
  /// - Returns: The number of rows that were live before.
  /// - Complexity: One lookup.
  @discardableResult
  public func delete(_ space: KeySpaceID, _ key: RawSpan) throws(StoreError) -> Int {
    precondition(isOpen, "a transaction that was committed or discarded takes nothing more")
    guard let base else { return 0 }
    var count = 0
    do {
      try base.forEachRecord(space, key) { (record) throws(StoreError) in
        if deleteRow(record, of: space.table) { count += 1 }
        return true
      }
    } catch { throw recorded(error) }
    return count
  }

  /// Deletes every row of `base` that has one of `keys` in `space`.
  ///
  /// - Returns: The number of rows that were live before.
  /// - Complexity: One lookup for each key, with overlapping cache misses.
  @discardableResult
  public func delete(_ space: KeySpaceID, _ keys: KeyBatch) throws(StoreError) -> Int {
    precondition(isOpen, "a transaction that was committed or discarded takes nothing more")
    guard let base else { return 0 }
    var count = 0
    do {
      try base.forEachRecord(space, of: keys) { (_, record) throws(StoreError) in
        if deleteRow(record, of: space.table) { count += 1 }
      }
    } catch { throw recorded(error) }
    return count
  }

  /// Prefetches what is needed to put or delete rows with these keys in `space` soon. This is a hint, useful for up to
  /// a few thousand keys, which fit the processor's cache.
  public func prefetch(_ space: KeySpaceID, _ keys: KeyBatch) { base?.prefetch(space, keys) }

  /// Deletes a row of `base` in `table`. Has no effect on a dead row.
  func delete(_ table: Int, _ row: RowID) throws(StoreError) {
    do {
      guard let base, let record = try base.record(row, table: table) else { return }
      _ = deleteRow(record, of: table)
    } catch { throw recorded(error) }
  }

  /// Puts a copy of a row of another commit or file: keys, shared strings and body.
  ///
  /// - Parameter copier: The copier to use. It must only be used for rows of one snapshot.
  func copy(
    _ record: borrowing RecordView, to table: Int, through copier: inout RowCopier
  ) throws(StoreError) {
    copier.draft.reset()
    for index in manifest.tables[table].keySpaces.indices { copier.draft.addKey(record.key(index)) }
    for index in 0..<record.sharedCount {
      guard let unit = record.sharedUnit(index) else {
        copier.draft.addShared(.empty)
        continue
      }
      if let copied = copier.texts.find(unit) {
        copier.draft.addShared(SharedString(unit: copied, owner: number))
      } else {
        let text = try share(try record.shared(index))
        copier.texts.insert(unit, text.unit)
        copier.draft.addShared(text)
      }
    }
    copier.draft.body.append(record.body)
    dropUnknownOrderedIndexes(of: table)
    try addOrderedKeys(of: record, table, to: &copier.draft)
    try put(table, copier.draft)
  }

  /// Counts rows that were put without ``put(_:_:)``.
  func count(putRows count: Int) { putCount += count }

  /// Marks a row of `base` as dead. Returns whether it was live before.
  @inline(__always)
  private func deleteRow(_ record: borrowing RecordView, of table: Int) -> Bool {
    guard dead.insert(record.unit.rawValue) else { return false }
    countDead(table, record.paddedByteCount)
    return true
  }

  /// Counts a row of `table` as dead.
  func countDead(_ table: Int, _ paddedLength: Int) {
    // Wrong counters in a file must not cause a trap.
    let rows = manifest.tables[table].liveRows
    let bytes = manifest.tables[table].liveBytes
    manifest.tables[table].liveRows = rows - min(rows, 1)
    manifest.tables[table].liveBytes = bytes - min(bytes, UInt64(paddedLength))
    manifest.deadRows += 1
    manifest.deadBytes += UInt64(paddedLength)
  }
}
