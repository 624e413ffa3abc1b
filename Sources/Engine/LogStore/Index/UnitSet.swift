/// A hash set of nonzero unit offsets, which are rows.
///
/// It uses open addressing and is at most half full. A commit looks up every row of the tail's newer blocks in it; with
/// a `Set`, hashing would take most of the time of the merge. The writer assigns the offsets, so an attacker cannot
/// construct collisions. It has few rows among many; where a large share of all rows belongs, as in a filter of the
/// catalogue, a bit for each row is smaller.
struct UnitSet: Sequence {
  private var slots = [UInt32](repeating: 0, count: 1 << 4)
  private var shift: UInt32 = 32 - 4
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  /// Returns the slot that contains `unit`, or the empty slot for it.
  @inline(__always)
  private func slot(_ unit: UInt32) -> Int {
    let slots = slots.span
    var slot = Int((unit &* 0x9E37_79B1) >> shift)
    while slots[slot] != unit, slots[slot] != 0 { slot = (slot &+ 1) & (slots.count &- 1) }
    return slot
  }

  @inline(__always)
  func contains(_ unit: UInt32) -> Bool { slots[slot(unit)] == unit }

  /// Inserts `unit`. Returns whether it was not in the set before.
  mutating func insert(_ unit: UInt32) -> Bool {
    precondition(unit != 0, "no row is at offset 0")
    var slot = slot(unit)
    if slots[slot] == unit { return false }
    if 2 * (count + 1) > slots.count {
      grow()
      slot = self.slot(unit)
    }
    slots[slot] = unit
    count += 1
    return true
  }

  private mutating func grow() {
    let old = slots
    slots = [UInt32](repeating: 0, count: 2 * old.count)
    shift -= 1
    for unit in old where unit != 0 { slots[slot(unit)] = unit }
  }

  func makeIterator() -> some IteratorProtocol<UInt32> { slots.lazy.filter { $0 != 0 }.makeIterator() }
}
