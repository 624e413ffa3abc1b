import Bytes
import RecordFormat

/// A log whose bytes a test changes, under checksums that are made to fit again: what a faulty or hostile writer
/// leaves.
package struct ForgedLog {
  /// An object of the log.
  package struct Object {
    package let offset: Int
    package let length: Int
    package let kind: ObjectKind
  }

  /// An index block or a dead block.
  package struct Block {
    /// Of the block's header.
    package let offset: Int
    package let bucketCount: Int
    package let isDead: Bool

    package func bucket(_ index: Int) -> Int { offset + BlockHeader.byteCount + index * Bucket.byteCount }
  }

  /// An ordered block.
  package struct OrderedBlock {
    /// The name of its index.
    package let name: String
    /// Of the block's header.
    package let offset: Int
    package let header: OrderedBlockHeader

    /// Where the pages of its main tree are.
    package var mainPages: [Range<Int>] { pages(of: header.mainTree) }
    /// Where the pages of its fragment tree are.
    package var fragmentPages: [Range<Int>] { header.fragmentTree.map(pages) ?? [] }

    private func pages(of tree: OrderedBlockHeader.Tree) -> [Range<Int>] {
      (0..<tree.pageCount).map { number in
        let page = tree.page(number)
        return offset + page.start..<offset + page.start + page.byteCount
      }
    }
  }

  /// An entry of a page of an ordered block.
  package typealias OrderedEntry = (key: [UInt8], rows: [UInt32], rowCount: Int)

  /// A segment, found before anything was changed.
  package struct Segment {
    package let start: Int
    package let footer: SegmentFooter
    package fileprivate(set) var objects: [Object] = []
    package fileprivate(set) var blocks: [Block] = []
    package fileprivate(set) var ordered: [OrderedBlock] = []

    /// Where its footer stands.
    package var footerOffset: Int { Int(footer.offset) }
    /// Where its manifest stands.
    package var manifestOffset: Int { Int(footer.manifestOffset) }
  }

  package var bytes: [UInt8]
  package let segments: [Segment]

  /// Finds the structures of a log that is whole.
  package init(_ log: [UInt8]) throws {
    bytes = log
    var segments: [Segment] = []
    var start = SegmentHeader.firstOffset
    while start < log.count {
      let header = try SegmentHeader(log.rawSpan.slice(start, SegmentHeader.byteCount))
      let end = start + Int(header.length)
      let footer = try SegmentFooter(log.rawSpan.slice(end - SegmentFooter.byteCount, SegmentFooter.byteCount))
      var segment = Segment(start: start, footer: footer)
      var offset = start + SegmentHeader.byteCount
      while offset < Int(footer.objectEnd) {
        let word = log.rawSpan.u32(at: offset + 4)
        let length = ObjectHeader.length(word)
        segment.objects.append(Object(offset: offset, length: length, kind: ObjectHeader.kind(word)))
        offset += ObjectHeader.padded(length)
      }
      let manifest = try Manifest(log.rawSpan.slice(Int(footer.manifestOffset), Int(footer.manifestLength)))
      let indexes = manifest.tables.flatMap { $0.keySpaces.flatMap(\.blocks) }
      for (blocks, isDead) in [(indexes, false), (manifest.deadBlocks, true)] {
        for block in blocks where Int(block.offset) >= start {
          segment.blocks.append(Block(offset: Int(block.offset), bucketCount: Int(block.bucketCount), isDead: isDead))
        }
      }
      for index in manifest.tables.flatMap(\.orderedIndexes) {
        for block in index.blocks where Int(block.offset) >= start {
          let offset = Int(block.offset)
          let header = try OrderedBlockHeader(
            log.rawSpan.slice(offset, OrderedBlockHeader.byteCount), at: UnitOffset(byteOffset: offset))
          segment.ordered.append(OrderedBlock(name: index.name, offset: offset, header: header))
        }
      }
      segments.append(segment)
      start = end
    }
    self.segments = segments
  }

  /// The objects of all segments, in the order of the file.
  package var objects: [Object] { segments.flatMap(\.objects) }

  package func objects(_ kind: ObjectKind) -> [Object] { objects.filter { $0.kind == kind } }

  /// The records of a table.
  package func records(_ table: Int) -> [Object] { objects(ObjectKind(rawValue: UInt8(table))) }

  package mutating func put(_ number: UInt32, at offset: Int) {
    for byte in 0..<4 { bytes[offset + byte] = UInt8(truncatingIfNeeded: number >> UInt32(8 * byte)) }
  }

  package mutating func put(_ number: UInt64, at offset: Int) {
    put(UInt32(truncatingIfNeeded: number), at: offset)
    put(UInt32(truncatingIfNeeded: number >> 32), at: offset + 4)
  }

  /// Changes what the manifest of a segment says, which has to stay as long as it is.
  package mutating func changeManifest(of index: Int? = nil, _ change: (inout Manifest) throws -> Void) throws {
    let segment = segments[index ?? segments.count - 1]
    let range = segment.manifestOffset..<segment.manifestOffset + Int(segment.footer.manifestLength)
    var manifest = try Manifest(bytes.rawSpan.slice(range.lowerBound, range.count))
    try change(&manifest)
    bytes.replaceSubrange(range, with: manifest.encoded())
  }

  /// Writes a page of an ordered block again with other entries, which must fit.
  ///
  /// - Parameter rowCounts: For a page above the leaves, the number of rows to which each entry leads.
  package mutating func rebuild(
    _ page: Range<Int>, level: Int = 0, firstChild: Int = 0, _ entries: [(key: [UInt8], rows: [UInt32])],
    rowCounts: [Int] = []
  ) {
    var builder = OrderedPageBuilder(level: level)
    for (number, entry) in entries.enumerated() {
      if level == 0 {
        _ = builder.append(entry.key.rawSpan, entry.rows.span)
      } else {
        _ = builder.append(entry.key.rawSpan, entry.rows[0], rowCount: rowCounts[number])
      }
    }
    var new: [UInt8] = []
    builder.finish(
      into: &new, at: UnitOffset(byteOffset: page.lowerBound), firstChild: firstChild,
      isRoot: page.count < OrderedPage.byteCount)
    // The offsets of restarts are at the end of the page.
    let restarts = 2 * OrderedPage.restartCount(entries.count)
    new.insert(contentsOf: repeatElement(0, count: page.count - new.count), at: new.count - restarts)
    bytes.replaceSubrange(page, with: new)
  }

  /// The entries of a page of an ordered block; of a page above the leaves, with their first rows only.
  package func entries(_ page: Range<Int>) -> [OrderedEntry] {
    var result: [OrderedEntry] = []
    guard let page = OrderedPage(bytes.rawSpan.slice(page.lowerBound, page.count)) else { return [] }
    var entries = page.entries()
    while entries.next() {
      var rows: [UInt32] = []
      if page.level > 0 { rows = [entries.firstRow] } else { _ = entries.appendRows(to: &rows) }
      result.append((entries.key.copied(), rows, entries.rowCount))
    }
    return result
  }

  /// Makes every checksum fit: of objects, buckets, block headers, bodies, manifests, headers, footers and slots.
  ///
  /// - Parameter keepsChains: Whether the chain of each footer stays what it was: the time of the commit is changed so
  ///   that the checksum comes out the same. So later commits do not show that an earlier one was changed.
  package mutating func seal(keepsChains: Bool = false) {
    var chain: UInt32 = 0
    for segment in segments {
      for object in segment.objects {
        putChecksum(of: object.offset + 4..<object.offset + object.length, at: object.offset, salt: object.offset)
      }
      for block in segment.blocks {
        putChecksum(of: block.offset..<block.offset + 60, at: block.offset + 60, salt: block.offset)
        for index in 0..<block.bucketCount {
          let bucket = block.bucket(index)
          putChecksum(of: bucket + 4..<bucket + Bucket.byteCount, at: bucket, salt: bucket)
        }
      }
      for block in segment.ordered {
        putChecksum(of: block.offset..<block.offset + 60, at: block.offset + 60, salt: block.offset)
        for page in block.mainPages + block.fragmentPages {
          putChecksum(of: page.lowerBound + 4..<page.upperBound, at: page.lowerBound, salt: page.lowerBound)
        }
      }
      let start = segment.start
      let footer = segment.footerOffset
      putChecksum(of: start + SegmentHeader.byteCount..<segment.manifestOffset, at: footer + 96)
      putChecksum(of: segment.manifestOffset..<footer, at: footer + 68)
      put(chain, at: start + 48)
      putChecksum(of: start..<start + 60, at: start + 60)
      put(chain, at: footer + 80)
      if keepsChains { forceChain(segment.footer.chain, ofFooterAt: footer) }
      putChecksum(of: footer..<footer + 124, at: footer + 124)
      chain = bytes.rawSpan.u32(at: footer + 124)
      for slot in AcknowledgementSlot.offsets where bytes.rawSpan.u64(at: slot + 40) == UInt64(footer) {
        put(chain, at: slot + 56)
      }
    }
    sealSlots()
  }

  /// Makes the checksums of the slots fit, but for one that was never written.
  package mutating func sealSlots() {
    for slot in AcknowledgementSlot.offsets where bytes[slot] != 0 {
      putChecksum(of: slot..<slot + 4092, at: slot + 4092)
    }
  }

  /// Chooses the low four bytes of a footer's time so that the footer has this chain. Checksums are linear: each bit of
  /// the time changes the same bits of the checksum, whatever the others are.
  private mutating func forceChain(_ chain: UInt32, ofFooterAt footer: Int) {
    func current() -> UInt32 { Checksum.of(bytes.rawSpan.slice(footer, 124)) }
    let time = footer + 88
    put(UInt32(0), at: time)
    let base = current()
    // Rows of a linear system: what a combination of bits of the time changes, and these bits.
    var rows: [(effect: UInt32, bits: UInt32)] = []
    for bit in 0..<32 {
      put(UInt32(1) << UInt32(bit), at: time)
      var (effect, bits) = (current() ^ base, UInt32(1) << UInt32(bit))
      for row in rows where effect & Self.highestBit(row.effect) != 0 {
        effect ^= row.effect
        bits ^= row.bits
      }
      if effect != 0 { rows.append((effect, bits)) }
    }
    var (wanted, chosen) = (chain ^ base, UInt32(0))
    for row in rows where wanted & Self.highestBit(row.effect) != 0 {
      wanted ^= row.effect
      chosen ^= row.bits
    }
    put(chosen, at: time)
  }

  private static func highestBit(_ number: UInt32) -> UInt32 { 1 << UInt32(31 - number.leadingZeroBitCount) }

  private mutating func putChecksum(of range: Range<Int>, at offset: Int, salt: Int? = nil) {
    let seed = salt.map { Checksum.salt(UnitOffset(byteOffset: $0)) } ?? 0
    put(Checksum.of(bytes.rawSpan.slice(range.lowerBound, range.count), from: seed), at: offset)
  }
}
