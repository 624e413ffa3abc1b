/// The ids of a file's rows, to find those that come twice.
///
/// Keeps a hash of 87 bits and the line of each id: 22 to 43 bytes with the free slots, and 64 while the table grows. That two different ids share
/// a hash has a probability of 10⁻¹² for 20 million of them. The hashes are keyed by the process, so no file can aim at that.
struct RowIDs {
  private struct Slot {
    /// 0 for a free one.
    var hash: UInt64 = 0
    /// 24 more bits of hash, then 40 bits of the line.
    var checkAndLine: UInt64 = 0
  }

  private static let lineMask: UInt64 = 1 << 40 - 1

  private var slots = [Slot](repeating: Slot(), count: 1024)
  private var count = 0

  /// Notes that the row at `line` has the id `id`.
  ///
  /// - Returns: The line of the first row with that id; `nil` for a new id.
  /// - Complexity: two hashes, and a step or two in the table.
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

  /// The slot with this hash, or the free one where it belongs.
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
    // The pointer is used inside the call only.
    unsafe id.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }
}
