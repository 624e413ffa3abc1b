/// A hash set of a file's row ids, to find duplicates.
///
/// It keeps a hash of 87 bits and the line of each id: 22 to 43 bytes including free slots, and 64 while the table
/// grows. For 20 million ids, the probability that two different ones share a hash is 10⁻¹². The hashes are keyed per
/// process, so no file can be crafted to collide.
struct RowIDs {
  private struct Slot {
    /// The hash; 0 for a free slot.
    var hash: UInt64 = 0
    /// 24 more bits of the hash, then 40 bits of the line.
    var checkAndLine: UInt64 = 0
  }

  private static let lineMask: UInt64 = 1 << 40 - 1

  private var slots = [Slot](repeating: Slot(), count: 1024)
  private var count = 0

  /// Records that the row at `line` has the id `id`.
  ///
  /// - Returns: The line of the first row with that id; `nil` for a new id.
  /// - Complexity: Two hashes, and one or two probes of the table.
  mutating func insert(_ id: Span<UInt8>, line: Int) -> Int? {
    let hash = Self.hash(id, 0) | 1
    let check = Self.hash(id, 1) & ~Self.lineMask
    let index = place(hash, check)
    if slots[index].hash != 0 { return Int(slots[index].checkAndLine & Self.lineMask) }
    slots[index] = Slot(hash: hash, checkAndLine: check | UInt64(line) & Self.lineMask)
    count += 1
    if count > slots.count / 4 * 3 { grow() }
    return nil
  }

  /// The slot with this hash, or the free slot for it.
  private func place(_ hash: UInt64, _ check: UInt64) -> Int {
    var index = Int(truncatingIfNeeded: hash >> 1) & (slots.count - 1)
    while slots[index].hash != 0, slots[index].hash != hash || slots[index].checkAndLine & ~Self.lineMask != check {
      index = (index + 1) & (slots.count - 1)
    }
    return index
  }

  private mutating func grow() {
    let old = slots
    slots = [Slot](repeating: Slot(), count: old.count * 2)
    for slot in old where slot.hash != 0 { slots[place(slot.hash, slot.checkAndLine & ~Self.lineMask)] = slot }
  }

  private static func hash(_ id: Span<UInt8>, _ number: UInt8) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(number)
    // The pointer is used only inside the call.
    unsafe id.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }
}
