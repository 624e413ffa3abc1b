import Bytes
import RecordFormat

/// The live and dead rows of a file, counted from its objects alone, to verify the counters in the manifests of its
/// commits.
///
/// Objects are added in file order.
struct RowLedger {
  /// The live rows of one table.
  struct Live: Equatable {
    var rows: UInt64 = 0
    /// The size of the rows including padding.
    var bytes: UInt64 = 0
  }

  private(set) var live: [Live] = []
  private(set) var dead: Set<UInt32> = []
  private(set) var deadBytes: UInt64 = 0
  /// The number of rows that were put after the base.
  private(set) var tailRows: UInt64 = 0
  /// The unit offsets of the records in ascending order, and the second word of each record, which contains its table
  /// and length.
  private var units: [UInt32] = []
  private var words: [UInt32] = []
  private var strings: Set<UInt32> = []

  /// Adds a row.
  mutating func add(row unit: UnitOffset, word: UInt32, isInBase: Bool) {
    guard let table = ObjectHeader.kind(word).table else { return }
    units.append(unit.rawValue)
    words.append(word)
    while live.count <= table { live.append(Live()) }
    live[table].rows += 1
    live[table].bytes += Self.paddedLength(word)
    if !isInBase { tailRows += 1 }
  }

  /// Adds a shared string.
  mutating func add(string unit: UnitOffset) { strings.insert(unit.rawValue) }

  /// Returns whether a shared string at `unit` was added.
  func hasString(_ unit: UnitOffset) -> Bool { strings.contains(unit.rawValue) }

  /// Marks the row at `unit` as dead. Returns the reason why a tombstone cannot name it, or `nil` on success.
  mutating func markDead(_ unit: UnitOffset) -> String? {
    guard let word = word(at: unit) else { return "names what is no row before it" }
    guard dead.insert(unit.rawValue).inserted else { return "names a row that is dead already" }
    let length = Self.paddedLength(word)
    deadBytes += length
    if let table = ObjectHeader.kind(word).table {
      live[table].rows -= 1
      live[table].bytes -= length
    }
    return nil
  }

  /// Returns the counters in which a commit's manifest differs.
  func differences(from manifest: Manifest) -> [String] {
    var differences: [String] = []
    func compare(_ counted: UInt64, _ stored: UInt64, _ what: String) {
      if counted != stored { differences.append("\(counted) \(what) where the manifest counts \(stored)") }
    }
    for (index, table) in manifest.tables.enumerated() {
      let live = index < live.count ? live[index] : Live()
      compare(live.rows, table.liveRows, "live rows of \(table.name)")
      compare(live.bytes, table.liveBytes, "bytes of live rows of \(table.name)")
    }
    compare(UInt64(dead.count), manifest.deadRows, "dead rows")
    compare(deadBytes, manifest.deadBytes, "bytes of dead rows")
    compare(tailRows, manifest.tailRows, "rows put after the base")
    return differences
  }

  private static func paddedLength(_ word: UInt32) -> UInt64 { UInt64(ObjectHeader.padded(ObjectHeader.length(word))) }

  /// Returns the second word of the record at `unit`; `nil` if no record at that offset was added.
  private func word(at unit: UnitOffset) -> UInt32? {
    let first = units.indices.partitioningIndex { units[$0] >= unit.rawValue }
    return first < units.count && units[first] == unit.rawValue ? words[first] : nil
  }
}
