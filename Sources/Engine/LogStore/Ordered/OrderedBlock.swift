import Bytes
import RecordFormat

/// The location and shape of an ordered block, checked against the committed end of the log.
struct OrderedBlock: Sendable {
  let offset: Int
  let header: OrderedBlockHeader
}

/// The identifier of an ordered index: its table and its position among the ordered indexes of the table, both of one
/// commit.
public struct OrderedIndexID: Hashable, Sendable {
  /// The index of the table in the schema.
  public let table: Int
  /// The position among the ordered indexes of the table.
  public let index: Int

  init(table: Int, index: Int) {
    self.table = table
    self.index = index
  }
}

extension Snapshot {
  /// Returns the ordered blocks of an index, newest first.
  ///
  /// - Throws: `StoreError.damaged` if a block's header fails its check or contradicts the manifest.
  /// - Complexity: One cache line for each block the first time; then they are remembered.
  func orderedBlocks(_ id: OrderedIndexID) throws(StoreError) -> [OrderedBlock] {
    if let known = orderedBlocks.withLock({ $0[id] }) { return known }
    var blocks: [OrderedBlock] = []
    for block in manifest.tables[id.table].orderedIndexes[id.index].blocks { blocks.append(try orderedBlock(block)) }
    let found = blocks
    orderedBlocks.withLock { $0[id] = found }
    return found
  }

  func orderedBlock(_ block: Manifest.Block) throws(StoreError) -> OrderedBlock {
    let start = Int(clamping: block.offset)
    guard start % 64 == 0, start >= SegmentHeader.firstOffset, block.bucketCount > 0, start <= end - block.byteCount
    else { throw log.damage(start, "an ordered block of \(block.bucketCount) lines lies outside the commit") }
    let header: OrderedBlockHeader
    do {
      header = try OrderedBlockHeader(
        mapped(start, OrderedBlockHeader.byteCount), at: UnitOffset(byteOffset: start))
    } catch { throw log.damage(start, "ordered block: \(error)") }
    guard header.lineCount == block.bucketCount, header.entryCount == block.entryCount,
      header.levels == block.longestDisplacement
    else { throw log.damage(start, "ordered block: its header contradicts the manifest") }
    return OrderedBlock(offset: start, header: header)
  }

  /// Returns a page of a tree, which was checked.
  @_lifetime(borrow self)
  func page(_ block: OrderedBlock, _ tree: OrderedBlockHeader.Tree, _ number: Int) throws(StoreError) -> OrderedPage {
    guard number >= 0, number < tree.pageCount else {
      throw log.damage(block.offset, "ordered block: there is no page \(number)")
    }
    let place = tree.page(number)
    let offset = block.offset + place.start
    let bytes = mapped(offset, place.byteCount)
    guard Checksum.isValid(bytes, at: UnitOffset(byteOffset: offset)) else {
      throw log.damage(offset, "page of an ordered block: checksum")
    }
    let plain = isSealed ? try opened(page: bytes, at: UnitOffset(byteOffset: offset)) : bytes
    guard let page = OrderedPage(plain) else { throw damagedPage(block, tree, number) }
    return page
  }

  /// Replaces `copy` by a copy of a page, which was checked after it was made.
  func copyPage(
    _ block: OrderedBlock, _ tree: OrderedBlockHeader.Tree, _ number: Int, to copy: inout [UInt8]
  ) throws(StoreError) {
    let place = tree.page(number)
    let offset = block.offset + place.start
    copy.removeAll(keepingCapacity: true)
    copy.append(mapped(offset, place.byteCount))
    guard Checksum.isValid(copy.rawSpan, at: UnitOffset(byteOffset: offset)) else {
      throw log.damage(offset, "page of an ordered block: checksum")
    }
    if isSealed {
      let scope = ScratchScope(self)
      defer { scope.end() }
      let plain = try opened(page: copy.rawSpan, at: UnitOffset(byteOffset: offset))
      copy.replaceSubrange(0..<copy.count, with: plain.copied())
    }
  }

  func damagedPage(_ block: OrderedBlock, _ tree: OrderedBlockHeader.Tree, _ number: Int) -> StoreError {
    log.damage(block.offset + tree.page(number).start, "page of an ordered block: its entries contradict each other")
  }

  /// Reads a leaf.
  func read(
    _ block: OrderedBlock, _ tree: OrderedBlockHeader.Tree, leaf number: Int, into leaf: inout OrderedLeaf
  ) throws(StoreError) {
    let scope = ScratchScope(self)
    defer { scope.end() }
    let page = try page(block, tree, number)
    guard page.level == 0, leaf.read(page) else { throw damagedPage(block, tree, number) }
  }

  /// Returns the number of the leaf that has the first pair at or after a gap, if the tree has one, or the leaf before
  /// it.
  func findLeaf(
    _ block: OrderedBlock, _ tree: OrderedBlockHeader.Tree, _ gap: OrderedGap
  ) throws(StoreError) -> Int {
    if let directory = try log.directories.directory(self, block, tree) { return directory.leaf(at: gap) }
    let scope = ScratchScope(self)
    defer { scope.end() }
    var number = tree.pageCount - 1
    for level in stride(from: tree.levels - 1, to: 0, by: -1) {
      let page = try page(block, tree, number)
      guard page.level == level, let child = Self.lastChild(of: page, notAfter: gap) else {
        throw damagedPage(block, tree, number)
      }
      number = page.firstChild + child
    }
    guard number < tree.leafCount else { throw damagedPage(block, tree, tree.pageCount - 1) }
    return number
  }

  /// Returns the last entry of a page above the leaves that does not follow a gap, or the first one. `nil` if an entry
  /// is not valid.
  private static func lastChild(of page: OrderedPage, notAfter gap: OrderedGap) -> Int? {
    if gap.isAtEnd { return page.entryCount - 1 }
    return page.lastEntry(notAfter: gap.key.rawSpan, UInt32(clamping: gap.row))
  }

  /// Returns the number of rows of a tree between two gaps, dead ones included, without reading the leaves between.
  ///
  /// - Complexity: As two seeks, which have the pages in common that lead to both gaps.
  func rowCount(
    _ block: OrderedBlock, _ tree: OrderedBlockHeader.Tree, from first: OrderedGap, to last: OrderedGap
  ) throws(StoreError) -> Int {
    if let directory = try log.directories.directory(self, block, tree) {
      let (low, high) = (directory.leaf(at: first), directory.leaf(at: last))
      if low > high { return 0 }
      if low == high { return try rowCount(block, tree, from: first, to: last, inLeaf: low) }
      return directory.rowCount(before: high) - directory.rowCount(before: low)
        + (try rank(block, tree, last, in: high, level: 0)) - (try rank(block, tree, first, in: low, level: 0))
    }
    let scope = ScratchScope(self)
    defer { scope.end() }
    var number = tree.pageCount - 1
    for level in stride(from: tree.levels - 1, to: 0, by: -1) {
      let page = try page(block, tree, number)
      guard page.level == level, let low = Self.lastChild(of: page, notAfter: first),
        let high = Self.lastChild(of: page, notAfter: last)
      else { throw damagedPage(block, tree, number) }
      if low > high { return 0 }
      if low < high {
        guard let rows = page.rowCount(of: low..<high) else { throw damagedPage(block, tree, number) }
        return rows + (try rank(block, tree, last, in: page.firstChild + high, level: level - 1))
          - (try rank(block, tree, first, in: page.firstChild + low, level: level - 1))
      }
      number = page.firstChild + low
    }
    guard number < tree.leafCount else { throw damagedPage(block, tree, tree.pageCount - 1) }
    return try rowCount(block, tree, from: first, to: last, inLeaf: number)
  }

  /// Returns the number of rows of one leaf between two gaps.
  private func rowCount(
    _ block: OrderedBlock, _ tree: OrderedBlockHeader.Tree, from first: OrderedGap, to last: OrderedGap,
    inLeaf number: Int
  ) throws(StoreError) -> Int {
    let scope = ScratchScope(self)
    defer { scope.end() }
    let page = try page(block, tree, number)
    guard let low = page.lastGroup(notAfter: first), let high = page.lastGroup(notAfter: last) else {
      throw damagedPage(block, tree, number)
    }
    if low > high { return 0 }
    guard let between = page.rowCount(ofGroups: low..<high), let before = page.rowCount(ofGroup: low, before: first),
      let within = page.rowCount(ofGroup: high, before: last)
    else { throw damagedPage(block, tree, number) }
    return between + within - before
  }

  /// Returns the number of rows before a gap among those to which a page of a tree leads.
  private func rank(
    _ block: OrderedBlock, _ tree: OrderedBlockHeader.Tree, _ gap: OrderedGap, in first: Int, level highest: Int
  ) throws(StoreError) -> Int {
    let scope = ScratchScope(self)
    defer { scope.end() }
    var number = first
    var rowsBefore = 0
    for level in stride(from: highest, to: 0, by: -1) {
      let page = try page(block, tree, number)
      guard page.level == level, let child = Self.lastChild(of: page, notAfter: gap),
        let rows = page.rowCount(of: 0..<child)
      else { throw damagedPage(block, tree, number) }
      rowsBefore += rows
      guard rowsBefore <= UInt32.max else { throw damagedPage(block, tree, number) }
      number = page.firstChild + child
    }
    guard number < tree.leafCount else { throw damagedPage(block, tree, tree.pageCount - 1) }
    let page = try page(block, tree, number)
    guard let last = page.lastGroup(notAfter: gap), let within = page.rowCount(ofGroup: last, before: gap),
      let rows = page.rowCount(ofGroups: 0..<last)
    else { throw damagedPage(block, tree, number) }
    return rowsBefore + rows + within
  }
}

extension OrderedPage {
  /// Returns the number of rows of some entries of a page, or to which they lead; `nil` if one of them is not valid.
  fileprivate func rowCount(of range: Range<Int>) -> Int? {
    if range.isEmpty { return 0 }
    let restart = range.lowerBound / Self.restartInterval
    var entries = storedEntries(fromRestart: restart)
    var rows = 0
    for index in restart * Self.restartInterval..<range.upperBound {
      guard entries.next() else { return nil }
      if index >= range.lowerBound { rows += entries.rowCount }
    }
    return rows
  }

  /// Returns the number of rows of some groups of a leaf; `nil` if an entry of them is not valid.
  fileprivate func rowCount(ofGroups range: Range<Int>) -> Int? {
    rowCount(of: range.lowerBound * Self.restartInterval..<range.upperBound * Self.restartInterval)
  }

  /// Returns the number of rows of a group of a leaf that lie before a gap; `nil` if an entry of it is not valid.
  fileprivate func rowCount(ofGroup group: Int, before gap: OrderedGap) -> Int? {
    let first = group * Self.restartInterval
    let last = min(entryCount, first + Self.restartInterval)
    if gap.isAtEnd { return rowCount(of: first..<last) }
    let key = gap.key.rawSpan
    var entries = storedEntries(fromRestart: group)
    var rows = 0
    // How the previous entry's key compares with `key`, and how many bytes they have in common.
    var order = 0
    var common = 0
    for index in first..<last {
      guard entries.next() else { return nil }
      // A key that shares more with the previous one than that has in common with `key` compares as that did.
      if index == first || entries.sharedByteCount <= common {
        let rest = key.slice(entries.sharedByteCount, key.byteCount - entries.sharedByteCount)
        let own = bytes.slice(entries.ownBytes, entries.ownByteCount)
        order = own.compare(to: rest)
        common = entries.sharedByteCount + own.commonPrefixByteCount(with: rest)
      }
      if order > 0 { return rows }
      if order < 0 || gap.row > UInt64(UInt32.max) {
        rows += entries.rowCount
      } else if gap.row > UInt64(entries.firstRow) {
        var own: [UInt32] = []
        guard entries.appendRows(to: &own) else { return nil }
        rows += own.indices.partitioningIndex { UInt64(own[$0]) >= gap.row }
      }
    }
    return rows
  }
}
