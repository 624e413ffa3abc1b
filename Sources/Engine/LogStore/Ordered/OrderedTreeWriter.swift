import Bytes
import RecordFormat

/// A writer of one tree of an ordered block: keys and rows in ascending order in, pages out.
///
/// Invariants:
/// - Keys ascend, and so do the rows of one key; a key whose rows do not fit one leaf goes on in the next one.
/// - `pages` has finished pages only, in the order of the file: the leaves, then each level above them, the root last.
/// - `separators` has one entry for each leaf that was begun. Its row count is set when the leaf is finished.
struct OrderedTreeWriter {
  /// Where a page begins: a key and a row that follow every entry before the page and none in it.
  private struct Separator {
    var keyEnd: Int
    var row: UInt32
    /// The number of rows in the leaves below.
    var rowCount: Int
  }

  /// The offset of the tree in the file, a multiple of 64.
  private let start: Int
  /// The pages that are finished.
  private(set) var pages: SpilledBytes
  private var leaf: OrderedPageBuilder
  /// Seals a page; `nil` in a clear log.
  private let seal: PageSeal?
  typealias PageSeal = (inout MutableRawSpan, UnitOffset) -> Void
  private var separators: [Separator] = []
  private var separatorKeys: [UInt8] = []
  /// The last key of the leaf before.
  private var lastKey: [UInt8] = []
  /// The number of rows in the unfinished leaf.
  private var leafRowCount = 0
  private(set) var entryCount = 0
  private(set) var rowCount = 0

  init(at start: Int, _ space: SpillSpace, seal: PageSeal?) {
    self.start = start
    self.seal = seal
    leaf = OrderedPageBuilder(level: 0, reserving: seal == nil ? 0 : SealedForm.overhead)
    pages = SpilledBytes(space)
  }

  var leafCount: Int { separators.count }
  private(set) var levels = 1

  /// Appends a key with its rows, both after all that were appended before.
  ///
  /// - Parameter didEnter: A closure that is called with the number of each leaf that has the key.
  /// - Throws: `StoreError.io`, including for a full device, if pages do not fit memory.
  mutating func append(
    _ key: RawSpan, _ rows: Span<UInt32>, _ didEnter: (Int) -> Void = { _ in }
  ) throws(StoreError) {
    var first = 0
    while first < rows.count {
      let rest = rows.extracting(first..<rows.count)
      let taken: Int
      if leaf.entryCount == 0 {
        beginLeaf(key, rest[0], isContinued: first > 0)
        taken = leaf.append(key, rest)
      } else {
        taken = leaf.append(key, rest)
      }
      if taken == 0 {
        try finishLeaf(isRoot: false)
        continue
      }
      didEnter(separators.count - 1)
      entryCount += 1
      leafRowCount += taken
      first += taken
    }
    rowCount += rows.count
  }

  /// Notes where a leaf begins.
  private mutating func beginLeaf(_ key: RawSpan, _ row: UInt32, isContinued: Bool) {
    var length = 0
    if isContinued {
      length = key.byteCount
    } else if !separators.isEmpty {
      // The shortest beginning of the key that follows the last key of the leaf before.
      length = key.commonPrefixByteCount(with: lastKey.rawSpan) + 1
    }
    separatorKeys.append(key.slice(0, length))
    separators.append(Separator(keyEnd: separatorKeys.count, row: isContinued ? row : 0, rowCount: 0))
  }

  private mutating func finishLeaf(isRoot: Bool) throws(StoreError) {
    separators[separators.count - 1].rowCount = leafRowCount
    leafRowCount = 0
    leaf.copyLastKey(to: &lastKey)
    let unit = UnitOffset(byteOffset: start + pages.byteCount)
    leaf.finish(into: &pages.rest, at: unit, firstChild: 0, isRoot: isRoot) { seal?(&$0, unit) }
    try pages.spillIfLarge()
  }

  /// Writes the last leaf and the levels above the leaves.
  ///
  /// - Precondition: At least one key was appended.
  /// - Throws: `StoreError.io`, including for a full device, if pages do not fit memory.
  mutating func finish() throws(StoreError) {
    if leaf.entryCount > 0 { try finishLeaf(isRoot: separators.count == 1) }
    var firstPage = 0
    var children = separators
    var keys = separatorKeys
    while children.count > 1 {
      var parents: [Separator] = []
      var parentKeys: [UInt8] = []
      var page = OrderedPageBuilder(level: levels, reserving: seal == nil ? 0 : SealedForm.overhead)
      var first = 0
      var rows = 0
      for (number, child) in children.enumerated() {
        let keyStart = number == 0 ? 0 : children[number - 1].keyEnd
        let key = keys.rawSpan.slice(keyStart, child.keyEnd - keyStart)
        if number == first || !page.append(key, child.row, rowCount: child.rowCount) {
          if number > first { try finishPage(&page, &parents, rows, firstPage + first, isRoot: false) }
          first = number
          rows = 0
          parentKeys.append(key)
          parents.append(Separator(keyEnd: parentKeys.count, row: child.row, rowCount: 0))
          let fits = page.append(key, child.row, rowCount: child.rowCount)
          assert(fits, "an empty page has room for an entry")
        }
        rows += child.rowCount
      }
      try finishPage(&page, &parents, rows, firstPage + first, isRoot: parents.count == 1)
      firstPage += children.count
      children = parents
      keys = parentKeys
      levels += 1
    }
  }

  private mutating func finishPage(
    _ page: inout OrderedPageBuilder, _ parents: inout [Separator], _ rowCount: Int, _ firstChild: Int, isRoot: Bool
  ) throws(StoreError) {
    parents[parents.count - 1].rowCount = rowCount
    let unit = UnitOffset(byteOffset: start + pages.byteCount)
    page.finish(into: &pages.rest, at: unit, firstChild: firstChild, isRoot: isRoot) { seal?(&$0, unit) }
    try pages.spillIfLarge()
  }
}

/// A writer of an ordered block: a main tree, and the fragments of its keys if the index has them.
struct OrderedBlockWriter {
  private let offset: Int
  private let space: SpillSpace
  private let seal: OrderedTreeWriter.PageSeal?
  private var main: OrderedTreeWriter
  private let hasFragments: Bool
  private var fragments: KeyFragments
  /// The text of the last key, and bytes of longer texts before it.
  private var lastText = OrderedPage.keyBuffer
  private var lastTextByteCount = 0
  private var lastLeaf = -1

  /// - Parameters:
  ///   - offset: The offset of the block in the file, a multiple of 64.
  ///   - hasFragments: Whether the block has the fragments of its keys.
  ///   - space: The temporary files for what does not fit memory.
  ///   - seal: A closure that seals a page; `nil` in a clear log.
  init(at offset: Int, hasFragments: Bool, _ space: SpillSpace, seal: OrderedTreeWriter.PageSeal?) {
    self.offset = offset
    self.space = space
    self.seal = seal
    main = OrderedTreeWriter(at: offset + OrderedBlockHeader.byteCount, space, seal: seal)
    self.hasFragments = hasFragments
    fragments = KeyFragments(space)
  }

  var isEmpty: Bool { main.rowCount == 0 }

  /// Appends a key with its rows, both after all that were appended before.
  ///
  /// - Throws: `StoreError.io`, including for a full device, if pages or fragments do not fit memory.
  mutating func append(_ key: RawSpan, _ rows: Span<UInt32>) throws(StoreError) {
    guard hasFragments else { return try main.append(key, rows) }
    var first = -1
    var last = -1
    try main.append(key, rows) { leaf in
      if first < 0 { first = leaf }
      last = leaf
    }
    let text = KeyText.text(of: key)
    for leaf in first...last { try addFragments(text, leaf) }
    lastText.put(text, at: 0)
    lastTextByteCount = text.byteCount
  }

  /// Enters the fragments of a text for the leaf with this number.
  private mutating func addFragments(_ text: RawSpan, _ leaf: Int) throws(StoreError) {
    // Fragments within the beginning that the last text of the same leaf has too are entered already.
    let common =
      leaf == lastLeaf ? text.commonPrefixByteCount(with: lastText.rawSpan.slice(0, lastTextByteCount)) : 0
    lastLeaf = leaf
    try fragments.add(text, from: max(0, common - 3), leaf: leaf)
  }

  /// Calls `receive` with the bytes of the block, in parts, and returns its entry in the manifest.
  ///
  /// - Precondition: At least one key was appended.
  /// - Throws: `StoreError.io`, including for a full device; any error of `receive`.
  consuming func finish(_ receive: ([UInt8]) throws(StoreError) -> Void) throws(StoreError) -> Manifest.Block {
    try main.finish()
    let mainLineCount = UInt32(main.pages.byteCount / 64)
    var header = OrderedBlockHeader(
      levels: UInt16(main.levels), lineCount: mainLineCount, entryCount: UInt32(clamping: main.entryCount),
      mainLineCount: mainLineCount, leafCount: UInt32(main.leafCount))
    var fragmentPages: SpilledBytes?
    if !fragments.isEmpty {
      var tree = OrderedTreeWriter(at: offset + OrderedBlockHeader.byteCount + main.pages.byteCount, space, seal: seal)
      try fragments.removeAllInOrder { (key, leaves) throws(StoreError) in try tree.append(key, leaves) }
      try tree.finish()
      header.fragmentLeafCount = UInt32(tree.leafCount)
      header.fragmentLevels = UInt16(tree.levels)
      header.lineCount += UInt32(tree.pages.byteCount / 64)
      fragmentPages = tree.pages
    }
    let block = Manifest.Block(
      offset: UInt64(offset), bucketCount: header.lineCount, entryCount: header.entryCount,
      rowCount: UInt32(clamping: main.rowCount), longestDisplacement: header.levels)
    try receive(header.encoded(at: UnitOffset(byteOffset: offset)))
    try main.pages.forEachPart(receive)
    try fragmentPages?.forEachPart(receive)
    return block
  }
}
