/// A hash set of nonzero unit offsets: the offsets of dead rows.
///
/// It uses open addressing and is at most half full. A commit looks up every row of the tail's newer blocks in it; with
/// a `Set`, hashing would take most of the time of the merge. The writer assigns the offsets, so an attacker cannot
/// construct collisions.
struct UnitSet: Sequence {
  private var slots = [UInt32](repeating: 0, count: 1 << 4)
  private var shift: UInt32 = 32 - 4
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  /// Returns the slot that contains `unit`, or the empty slot for it.
  @inline(__always)
  private func place(_ unit: UInt32) -> Int {
    let slots = slots.span
    var place = Int((unit &* 0x9E37_79B1) >> shift)
    while slots[place] != unit, slots[place] != 0 { place = (place &+ 1) & (slots.count &- 1) }
    return place
  }

  @inline(__always)
  func contains(_ unit: UInt32) -> Bool { slots[place(unit)] == unit }

  /// Inserts `unit`. Returns whether it was not in the set before.
  mutating func insert(_ unit: UInt32) -> Bool {
    precondition(unit != 0, "no row stands at the beginning of a file")
    var place = place(unit)
    if slots[place] == unit { return false }
    if 2 * (count + 1) > slots.count {
      grow()
      place = self.place(unit)
    }
    slots[place] = unit
    count += 1
    return true
  }

  private mutating func grow() {
    let old = slots
    slots = [UInt32](repeating: 0, count: 2 * old.count)
    shift -= 1
    for unit in old where unit != 0 { slots[place(unit)] = unit }
  }

  func makeIterator() -> some IteratorProtocol<UInt32> { slots.lazy.filter { $0 != 0 }.makeIterator() }
}
