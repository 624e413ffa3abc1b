import Bytes
import RecordFormat
import Storage
import Synchronization

/// What one commit will change. Lent to the closure that fills it; nothing counts before the commit returns.
///
/// Its deletions and replacements act on the snapshot that it began with. Of several rows put with one unique key,
/// the last one counts.
public final class Transaction {
  /// What is replaced or deleted here is looked up there; `nil` while a new generation is written.
  public let base: Snapshot?
  /// What the application wants to store beside the rows, and read back with them.
  public var state: [UInt8]

  /// The file that it is written to.
  let log: LogFile
  /// The number that its commit will have.
  public let sequence: UInt64
  /// Tells it from every other transaction of this process.
  private let number = Transaction.numbers.add(1, ordering: .relaxed).newValue
  /// The last number that was given; nothing but its own value depends on it.
  private static let numbers = Atomic<UInt32>(0)
  /// False once it was committed or discarded.
  var isOpen = true
  /// What stopped a put or a deletion halfway. Such a transaction cannot be committed, whoever caught the error.
  private(set) var failure: StoreError?
  /// Where rows go.
  var appender: RowAppender
  /// What the commit will say, but for new rows; see ``settle()``.
  var manifest: Manifest
  /// New rows by key space, at `[table][index]`, once they are settled.
  var entries: [[[IndexEntry]]] = []
  /// Rows of `base` that this transaction kills.
  var dead = UnitSet()
  /// What the writer remembers of the tail; lent for as long as the transaction is open.
  var tail: TailMemory?
  /// The rows of each block that sealing wrote behind the base, by where it stands.
  var writtenRows: [UInt64: [IndexEntry]] = [:]
  /// Rows put.
  private(set) var putCount = 0

  init(
    log: LogFile, start: Int, sequence: UInt64, base: Snapshot?, manifest: Manifest, flushLimit: Int
  ) {
    self.log = log
    self.sequence = sequence
    self.base = base
    self.manifest = manifest
    appender = RowAppender(
      SegmentBuilder(at: start, in: log.file, seed: log.header.seed, flushLimit: flushLimit, isNewFile: base == nil),
      manifest.tables, seed: log.header.seed, owner: number)
    state = manifest.state
  }

  /// Writes `text` once into this segment, for rows of this transaction to name. Complexity: one hash.
  public func share(_ text: RawSpan) throws(StoreError) -> SharedString {
    precondition(isOpen, "a transaction that was committed or discarded takes nothing more")
    if text.byteCount == 0 { return .empty }
    do { return try appender.share(text) } catch { throw noted(error) }
  }

  /// The table that is called as `table` is: the present one, or a new one behind all others.
  ///
  /// - Throws: `StoreError.schema` if the one that is there has other key spaces, or if there is no room for one more.
  public func table(_ table: Schema.Table) throws(StoreError) -> Int {
    precondition(isOpen, "a transaction that was committed or discarded takes nothing more")
    if let index = manifest.tables.firstIndex(where: { $0.name == table.name }) {
      try table.check(manifest.tables[index], path: log.path)
      return index
    }
    guard manifest.tables.count < ObjectKind.tableLimit else {
      throw .schema(path: log.path, reason: "a store has at most \(ObjectKind.tableLimit) tables")
    }
    manifest.tables.append(table.manifest)
    appender.addTable(table.manifest)
    return manifest.tables.count - 1
  }

  /// Puts a row into a table. It replaces the live row that has one of its unique keys.
  ///
  /// It is the caller's mistake to put a row with a shared string of another transaction, or without a key for each key
  /// space of the table.
  ///
  /// - Throws: `StoreError.tooLarge` for a key or record that the format has no room for.
  /// - Complexity: a lookup for each unique key space, an append.
  public func put(_ table: Int, _ draft: borrowing RecordDraft) throws(StoreError) {
    precondition(isOpen, "a transaction that was committed or discarded takes nothing more")
    precondition(
      draft.keyEnds.count == manifest.tables[table].keySpaces.count,
      "a row has one key for each key space of its table")
    try Self.checkSize(draft, "a row of \(manifest.tables[table].name)")
    do {
      if base != nil { try deleteReplaced(table, draft) }
      try appender.put(table, draft, "a row of \(manifest.tables[table].name)")
    } catch { throw noted(error) }
    putCount += 1
  }

  /// Whether the format has room for the row that `draft` makes.
  ///
  /// - Throws: `StoreError.tooLarge`.
  public static func checkSize(
    _ draft: borrowing RecordDraft, _ what: @autoclosure () -> String
  ) throws(StoreError) {
    let limit = RecordLayout.maximumKeyLength
    guard draft.keys.count <= limit else {
      throw .tooLarge(what: "the keys of a row", byteCount: draft.keys.count, limit: limit)
    }
    let start = RecordLayout.keyStart(sharedCount: draft.shared.count, keyCount: draft.keyEnds.count)
    let length = start + draft.keys.count + draft.body.count
    guard length <= ObjectHeader.maximumLength else {
      throw .tooLarge(what: what(), byteCount: length, limit: ObjectHeader.maximumLength)
    }
  }

  /// Whether the format has room for a shared string.
  ///
  /// - Throws: `StoreError.tooLarge`.
  public static func checkSize(shared text: RawSpan) throws(StoreError) {
    let length = ObjectHeader.byteCount + text.byteCount
    guard length <= ObjectHeader.maximumLength else {
      throw .tooLarge(what: "a shared string", byteCount: length, limit: ObjectHeader.maximumLength)
    }
  }

  /// Deletes the rows of `base` whose unique keys the new row has.
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

  /// Remembers what went wrong, except for what left the transaction as it was.
  func noted(_ error: StoreError) -> StoreError {
    if case .tooLarge = error { return error }
    if failure == nil { failure = error }
    return error
  }

  /// The manifest with the rows that were put so far.
  var currentManifest: Manifest {
    appender.settleCounts(in: &manifest)
    return manifest
  }

  /// Deletes every row of `base` that has `key` in `space`.
  ///
  /// - Returns: how many rows died that were not dead yet.
  /// - Complexity: a lookup.
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
    } catch { throw noted(error) }
    return count
  }

  /// Deletes every row of `base` that has one of `keys` in `space`.
  ///
  /// - Returns: how many rows died that were not dead yet.
  /// - Complexity: a lookup for each key; what they wait for overlaps.
  @discardableResult
  public func delete(_ space: KeySpaceID, _ keys: KeyBatch) throws(StoreError) -> Int {
    precondition(isOpen, "a transaction that was committed or discarded takes nothing more")
    guard let base else { return 0 }
    var count = 0
    do {
      try base.forEachRecord(space, of: keys) { (_, record) throws(StoreError) in
        if deleteRow(record, of: space.table) { count += 1 }
      }
    } catch { throw noted(error) }
    return count
  }

  /// Says that rows with these keys in `space` will be put or deleted soon: what is looked up for them is asked for now. A
  /// hint, worth it for up to a few thousand keys, which the processor's cache has room for.
  public func expect(_ space: KeySpaceID, _ keys: KeyBatch) { base?.prefetch(space, keys) }

  /// Deletes a row of `base` in `table`. One that is dead stays so.
  func delete(_ table: Int, _ row: RowID) throws(StoreError) {
    do {
      guard let base, let record = try base.record(row, table: table) else { return }
      _ = deleteRow(record, of: table)
    } catch { throw noted(error) }
  }

  /// Puts a row as it stands in another commit or file: keys, shared strings, body.
  ///
  /// - Parameter copier: used for rows of the same snapshot only.
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
      if let known = copier.texts.find(unit) {
        copier.draft.addShared(SharedString(unit: known, owner: number))
      } else {
        let text = try share(try record.shared(index))
        copier.texts.insert(unit, text.unit)
        copier.draft.addShared(text)
      }
    }
    copier.draft.body.append(record.body)
    try put(table, copier.draft)
  }

  /// Counts rows that were put without ``put(_:_:)``.
  func count(putRows count: Int) { putCount += count }

  /// Counts a row of `base` as dead. Returns whether it was not yet.
  @inline(__always)
  private func deleteRow(_ record: borrowing RecordView, of table: Int) -> Bool {
    guard dead.insert(record.unit.rawValue) else { return false }
    countDead(table, ObjectHeader.padded(record.byteCount))
    return true
  }

  /// Counts one row of `table` as dead.
  func countDead(_ table: Int, _ paddedLength: Int) {
    // Counters that a file got wrong are no reason to trap.
    let rows = manifest.tables[table].liveRows
    let bytes = manifest.tables[table].liveBytes
    manifest.tables[table].liveRows = rows - min(rows, 1)
    manifest.tables[table].liveBytes = bytes - min(bytes, UInt64(paddedLength))
    manifest.deadRows += 1
    manifest.deadBytes += UInt64(paddedLength)
  }
}
