import Bytes
import RecordFormat

/// The rows that a transaction has put into one table and that the manifest does not yet count.
///
/// It is separate from the manifest because it changes with every row: in the manifest each change would access three
/// nested arrays.
struct NewRows {
  private var count: UInt64 = 0
  /// Whether rows were counted before.
  private var wasCounted = false
  /// The size of the rows including padding.
  private var byteCount: UInt64 = 0
  /// The new keys by key space.
  private(set) var keys: [NewKeys]

  /// - Parameters:
  ///   - table: The table.
  ///   - space: The temporary files for entries that do not fit memory; `nil` to keep all in memory.
  init(_ table: Manifest.Table, _ space: SpillSpace?) { keys = table.keySpaces.map { NewKeys($0, space) } }

  /// Whether no row was put into the table.
  var isEmpty: Bool { count == 0 && !wasCounted }

  /// Adds the row at `unit`. Its keys are stored contiguously in `bytes`.
  @inline(__always)
  mutating func add(
    _ unit: UnitOffset, byteCount: Int, _ bytes: RawSpan, _ ends: Span<Int>, _ seed: HashSeed
  ) {
    count += 1
    self.byteCount += UInt64(byteCount)
    var start = 0
    for index in 0..<ends.count {
      let end = ends[index]
      keys[index].add(bytes.slice(start, end &- start), unit, seed)
      start = end
    }
  }

  /// Adds a row whose keys are added one at a time afterwards.
  mutating func add(byteCount: Int) {
    count += 1
    self.byteCount += UInt64(byteCount)
  }

  /// Adds a key, or list of keys, of the row at `unit` in key space `index`. The row was added before.
  mutating func add(key: RawSpan, _ index: Int, _ unit: UnitOffset, _ seed: HashSeed) {
    keys[index].add(key, unit, seed)
  }

  /// Reserves space for `count` keys in key space `index`.
  mutating func reserve(_ count: Int, _ index: Int) { keys[index].entries.reserve(count) }

  /// Writes the entries of key spaces that have too many of them to temporary files.
  ///
  /// - Throws: `StoreError.io`, including for a full device.
  @inline(__always)
  mutating func spillIfLarge() throws(StoreError) {
    for index in keys.indices { try keys[index].entries.spillIfLarge() }
  }

  /// Adds the rows that are not yet counted to the manifest's counters.
  mutating func settleCounts(in table: inout Manifest.Table) {
    table.liveRows += count
    table.liveBytes += byteCount
    wasCounted = wasCounted || count > 0
    count = 0
    byteCount = 0
  }
}

/// The keys of new rows in one key space.
struct NewKeys {
  private let skipsEmptyKeys: Bool
  private let isList: Bool
  fileprivate(set) var entries: NewEntries
  /// The key length that was last added to `lengths`. Most keys have the same length.
  private var lastLength = -1
  private(set) var lengths = KeyLengths()

  init(_ keySpace: Manifest.KeySpace, _ space: SpillSpace?) {
    skipsEmptyKeys = keySpace.skipsEmptyKeys
    isList = keySpace.isList
    entries = NewEntries([], space)
  }

  /// Adds the key, or list of keys, that the row at `unit` has in this key space.
  @inline(__always)
  fileprivate mutating func add(_ key: RawSpan, _ unit: UnitOffset, _ seed: HashSeed) {
    if isList { return add(listed: key, unit, seed) }
    if skipsEmptyKeys, key.byteCount == 0 { return }
    addEntry(key, unit, seed)
  }

  private mutating func add(listed keys: RawSpan, _ unit: UnitOffset, _ seed: HashSeed) {
    var list = KeyList(keys)
    while let key = list.next() { addEntry(key, unit, seed) }
  }

  @inline(__always)
  private mutating func addEntry(_ key: RawSpan, _ unit: UnitOffset, _ seed: HashSeed) {
    if key.byteCount != lastLength {
      lastLength = key.byteCount
      lengths.insert(lastLength)
    }
    entries.append(IndexEntry(hash: KeyHash.of(key, seed), offset: unit.rawValue))
  }
}
