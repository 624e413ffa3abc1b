import Bytes
public import RecordFormat
import Storage
package import Synchronization

/// An immutable view of a store at one commit.
///
/// It stays valid and unchanged for as long as it is referenced, regardless of writers: the data that it shows is never
/// changed in place, and a file that was replaced exists until its last snapshot is released. Any number of threads may
/// use one snapshot. Hold one per reader, not one per lookup: two threads that retain the same object for each lookup
/// slow each other down by a factor of three.
///
/// Every bucket, record and string is checked when it is read. If a check fails, the result is an error that contains
/// the offset, never another row.
public final class Snapshot: Sendable {
  let log: LogFile
  let mapping: Mapping
  let footer: SegmentFooter
  package let manifest: Manifest
  /// The offset after the last byte of the commit.
  let end: Int
  /// The offset after the last byte of the base.
  let baseEnd: Int
  let seed: HashSeed
  /// The index blocks of all key spaces. The blocks of one key space are contiguous, newest first, the base's last.
  let blocks: [IndexBlock]
  /// The blocks of each key space, grouped by table.
  private let keySpaces: [KeySpaceBlocks]
  /// The number of elements per table in ``keySpaces``: the maximum number of key spaces of a table.
  private let keySpaceStride: Int
  let deadBlocks: [IndexBlock]
  /// Whether the file that contains this snapshot is sealed.
  public let isSealed: Bool
  /// The keys of a sealed log, which ``log`` owns. They are not retained: threads that count references to the same
  /// object slow each other down.
  unowned(unsafe) let sealing: LogSealing?
  /// What was opened outside of any scope; `nil` for a clear log.
  let openedObjects: OpenedObjects?
  /// The blocks of the ordered indexes that were read from so far.
  let orderedBlocks = Mutex<[OrderedIndexID: [OrderedBlock]]>([:])
  /// What the layer above has found out about this commit and wants to remember; 0 at first.
  package let memo = Atomic<UInt8>(0)

  /// Reads the manifest of the commit that `footer` ends, and checks that its blocks are within the file.
  ///
  /// - Complexity: Two reads, independent of the number of rows.
  init(_ log: LogFile, _ mapping: Mapping, _ footer: SegmentFooter) throws(StoreError) {
    self.log = log
    self.mapping = mapping
    self.footer = footer
    end = Int(footer.end)
    precondition(end <= mapping.byteCount, "a commit lies in its mapping")
    log.recordCommit(endingAt: end)
    isSealed = log.header.sealing != nil
    unsafe sealing = log.sealing
    openedObjects = isSealed ? OpenedObjects() : nil
    manifest = try log.checkedManifest(of: footer)
    seed = log.seed
    var blocks: [IndexBlock] = []
    var keySpaces: [KeySpaceBlocks] = []
    keySpaceStride = manifest.tables.reduce(0) { max($0, $1.keySpaces.count) }
    for table in manifest.tables {
      for index in 0..<keySpaceStride {
        let first = blocks.count
        if index < table.keySpaces.count {
          blocks += try Self.blocks(table.keySpaces[index].blocks, end: end, log: log)
        }
        keySpaces.append(KeySpaceBlocks(first..<blocks.count, of: blocks))
      }
    }
    self.blocks = blocks
    self.keySpaces = keySpaces
    deadBlocks = try Self.blocks(manifest.deadBlocks, end: end, log: log)
    if footer.previousFooterOffset == 0 {
      baseEnd = end
    } else {
      let bytes = try log.read(SegmentHeader.byteCount, at: SegmentHeader.firstOffset)
      let header: SegmentHeader
      do { header = try SegmentHeader(bytes.rawSpan) } catch {
        throw log.damage(SegmentHeader.firstOffset, "segment header: \(error)")
      }
      // Blocks after the base belong to the tail. A length that exceeds the commit means that there is no tail. A
      // length that is not a multiple of the page size, which verification reports, is rounded down.
      let length = min(Int(clamping: header.length), end - SegmentHeader.firstOffset)
      baseEnd = SegmentHeader.firstOffset + length / SegmentHeader.alignment * SegmentHeader.alignment
    }
    assertInvariants()
  }

  private static func blocks(
    _ list: [Manifest.Block], end: Int, log: LogFile
  ) throws(StoreError) -> [IndexBlock] {
    var blocks: [IndexBlock] = []
    for block in list { blocks.append(try IndexBlock(block, end: end, log: log)) }
    return blocks
  }

  /// Returns the blocks of `space`; empty for a table or key space that this commit does not have.
  @inline(__always)
  func blocks(of space: KeySpaceID) -> KeySpaceBlocks {
    let index = space.table &* keySpaceStride &+ space.index
    guard space.index < keySpaceStride, keySpaces.indices.contains(index) else { return KeySpaceBlocks(0..<0, of: []) }
    return keySpaces[index]
  }

  /// The sequence number of this commit.
  public var sequence: UInt64 { footer.sequence }
  /// The generation of the file that contains the commit.
  public var generation: UInt64 { footer.generation }
  /// The time of the commit, in microseconds since 1970 UTC.
  public var time: Int64 { footer.time }
  /// The application's state that is stored with the commit.
  public var state: [UInt8] { manifest.state }
  /// The path of the file that contains this snapshot.
  public var path: String { log.path }

  /// Returns the number of live rows of a table.
  ///
  /// - Complexity: O(1).
  public func rowCount(_ table: Int) -> Int {
    table < manifest.tables.count ? Int(clamping: manifest.tables[table].liveRows) : 0
  }

  /// Returns the index of the table with this name; `nil` if this commit has no such table.
  public func table(named name: String) -> Int? { manifest.tables.firstIndex { $0.name == name } }

  /// The names of all tables, in order.
  public var tableNames: [String] { manifest.tables.map(\.name) }

  /// Returns whether both snapshots are commits of the same file.
  public func isSameGeneration(as other: Snapshot) -> Bool { log.header.storeID == other.log.header.storeID }

  /// Returns whether the keys of a key space are lists.
  func isList(_ space: KeySpaceID) -> Bool {
    space.table < manifest.tables.count && space.index < manifest.tables[space.table].keySpaces.count
      && manifest.tables[space.table].keySpaces[space.index].isList
  }

  /// Returns the key lengths that occur in a key space.
  public func keyLengths(_ space: KeySpaceID) -> KeyLengths {
    guard space.table < manifest.tables.count, space.index < manifest.tables[space.table].keySpaces.count else {
      return KeyLengths()
    }
    return manifest.tables[space.table].keySpaces[space.index].lengths
  }
}
