import LogStore

/// Leaves out rows of the rarest word of a search that certainly lack another word.
///
/// What the other words have is read only where that takes less time than reading the products that it leaves out.
struct RowFilters {
  /// The candidates of the other words, those of the rarest first.
  private let others: [WordCandidates]
  /// The rows of each of them, once they were read.
  private var rows: [HashedRows?]
  private let productCount: Int

  /// About how many rows are read from an index while one product is read and compared.
  static let rowsPerProduct = 200
  /// About how many products have to be found.
  private static let wantedCount = 21
  /// The number of rows up to which reading their products is always faster.
  private static let fewCount = 32

  init(others: some Sequence<WordCandidates>, productCount: Int) {
    self.others = Array(others)
    self.productCount = max(1, productCount)
    rows = [HashedRows?](repeating: nil, count: self.others.count)
  }

  var isEmpty: Bool { others.isEmpty }

  /// Returns rows without those that lack another word.
  ///
  /// - Parameter isFirst: Whether the products of these rows may well be enough, so that the rows of a word that many
  ///   products have are not read.
  /// - Throws: `StoreError.damaged` if a page fails its check.
  mutating func filtered(_ found: [UInt32], isFirst: Bool) throws(StoreError) -> [UInt32] {
    var found = found
    for number in others.indices {
      if rows[number] == nil, isWorthReading(others[number].count, for: found.count, isFirst: isFirst) {
        rows[number] = try HashedRows(of: others[number])
      }
      if let rows = rows[number] { found.removeAll { !rows.mayContain($0) } }
    }
    return found
  }

  private func isWorthReading(_ count: Int, for candidateCount: Int, isFirst: Bool) -> Bool {
    if candidateCount <= Self.fewCount { return false }
    // As if words did not depend on one another.
    let readCount = isFirst ? min(candidateCount, Self.wantedCount * productCount / max(1, count)) : candidateCount
    return count < Self.rowsPerProduct * readCount
  }
}

/// The rows of a word, by a bit for each hash: a superset of them.
private struct HashedRows {
  private var bits: [UInt64]
  private let shift: UInt32

  init(of candidates: WordCandidates) throws(StoreError) {
    // Eight bits a row: one of eight rows that are not there seems to be.
    let width = max(10, Int.bitWidth - (candidates.count * 8).leadingZeroBitCount)
    shift = UInt32(32 - min(32, width))
    var bits = [UInt64](repeating: 0, count: 1 << (min(32, width) - 6))
    let shift = shift
    try candidates.forEachKey { rows, _ in
      for position in 0..<rows.count {
        let hash = Int(RowSet.hash(rows[position]) >> shift)
        bits[hash >> 6] |= 1 << UInt64(hash & 63)
      }
    }
    self.bits = bits
  }

  func mayContain(_ row: UInt32) -> Bool {
    let hash = Int(RowSet.hash(row) >> shift)
    return bits[hash >> 6] >> UInt64(hash & 63) & 1 != 0
  }
}

/// A set of rows that grows.
struct RowSet {
  /// The rows, each at its hash or after it; zero where there is none: no row begins there.
  private var slots: [UInt32]
  private var count = 0
  /// Stands for a row that was removed: no row begins there either.
  private static let removed: UInt32 = 1

  init() { slots = [UInt32](repeating: 0, count: 512) }

  init(_ rows: [UInt32]) {
    slots = [UInt32](repeating: 0, count: max(64, 1 << (Int.bitWidth - (rows.count * 2).leadingZeroBitCount)))
    for row in rows { _ = insert(row) }
  }

  /// Inserts a row. Returns whether it was not there.
  mutating func insert(_ row: UInt32) -> Bool {
    if count * 2 >= slots.count { grow() }
    let place = self.place(of: row)
    if slots[place] != 0 { return false }
    slots[place] = row
    count += 1
    return true
  }

  /// Removes a row. Returns whether it was there.
  mutating func remove(_ row: UInt32) -> Bool {
    let place = self.place(of: row)
    if slots[place] == 0 { return false }
    slots[place] = Self.removed
    return true
  }

  /// Where a row is, or would be.
  private func place(of row: UInt32) -> Int {
    let mask = slots.count - 1
    var place = Int(Self.hash(row)) & mask
    while slots[place] != 0, slots[place] != row { place = (place + 1) & mask }
    return place
  }

  private mutating func grow() {
    let former = slots
    slots = [UInt32](repeating: 0, count: former.count * 2)
    count = 0
    for row in former where row > Self.removed { _ = insert(row) }
  }

  /// The upper bits are the best ones; the lower ones are good enough for a table that is half empty.
  @inline(__always)
  static func hash(_ row: UInt32) -> UInt32 {
    let product = row &* 0x9E37_79B1
    return product ^ product >> 15
  }
}
