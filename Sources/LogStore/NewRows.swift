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
  /// In the order in which the rows were put.
  private(set) var entries: [IndexEntry] = []
  /// The length that was added to `lengths` last: most keys have one length.
  private var lastLength = -1
  private(set) var lengths = KeyLengths()

  init(_ space: Manifest.KeySpace) {
    skipsEmptyKeys = space.skipsEmptyKeys
  }

  @inline(__always)
  fileprivate mutating func add(_ key: RawSpan, _ unit: UnitOffset, _ seed: HashSeed) {
    if skipsEmptyKeys, key.byteCount == 0 { return }
    if key.byteCount != lastLength {
      lastLength = key.byteCount
      lengths.insert(lastLength)
    }
    entries.append(IndexEntry(hash: KeyHash.of(key, seed), offset: unit.rawValue))
  }
}
