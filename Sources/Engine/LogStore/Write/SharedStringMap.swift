import RecordFormat

/// A map from the offsets of a snapshot's texts to numbers.
///
/// Most rows refer to the same few texts. Identifying a text by its offset avoids reading, checking and hashing it
/// again, and avoids writing it twice.
struct SharedStringMap {
  /// A hash table with open addressing, at most half full. Unit 0 marks an empty slot.
  private var entries = [(unit: UInt32, number: UInt32)](repeating: (0, 0), count: 1 << 6)
  private var count = 0
  private var shift: UInt32 = 32 - 6

  /// Returns the slot that contains `unit`, or the empty slot for it.
  @inline(__always)
  private func slot(_ unit: UnitOffset) -> Int {
    var slot = Int((unit.rawValue &* 0x9E37_79B1) >> shift)
    while entries[slot].unit != unit.rawValue, entries[slot].unit != 0 { slot = (slot &+ 1) & (entries.count &- 1) }
    return slot
  }

  /// Returns the number of the text at `unit`; `nil` if the text is not in the map.
  @inline(__always)
  func find(_ unit: UnitOffset) -> UInt32? {
    let entry = entries[slot(unit)]
    return entry.unit == 0 ? nil : entry.number
  }

  /// Inserts a text that is not in the map.
  mutating func insert(_ unit: UnitOffset, _ number: UInt32) {
    if 2 * (count + 1) > entries.count { grow() }
    entries[slot(unit)] = (unit.rawValue, number)
    count += 1
  }

  private mutating func grow() {
    let old = entries
    entries = Array(repeating: (0, 0), count: 2 * old.count)
    shift -= 1
    for entry in old where entry.unit != 0 { entries[slot(UnitOffset(rawValue: entry.unit))] = entry }
  }
}
