import Bytes

/// The 64 bytes before the trees of an ordered block.
///
///     0 magic · 8 kind · 9 zero · 10 levels · 12 lines · 16 entries · 20 lines, 24 leaves of the main tree
///     28 leaves, 32 levels of the fragment tree · 60 crc, salted
package struct OrderedBlockHeader: Equatable, Sendable {
  package static let byteCount = BlockHeader.byteCount
  /// The block kind in the file, which distinguishes an ordered block from a hash table.
  private static let kind: UInt8 = 2

  /// The offset of each field, which is the end of the previous field.
  private enum Offset {
    static let kind = 8
    static let zero = kind + 1
    static let levels = zero + 1
    static let lineCount = levels + 2
    static let entryCount = lineCount + 4
    static let mainLineCount = entryCount + 4
    static let leafCount = mainLineCount + 4
    static let fragmentLeafCount = leafCount + 4
    static let fragmentLevels = fragmentLeafCount + 4
    static let reserved = fragmentLevels + 2
    static let checksum = reserved + 26
    static let total = checksum + 4
  }

  /// The levels of the main tree, including its leaves.
  package var levels: UInt16
  /// The length of both trees in units of 64 bytes.
  package var lineCount: UInt32
  /// The number of entries in the leaves of the main tree.
  package var entryCount: UInt32
  /// The length of the main tree in units of 64 bytes.
  package var mainLineCount: UInt32
  package var leafCount: UInt32
  /// The number of leaves of the fragment tree; 0 if there is no such tree.
  package var fragmentLeafCount: UInt32 = 0
  /// The levels of the fragment tree; 0 if there is no such tree.
  package var fragmentLevels: UInt16 = 0

  package init(
    levels: UInt16, lineCount: UInt32, entryCount: UInt32, mainLineCount: UInt32, leafCount: UInt32
  ) {
    self.levels = levels
    self.lineCount = lineCount
    self.entryCount = entryCount
    self.mainLineCount = mainLineCount
    self.leafCount = leafCount
  }

  /// Returns the header's bytes for a block at `unit`.
  package func encoded(at unit: UnitOffset) -> [UInt8] {
    var writer = ByteWriter()
    writer.put(Array(BlockHeader.magic.utf8))
    writer.put(Self.kind, at: Offset.kind)
    writer.put(0 as UInt8, at: Offset.zero)
    writer.put(levels, at: Offset.levels)
    writer.put(lineCount, at: Offset.lineCount)
    writer.put(entryCount, at: Offset.entryCount)
    writer.put(mainLineCount, at: Offset.mainLineCount)
    writer.put(leafCount, at: Offset.leafCount)
    writer.put(fragmentLeafCount, at: Offset.fragmentLeafCount)
    writer.put(fragmentLevels, at: Offset.fragmentLevels)
    writer.putChecksum(at: Offset.checksum, salt: Checksum.salt(unit))
    assert(Offset.total == Self.byteCount, "the fields fill the layout")
    return writer.bytes(ofLayout: Self.byteCount)
  }

  package init(_ span: RawSpan, at unit: UnitOffset) throws(FormatFault) {
    try span.check(BlockHeader.magic, byteCount: Self.byteCount, salt: Checksum.salt(unit))
    try span.checkReserved(Offset.reserved..<Offset.checksum)
    try span.checkReserved(Offset.zero..<Offset.levels)
    let kind = span.u8(at: Offset.kind)
    guard kind == Self.kind else { throw .field("block kind", UInt64(kind)) }
    levels = span.u16(at: Offset.levels)
    lineCount = span.u32(at: Offset.lineCount)
    entryCount = span.u32(at: Offset.entryCount)
    mainLineCount = span.u32(at: Offset.mainLineCount)
    leafCount = span.u32(at: Offset.leafCount)
    fragmentLeafCount = span.u32(at: Offset.fragmentLeafCount)
    fragmentLevels = span.u16(at: Offset.fragmentLevels)
    guard mainLineCount > 0, mainLineCount <= lineCount else { throw .field("lines", UInt64(mainLineCount)) }
    guard leafCount > 0, Int(leafCount) <= mainTree.pageCount else { throw .field("leaves", UInt64(leafCount)) }
    guard levels > 0, (levels == 1) == (leafCount == 1) else { throw .field("levels", UInt64(levels)) }
    guard (fragmentLeafCount == 0) == (mainLineCount == lineCount), (fragmentLevels == 0) == (fragmentLeafCount == 0),
      Int(fragmentLeafCount) <= (fragmentTree?.pageCount ?? 0)
    else { throw .field("fragment tree", UInt64(fragmentLeafCount)) }
  }

  /// The place and shape of a tree.
  package struct Tree: Sendable {
    /// The offset of the first page after the block's header.
    package let start: Int
    package let lineCount: Int
    package let leafCount: Int
    package let levels: Int

    /// The number of pages. Only the last one may be shorter than ``OrderedPage/byteCount``.
    package var pageCount: Int { (lineCount + OrderedPage.lineCount - 1) / OrderedPage.lineCount }

    /// Returns the offset of a page after the block's header, and its size.
    package func page(_ number: Int) -> (start: Int, byteCount: Int) {
      let first = number * OrderedPage.byteCount
      return (start + first, min(OrderedPage.byteCount, lineCount * 64 - first))
    }
  }

  package var mainTree: Tree {
    Tree(start: Self.byteCount, lineCount: Int(mainLineCount), leafCount: Int(leafCount), levels: Int(levels))
  }

  /// The tree that finds leaves of the main tree by fragments of their keys; `nil` if the block has none.
  package var fragmentTree: Tree? {
    if fragmentLeafCount == 0 { return nil }
    return Tree(
      start: Self.byteCount + 64 * Int(mainLineCount), lineCount: Int(lineCount) - Int(mainLineCount),
      leafCount: Int(fragmentLeafCount), levels: Int(fragmentLevels))
  }
}
