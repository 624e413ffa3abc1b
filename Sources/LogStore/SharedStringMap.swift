import RecordFormat

/// Which texts of a snapshot were met, by where they stand, and a number for each.
///
/// Most rows name the same few texts. Whoever knows them by place neither reads nor checks nor hashes them again, and
/// writes none of them twice.
struct SharedStringMap {
  /// Open addressing, at most half full. Unit 0 is no text's.
  private var entries = [(unit: UInt32, number: UInt32)](repeating: (0, 0), count: 1 << 6)
  private var count = 0
  private var shift: UInt32 = 32 - 6

  /// Where `unit` stands, or where it has room.
  @inline(__always)
  private func place(_ unit: UnitOffset) -> Int {
    var place = Int((unit.rawValue &* 0x9E37_79B1) >> shift)
    while entries[place].unit != unit.rawValue, entries[place].unit != 0 { place = (place &+ 1) & (entries.count &- 1) }
    return place
  }

  /// The number of the text at `unit`; `nil` if it was not met.
  @inline(__always)
  func find(_ unit: UnitOffset) -> UInt32? {
    let entry = entries[place(unit)]
    return entry.unit == 0 ? nil : entry.number
  }

  /// Notes a text that was not met before.
  mutating func insert(_ unit: UnitOffset, _ number: UInt32) {
    if 2 * (count + 1) > entries.count { grow() }
    entries[place(unit)] = (unit.rawValue, number)
    count += 1
  }

  private mutating func grow() {
    let old = entries
    entries = Array(repeating: (0, 0), count: 2 * old.count)
    shift -= 1
    for entry in old where entry.unit != 0 { entries[place(UnitOffset(rawValue: entry.unit))] = entry }
  }
}
