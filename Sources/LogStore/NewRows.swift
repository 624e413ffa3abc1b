import Bytes
import RecordFormat

/// What a transaction knows of the rows that it put into one table.
///
/// It stands beside the manifest, and not in it, as it changes with every row: there each change would go through three
/// arrays, one inside the other.
struct NewRows {
  private var count: UInt64 = 0
  /// With their padding.
  private var byteCount: UInt64 = 0
  /// By key space.
  private(set) var keys: [NewKeys]

  init(_ table: Manifest.Table) { keys = table.keySpaces.map(NewKeys.init) }

  /// Adds the row at `unit`, whose keys stand one behind the other in `bytes`.
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

  /// Adds a row of which the keys follow one by one.
  mutating func add(byteCount: Int) {
    count += 1
    self.byteCount += UInt64(byteCount)
  }

  /// Adds what the row at `unit`, which was added, has in key space `index`.
  mutating func add(key: RawSpan, _ index: Int, _ unit: UnitOffset, _ seed: HashSeed) {
    keys[index].add(key, unit, seed)
  }

  /// Makes room for as many keys in key space `index`.
  mutating func reserve(_ count: Int, _ index: Int) { keys[index].reserve(count) }

  /// Counts in the manifest what was not counted yet.
  mutating func settleCounts(in table: inout Manifest.Table) {
    table.liveRows += count
    table.liveBytes += byteCount
    count = 0
    byteCount = 0
  }
}

/// The keys of new rows in one key space.
struct NewKeys {
  private let skipsEmptyKeys: Bool
  private let isList: Bool
  /// In the order in which the rows were put.
  private(set) var entries: [IndexEntry] = []
  /// The length that was added to `lengths` last: most keys have one length.
  private var lastLength = -1
  private(set) var lengths = KeyLengths()

  init(_ space: Manifest.KeySpace) {
    skipsEmptyKeys = space.skipsEmptyKeys
    isList = space.isList
  }

  fileprivate mutating func reserve(_ count: Int) { entries.reserveCapacity(count) }

  /// Adds what the row at `unit` has here: a key, or a list of them.
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
