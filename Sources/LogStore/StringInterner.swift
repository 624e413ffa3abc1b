import RecordFormat

/// Which strings a segment holds already, so that each is written once.
///
/// Bounded: beyond the limits a string is written again for each row, which costs space and nothing else.
struct StringInterner {
  private static let stringLimit = 1 << 18
  private static let byteLimit = 16 << 20

  private struct Entry {
    var hash: UInt64
    var start: UInt32
    var count: UInt32
    var unit: UInt32
    /// The entry that was asked for behind this one the last time, plus one; 0 for none.
    ///
    /// Rows name their texts in one order, and a brand's name is followed by its number again and again: what followed
    /// last is compared before anything is hashed.
    var follower: UInt32
  }

  private var entries: [Entry] = []
  private var bytes: [UInt8] = []
  /// Open addressing: index into `entries` plus one, 0 for free; at most half full.
  private var table = [UInt32](repeating: 0, count: 1024)
  /// The entry that was found or inserted last, plus one; 0 for none.
  private var previous: UInt32 = 0
  private let seed: HashSeed

  init(seed: HashSeed) { self.seed = seed }

  /// Where `text` was written; `nil` if it was not.
  mutating func find(_ text: RawSpan) -> UInt32? {
    if let likely = likely(text) {
      previous = likely
      return entries[Int(likely) &- 1].unit
    }
    guard let number = search(text) else { return nil }
    follow(number)
    return entries[Int(number) &- 1].unit
  }

  /// The number of the entry that is likely to come, if it is that of `text`.
  @inline(__always)
  private func likely(_ text: RawSpan) -> UInt32? {
    let entries = entries.span
    guard previous != 0 else { return nil }
    let number = entries[Int(previous) &- 1].follower
    guard number != 0 else { return nil }
    let (start, count) = (entries[Int(number) &- 1].start, entries[Int(number) &- 1].count)
    return bytes.rawSpan.slice(Int(start), Int(count)).hasSameBytes(as: text) ? number : nil
  }

  /// The number of the entry of `text`, counted from 1.
  private func search(_ text: RawSpan) -> UInt32? {
    let hash = KeyHash.of(text, seed)
    let (table, entries, bytes) = (table.span, entries.span, bytes.rawSpan)
    let mask = table.count &- 1
    var slot = Int(truncatingIfNeeded: hash) & mask
    while table[slot] != 0 {
      let index = Int(table[slot]) &- 1
      if entries[index].hash == hash,
        bytes.slice(Int(entries[index].start), Int(entries[index].count)).hasSameBytes(as: text)
      {
        return table[slot]
      }
      slot = (slot &+ 1) & mask
    }
    return nil
  }

  /// Notes that the entry `number` came behind the previous one.
  private mutating func follow(_ number: UInt32) {
    if previous != 0 { entries[Int(previous) - 1].follower = number }
    previous = number
  }

  /// Remembers that `text`, which was not found, stands at `unit`.
  mutating func insert(_ text: RawSpan, at unit: UInt32) {
    guard entries.count < Self.stringLimit, bytes.count + text.byteCount <= Self.byteLimit else { return }
    if 2 * (entries.count + 1) > table.count { grow() }
    entries.append(
      Entry(
        hash: KeyHash.of(text, seed), start: UInt32(bytes.count), count: UInt32(text.byteCount), unit: unit, follower: 0
      ))
    bytes.append(text)
    place(entries.count)
    follow(UInt32(entries.count))
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
