import Bytes

/// An external merge sort of the keys that the rows of a transaction have in one ordered index.
///
/// Keys are collected in a table. When it is large it is sorted and written to a temporary file as a run, and the runs
/// are merged when all keys are known. So the memory does not depend on the number of rows.
struct OrderedKeySorter {
  private var table: OrderedKeyTable
  private var spilled: SpilledRuns
  private var spilledRowCount = 0

  init(seed: HashSeed, _ space: SpillSpace) {
    table = OrderedKeyTable(seed: seed)
    spilled = SpilledRuns(space)
  }

  var isEmpty: Bool { table.isEmpty && spilled.isEmpty }

  /// Enters `row` under `key`. A key that the row already has is ignored.
  ///
  /// - Precondition: No row that lies after this one was entered before; row 0 does not exist.
  @inline(__always)
  mutating func add(_ key: RawSpan, _ row: UInt32) { table.add(key, row) }

  /// Spills the keys in memory if there are too many. Called after all keys of a row were added.
  ///
  /// - Throws: `StoreError.io`, including for a full device.
  @inline(__always)
  mutating func spillIfLarge() throws(StoreError) {
    if table.byteCount >= spilled.byteLimit { try spill() }
  }

  private mutating func spill() throws(StoreError) {
    table.sort()
    spilledRowCount += table.rowCount
    try spilled.append(table.run)
    table.removeAll()
  }

  /// Sorts the keys. Nothing can be added after that.
  ///
  /// - Throws: `StoreError.io`, including for a full device.
  mutating func finish() throws(StoreError) -> SortedKeys {
    if spilled.isEmpty {
      table.sort()
      return .table(table)
    }
    if !table.isEmpty { try spill() }
    return .runs(spilled.runs, rowCount: spilledRowCount)
  }
}

/// The keys of a transaction in one ordered index, in ascending order.
enum SortedKeys {
  case table(OrderedKeyTable)
  case runs([KeyRun], rowCount: Int)

  /// The number of pairs of a key and a row.
  var rowCount: Int {
    switch self {
    case .table(let table): table.rowCount
    case .runs(_, let rowCount): rowCount
    }
  }

  /// The keys as runs, to be merged.
  var runs: [KeyRun] {
    switch self {
    case .table(let table): [KeyRun(table.run.bytes)]
    case .runs(let runs, _): runs
    }
  }
}
