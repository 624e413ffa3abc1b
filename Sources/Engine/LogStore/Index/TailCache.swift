/// A cache of the index entries of the tail: the rows that a writer put after the base.
///
/// Blocks of the tail are merged again and again. With the cached hashes a merge reads no row. Otherwise each row would
/// be read back, checked and hashed, which is half of the cost of a commit of a thousand rows.
///
/// Invariants: `rows` has present blocks of the tail only; a row that is cached and not in `dead` is live. A block that
/// is missing here is only slower, because its rows are read from the file.
struct TailCache {
  /// The maximum number of cached rows per block, 16 bytes each.
  private static let rowLimit = 1 << 17

  /// The rows of each block of the tail, by the block's offset, sorted by hash. Only rows that were live when the block
  /// was written are included.
  private var rows: [UInt64: [IndexEntry]] = [:]
  /// The rows of the tail that died since this writer opened the store.
  private var dead = UnitSet()

  /// Returns the live rows of the block at `offset`, sorted by hash; `nil` if they are not cached.
  func liveRows(ofBlockAt offset: UInt64) -> [IndexEntry]? {
    guard let cached = rows[offset] else { return nil }
    return dead.isEmpty ? cached : cached.filter { !dead.contains($0.offset) }
  }

  /// Applies the changes of a commit.
  ///
  /// - Parameters:
  ///   - written: The rows of each new block.
  ///   - blocks: The offsets of the present blocks of the tail. Other blocks are removed from the cache.
  ///   - newDead: The rows that died.
  ///   - firstRow: The first unit of the tail. Rows before it belong to the base.
  mutating func update(
    written: [UInt64: [IndexEntry]], blocks: Set<UInt64>, newDead: some Sequence<UInt32>, firstRow: UInt32
  ) {
    rows = rows.filter { blocks.contains($0.key) }
    for (offset, entries) in written where entries.count <= Self.rowLimit { rows[offset] = entries }
    for unit in newDead where unit >= firstRow { _ = dead.insert(unit) }
  }
}
