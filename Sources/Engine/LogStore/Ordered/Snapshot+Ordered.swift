import Bytes
import RecordFormat

extension Snapshot {
  /// The names of the ordered indexes of a table that this commit has.
  public func orderedIndexes(of table: Int) -> [String] {
    table < manifest.tables.count ? manifest.tables[table].orderedIndexes.map(\.name) : []
  }

  /// Returns the ordered index with this name; `nil` if this commit has none.
  public func orderedIndex(_ table: Int, named name: String) -> OrderedIndexID? {
    guard table < manifest.tables.count,
      let index = manifest.tables[table].orderedIndexes.firstIndex(where: { $0.name == name })
    else { return nil }
    return OrderedIndexID(table: table, index: index)
  }

  /// Returns a cursor over the rows of an ordered index.
  ///
  /// - Parameters:
  ///   - index: An index of this commit.
  ///   - gap: Where to begin.
  ///   - backward: Whether to go to smaller keys.
  /// - Throws: `StoreError.damaged` if a page fails its check.
  /// - Complexity: One page for each level of each block: a few microseconds.
  public func cursor(
    _ index: OrderedIndexID, from gap: OrderedGap = .start, backward: Bool = false
  ) throws(StoreError) -> OrderedCursor {
    try OrderedCursor(self, index, from: gap, isForward: !backward)
  }

  /// Calls `body` with each record of an ordered index from a gap on, in order, until it returns `false`. A record that
  /// has several keys in the index comes once for each.
  ///
  /// - Parameters:
  ///   - index: An index of this commit.
  ///   - gap: Where to begin.
  ///   - backward: Whether to go to smaller keys.
  ///   - limit: The maximum number of calls. Records after the last one are not prefetched, so a caller that knows how
  ///     many it needs should say so.
  ///   - body: A closure that may use the key and the record only during the call.
  /// - Throws: `StoreError.damaged` if a page or record fails its check; any error that `body` throws.
  /// - Complexity: As ``cursor(_:from:backward:)``, and one record for each call. Records are prefetched.
  public func forEachRecord(
    inOrderOf index: OrderedIndexID, from gap: OrderedGap = .start, backward: Bool = false, limit: Int = .max,
    _ body: (RawSpan, borrowing RecordView) throws(StoreError) -> Bool
  ) throws(StoreError) {
    var cursor = try cursor(index, from: gap, backward: backward)
    var rest = limit
    while rest > 0, try cursor.next() {
      rest -= 1
      cursor.prefetchRecords(min(Self.orderedPrefetchDistance, rest))
      let scope = ScratchScope(self)
      defer { scope.end() }
      if try !body(cursor.key, try record(cursor.row.unit, table: index.table)) { return }
    }
  }

  /// Calls `body` with the records of `rows` until it returns `false`.
  ///
  /// - Precondition: `rows` are rows of the table that this snapshot has.
  /// - Throws: `StoreError.damaged` if a record fails its check; any error that `body` throws.
  /// - Complexity: One record for each call. Records are prefetched.
  package func forEachRecord(
    ofRows rows: [RowID], table: Int, _ body: (borrowing RecordView) throws(StoreError) -> Bool
  ) throws(StoreError) {
    for (position, row) in rows.enumerated() {
      let next = position + Self.orderedPrefetchDistance
      if next < rows.count { prefetch(rows[next].unit) }
      let scope = ScratchScope(self)
      defer { scope.end() }
      if try !body(try record(row.unit, table: table)) { return }
    }
  }

  /// The number of records that are prefetched ahead: enough to overlap the misses of one record with the work on
  /// others.
  private static var orderedPrefetchDistance: Int { 12 }

  /// Returns the number of rows of an ordered index between two gaps, without reading rows or the leaves between.
  ///
  /// - Returns: The number, which includes dead rows that the file still has; and whether there are none of these in
  ///   the file, so that it is exact.
  /// - Throws: `StoreError.damaged` if a page fails its check.
  /// - Complexity: As two seeks.
  public func rowCount(
    inOrderOf index: OrderedIndexID, from first: OrderedGap = .start, to last: OrderedGap = .end
  ) throws(StoreError) -> (count: Int, isExact: Bool) {
    var count = 0
    for block in try orderedBlocks(index) {
      count += max(0, try rowCount(block, block.header.mainTree, from: first, to: last))
    }
    return (count, deadBlocks.isEmpty)
  }

  /// Appends the live rows of an ordered index between two gaps to `rows`, in no particular order. A row with several
  /// keys there is appended for each.
  ///
  /// - Throws: `StoreError.damaged` if a page or dead block fails its check.
  /// - Complexity: As two seeks, and a few nanoseconds for each row.
  package func appendRows(
    inOrderOf index: OrderedIndexID, from first: OrderedGap, to last: OrderedGap, to rows: inout [RowID]
  ) throws(StoreError) {
    for block in try orderedBlocks(index) {
      var place = try OrderedPlace(self, block, from: first, isForward: true)
      while !place.isAtEnd {
        let end = place.group.rowCount(before: last)
        for position in place.position..<max(place.position, end) {
          let unit = UnitOffset(rawValue: place.group.row(position))
          if try !isDead(unit) { rows.append(RowID(unit)) }
        }
        if end < place.group.rowCount { break }
        try place.moveToNextGroup(self)
      }
    }
  }

  /// The size of the file up to the end of this commit.
  package var fileByteCount: Int { end }

  /// Prefetches the record of a row that is read soon. This is a hint.
  package func prefetch(_ row: RowID) { prefetch(row.unit) }

  /// Appends the numbers of the rows of `key` that follow a row to `rows`, in ascending order, dead ones included.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - row: The row after which rows are appended; 0 for all.
  ///   - index: An index of this commit.
  ///   - rows: The list.
  ///   - limit: The length of the list with which no more is read. What was read is appended, so that it may become
  ///     longer by as many rows as one entry has.
  /// - Throws: `StoreError.damaged` if a page fails its check.
  /// - Complexity: One page for each level of each block, and 1 to 4 bytes for each row.
  package func appendRows(
    of key: RawSpan, after row: UInt32 = 0, in index: OrderedIndexID, to rows: inout [UInt32], limit: Int = .max
  ) throws(StoreError) {
    let gap = row == 0 ? OrderedGap.before(key.copied()) : .after(key.copied(), RowID(number: UInt64(row)))
    // Older blocks have the rows that lie before.
    for block in try orderedBlocks(index).reversed() where rows.count < limit {
      try appendRows(of: key, gap, in: block, block.header.mainTree, to: &rows, limit: limit)
    }
  }

  /// Appends the rows of `key` in one tree that follow a gap.
  func appendRows(
    of key: RawSpan, _ gap: OrderedGap, in block: OrderedBlock, _ tree: OrderedBlockHeader.Tree,
    to rows: inout [UInt32], limit: Int = .max
  ) throws(StoreError) {
    var number = try findLeaf(block, tree, gap)
    while number < tree.leafCount, rows.count < limit {
      let scope = ScratchScope(self)
      defer { scope.end() }
      let page = try page(block, tree, number)
      guard page.level == 0, let restart = page.lastRestart(notAfter: key, UInt32(clamping: gap.row)) else {
        throw damagedPage(block, tree, number)
      }
      var entries = page.entries(fromRestart: restart)
      while entries.next() {
        let order = entries.key.compare(to: key)
        if order < 0 { continue }
        if order > 0 || rows.count >= limit { return }
        let start = rows.count
        guard entries.appendRows(to: &rows) else { throw damagedPage(block, tree, number) }
        if UInt64(entries.firstRow) < gap.row {
          rows.removeSubrange(start..<(start..<rows.count).partitioningIndex { UInt64(rows[$0]) >= gap.row })
        }
      }
      guard entries.isAtEnd else { throw damagedPage(block, tree, number) }
      number += 1
    }
  }

  /// Calls `body` with each key between two gaps and the number of its rows, dead ones included, until it returns
  /// `false`. Keys come in order within a block, one block after the other; a key may come more than once, with a part
  /// of its rows each time.
  ///
  /// - Throws: `StoreError.damaged` if a page fails its check; any error that `body` throws.
  /// - Complexity: Two pages, and the leaves between the gaps. Rows are not read.
  package func forEachKey(
    of index: OrderedIndexID, from first: OrderedGap, to last: OrderedGap,
    _ body: (RawSpan, Int) throws(StoreError) -> Bool
  ) throws(StoreError) {
    try forEachEntry(of: index, from: first, to: last) { (entries) throws(StoreError) in
      try body(entries.key, entries.rowCount)
    }
  }

  /// Calls `body` with each key between two gaps and its rows, in ascending order and dead ones included, until it
  /// returns `false`. Keys come as in ``forEachKey(of:from:to:_:)``.
  ///
  /// - Parameter isWanted: Returns whether the rows of a key are read, of which it gets the number; others are passed.
  /// - Throws: `StoreError.damaged` if a page fails its check; any error that `body` throws.
  package func forEachKeyAndRows(
    of index: OrderedIndexID, from first: OrderedGap, to last: OrderedGap,
    isWanted: (RawSpan, Int) -> Bool = { _, _ in true },
    _ body: (RawSpan, Span<UInt32>) throws(StoreError) -> Bool
  ) throws(StoreError) {
    var rows: [UInt32] = []
    try forEachEntry(of: index, from: first, to: last) { (entries) throws(StoreError) in
      guard isWanted(entries.key, entries.rowCount) else { return true }
      rows.removeAll(keepingCapacity: true)
      guard entries.appendRows(to: &rows) else {
        throw log.damage(end, "ordered block: the rows of a key contradict each other")
      }
      return try body(entries.key, rows.span)
    }
  }

  private func forEachEntry(
    of index: OrderedIndexID, from first: OrderedGap, to last: OrderedGap,
    _ body: (borrowing OrderedEntries) throws(StoreError) -> Bool
  ) throws(StoreError) {
    for block in try orderedBlocks(index) {
      let tree = block.header.mainTree
      let firstLeaf = try findLeaf(block, tree, first)
      // All entries of the leaves between are between the gaps.
      let lastLeaf = try findLeaf(block, tree, last)
      for number in firstLeaf..<max(firstLeaf, lastLeaf + 1) {
        let scope = ScratchScope(self)
        defer { scope.end() }
        let page = try page(block, tree, number)
        guard page.level == 0, let restart = number == firstLeaf ? page.lastRestart(notAfter: first.key.rawSpan, 0) : 0
        else { throw damagedPage(block, tree, number) }
        var entries = page.entries(fromRestart: restart)
        var isInside = true
        while isInside, entries.next() {
          if number == firstLeaf, first.follows(entries.key, entries.firstRow) { continue }
          isInside = number < lastLeaf || last.follows(entries.key, entries.firstRow)
          if isInside, try !body(entries) { return }
        }
        guard !isInside || entries.isAtEnd else { throw damagedPage(block, tree, number) }
      }
    }
  }

  /// Calls `body` with each key whose text contains `part`, and the number of its rows, dead ones included, until it
  /// returns `false`. Keys come in no particular order, and a key may come more than once, with a part of its rows.
  ///
  /// - Parameters:
  ///   - part: At least three bytes.
  ///   - index: An index with fragments.
  /// - Throws: `StoreError.damaged` if a page fails its check; any error that `body` throws.
  /// - Complexity: The leaves that have all fragments of `part`.
  package func forEachKey(
    containing part: RawSpan, of index: OrderedIndexID, _ body: (RawSpan, Int) throws(StoreError) -> Bool
  ) throws(StoreError) {
    try forEachEntry(containing: part, of: index) { (entries) throws(StoreError) in
      try body(entries.key, entries.rowCount)
    }
  }

  /// Calls `body` with each key whose text contains `part` and its rows, in ascending order and dead ones included,
  /// until it returns `false`. Keys come as in ``forEachKey(containing:of:_:)``.
  ///
  /// - Parameters:
  ///   - part: At least three bytes.
  ///   - index: An index with fragments.
  ///   - isWanted: Returns whether the rows of a key are read, of which it gets the number; others are passed.
  /// - Throws: `StoreError.damaged` if a page fails its check; any error that `body` throws.
  package func forEachKeyAndRows(
    containing part: RawSpan, of index: OrderedIndexID, isWanted: (RawSpan, Int) -> Bool,
    _ body: (RawSpan, Span<UInt32>) throws(StoreError) -> Bool
  ) throws(StoreError) {
    var rows: [UInt32] = []
    try forEachEntry(containing: part, of: index) { (entries) throws(StoreError) in
      guard isWanted(entries.key, entries.rowCount) else { return true }
      rows.removeAll(keepingCapacity: true)
      guard entries.appendRows(to: &rows) else {
        throw log.damage(end, "ordered block: the rows of a key contradict each other")
      }
      return try body(entries.key, rows.span)
    }
  }

  private func forEachEntry(
    containing part: RawSpan, of index: OrderedIndexID, _ body: (borrowing OrderedEntries) throws(StoreError) -> Bool
  ) throws(StoreError) {
    precondition(part.byteCount >= 3, "a fragment has three bytes")
    for block in try orderedBlocks(index) {
      let tree = block.header.mainTree
      for number in try leaves(containing: part, in: block) {
        guard number > 0, Int(number) <= tree.leafCount else {
          throw log.damage(block.offset, "fragment tree: there is no leaf \(number)")
        }
        let scope = ScratchScope(self)
        defer { scope.end() }
        let page = try page(block, tree, Int(number) - 1)
        guard page.level == 0 else { throw damagedPage(block, tree, Int(number) - 1) }
        var entries = page.entries()
        // Where the part ends in the key before; 0 if that does not contain it.
        var end = 0
        while entries.next() {
          // What both keys begin with is not searched again.
          let shared = entries.sharedByteCount
          if end == 0 || end > shared {
            end = KeyText.end(of: part, in: entries.key, from: shared - part.byteCount + 1)
          }
          if end > 0, try !body(entries) { return }
        }
        guard entries.isAtEnd else { throw damagedPage(block, tree, Int(number) - 1) }
      }
    }
  }

  /// Returns the numbers, plus one, of the leaves of a block that have all fragments of `part`.
  private func leaves(containing part: RawSpan, in block: OrderedBlock) throws(StoreError) -> [UInt32] {
    guard let tree = block.header.fragmentTree else { return [] }
    var common: [UInt32]?
    var fragments: [(start: Int, count: Int)] = []
    KeyText.forEachFragment(of: part) { fragments.append(($0, $1)) }
    // Three digits at the end may be the first of four in the key. They say nothing that four before them do not, as
    // long as there are any.
    if let last = fragments.last, last.count == 3, fragments.count > 1, KeyText.hasThreeDigits(part, last.start) {
      fragments.removeLast()
    }
    for fragment in fragments {
      let bytes = part.slice(fragment.start, fragment.count)
      var found: [UInt32] = []
      if fragment.count == 3, KeyText.hasThreeDigits(part, fragment.start) {
        try appendLeaves(ofPrefix: bytes, in: block, tree, to: &found)
      } else {
        try appendRows(of: bytes, .before(bytes.copied()), in: block, tree, to: &found)
      }
      if let candidates = common { found = Self.intersection(candidates, found) }
      if found.isEmpty { return [] }
      common = found
    }
    return common ?? []
  }

  /// Appends the leaves of all fragments that begin with `prefix`, each once, in ascending order.
  private func appendLeaves(
    ofPrefix prefix: RawSpan, in block: OrderedBlock, _ tree: OrderedBlockHeader.Tree, to leaves: inout [UInt32]
  ) throws(StoreError) {
    try appendRows(of: prefix, .before(prefix.copied()), in: block, tree, to: &leaves)
    var longer = prefix.copied()
    for digit in UInt8(ascii: "0")...UInt8(ascii: "9") {
      longer.append(digit)
      try appendRows(of: longer.rawSpan, .before(longer), in: block, tree, to: &leaves)
      longer.removeLast()
    }
    leaves.sort()
    var last: UInt32 = 0
    leaves.removeAll { leaf in
      defer { last = leaf }
      return leaf == last
    }
  }

  private static func intersection(_ a: [UInt32], _ b: [UInt32]) -> [UInt32] {
    var result: [UInt32] = []
    var other = 0
    for number in a {
      while other < b.count, b[other] < number { other += 1 }
      if other < b.count, b[other] == number { result.append(number) }
    }
    return result
  }
}
