import RecordFormat

/// Which strings a segment holds already, so that each is written once.
///
/// Bounded: beyond the limits a string is written again for each row, which costs space and nothing else.
struct StringInterner {
  private static let stringLimit = 1 << 18
  private static let byteLimit = 16 << 20

  private struct Entry {
    var hash: UInt64
    var start: Int
    var count: Int
    var unit: UInt32
  }

  private var entries: [Entry] = []
  private var bytes: [UInt8] = []
  /// Open addressing: index into `entries` plus one, 0 for free; at most half full.
  private var table = [UInt32](repeating: 0, count: 1024)
  private let seed: HashSeed

  init(seed: HashSeed) { self.seed = seed }

  /// Where `text` was written; `nil` if it was not.
  func find(_ text: RawSpan) -> UInt32? {
    let hash = KeyHash.of(text, seed)
    var slot = Int(truncatingIfNeeded: hash) & (table.count - 1)
    while table[slot] != 0 {
      let entry = entries[Int(table[slot]) - 1]
      if entry.hash == hash, bytes.rawSpan.slice(entry.start, entry.count).hasSameBytes(as: text) {
        return entry.unit
      }
      slot = (slot + 1) & (table.count - 1)
    }
    return nil
  }

  /// Remembers that `text`, which was not found, stands at `unit`.
  mutating func insert(_ text: RawSpan, at unit: UInt32) {
    guard entries.count < Self.stringLimit, bytes.count + text.byteCount <= Self.byteLimit else { return }
    if 2 * (entries.count + 1) > table.count { grow() }
    entries.append(
      Entry(hash: KeyHash.of(text, seed), start: bytes.count, count: text.byteCount, unit: unit))
    bytes.append(text)
    place(entries.count)
  }

  private mutating func grow() {
    table = [UInt32](repeating: 0, count: 2 * table.count)
    for number in 1...max(1, entries.count) where number <= entries.count { place(number) }
  }

  private mutating func place(_ number: Int) {
    var slot = Int(truncatingIfNeeded: entries[number - 1].hash) & (table.count - 1)
    while table[slot] != 0 { slot = (slot + 1) & (table.count - 1) }
    table[slot] = UInt32(number)
  }
}
