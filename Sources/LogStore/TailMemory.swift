/// What a writer remembers of the rows that it put behind the base.
///
/// Blocks of the tail are merged again and again. With the hashes of their rows at hand a merge touches no row; without
/// them each would be read back, checked and hashed, which is half of the cost of a commit of a thousand rows.
struct TailMemory {
  /// Rows of a block, as large as it is worth to remember: 16 bytes each.
  private static let rowLimit = 1 << 17

  /// The rows of a block of the tail by where the block stands, sorted by hash; only such as were live when it was
  /// written.
  private var rows: [UInt64: [IndexEntry]] = [:]
  /// Rows of the tail that died since this writer opened the store.
  private var dead = UnitSet()

  /// The rows of the block at `offset` that live still, sorted by hash; `nil` if it is not known.
  func liveRows(ofBlockAt offset: UInt64) -> [IndexEntry]? {
    guard let known = rows[offset] else { return nil }
    return dead.isEmpty ? known : known.filter { !dead.contains($0.offset) }
  }

  /// Takes over what a commit changed.
  ///
  /// - Parameters:
  ///   - written: the rows of each new block.
  ///   - blocks: where the blocks of the tail stand now; others are forgotten.
  ///   - newDead: the rows that died.
  ///   - firstRow: the tail's first unit; rows before it are the base's.
  mutating func update(
    written: [UInt64: [IndexEntry]], blocks: Set<UInt64>, newDead: some Sequence<UInt32>, firstRow: UInt32
  ) {
    rows = rows.filter { blocks.contains($0.key) }
    for (offset, entries) in written where entries.count <= Self.rowLimit { rows[offset] = entries }
    for unit in newDead where unit >= firstRow { _ = dead.insert(unit) }
  }
}
