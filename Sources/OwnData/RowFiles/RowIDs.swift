/// A hash set of a file's row ids, to find duplicates.
///
/// It keeps a hash of 87 bits and the line of each id: 20 to 30 bytes including free slots. The table consists of
/// parts, each of which grows by itself, so that no second copy of the whole is needed. For 20 million ids, the
/// probability that two different ones share a hash is 10⁻¹². The hashes are keyed per process, so no file can be
/// crafted to collide.
package struct RowIDs {
  private struct Slot {
    /// The hash; 0 for a free slot.
    var hash: UInt64 = 0
    /// 24 bits of another hash, then 40 bits of the line.
    var checkAndLine: UInt64 = 0
  }

  /// The slots whose hashes begin with the same bits. At most four fifths of them are filled.
  private struct Part {
    var slots = [Slot](repeating: Slot(), count: 16)
    var count = 0

    /// Enters a hash. Returns the line of the id that has it already; `nil` if none has.
    mutating func insert(_ hash: UInt64, _ check: UInt64, _ line: Int) -> Int? {
      let index = place(hash, check)
      if slots[index].hash != 0 { return Int(slots[index].checkAndLine & RowIDs.lineMask) }
      slots[index] = Slot(hash: hash, checkAndLine: check | UInt64(line) & RowIDs.lineMask)
      count += 1
      if count > slots.count / 5 * 4 { grow() }
      return nil
    }

    /// The slot with this hash, or the free slot for it.
    private func place(_ hash: UInt64, _ check: UInt64) -> Int {
      let slots = slots.span
      var index = Int(truncatingIfNeeded: (hash << RowIDs.partBits).multipliedFullWidth(by: UInt64(slots.count)).high)
      while slots[index].hash != 0, slots[index].hash != hash || slots[index].checkAndLine & ~RowIDs.lineMask != check {
        index = index + 1 == slots.count ? 0 : index + 1
      }
      return index
    }

    func contains(_ hash: UInt64, _ check: UInt64) -> Bool { slots[place(hash, check)].hash != 0 }

    private mutating func grow() {
      let old = slots
      slots = [Slot](repeating: Slot(), count: old.count / 2 * 3)
      for slot in old where slot.hash != 0 { slots[place(slot.hash, slot.checkAndLine & ~RowIDs.lineMask)] = slot }
    }
  }

  private static let lineMask: UInt64 = 1 << 40 - 1
  private static let partBits = 6

  /// Creates an empty set.
  package init() {}

  private var parts = [Part](repeating: Part(), count: 1 << partBits)

  /// Whether there are no ids.
  package var isEmpty: Bool { parts.allSatisfy { $0.count == 0 } }

  /// Records that the row at `line` has the id `id`.
  ///
  /// - Returns: The line of the first row with that id; `nil` for a new id.
  /// - Complexity: Two hashes, and a few probes of the table.
  package mutating func insert(_ id: Span<UInt8>, line: Int) -> Int? {
    let hash = Self.hash(id) | 1
    let check = Self.check(id) & ~Self.lineMask
    let part = Int(truncatingIfNeeded: hash >> UInt64(64 - Self.partBits))
    return parts[part].insert(hash, check, line)
  }

  /// Returns whether a row has the id `id`.
  ///
  /// - Complexity: Two hashes, and a few probes of the table.
  package func contains(_ id: Span<UInt8>) -> Bool {
    let hash = Self.hash(id) | 1
    return parts[Int(truncatingIfNeeded: hash >> UInt64(64 - Self.partBits))].contains(
      hash, Self.check(id) & ~Self.lineMask)
  }

  private static func hash(_ id: Span<UInt8>) -> UInt64 {
    var hasher = Hasher()
    // The pointer is used only inside the call.
    unsafe id.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }

  /// A hash without a key (FNV-1a), for ids that have the same keyed hash by chance.
  private static func check(_ id: Span<UInt8>) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for index in id.indices { hash = (hash ^ UInt64(id[index])) &* 0x100_0000_01B3 }
    return hash
  }
}
