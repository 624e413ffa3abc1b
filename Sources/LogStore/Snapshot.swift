import Bytes
import RecordFormat
import Storage

/// An immutable view of a store at one commit.
///
/// It stays valid and unchanged for as long as someone holds it, whatever writers do: nothing that it shows is
/// ever changed in place, and a file that was replaced lives on until its last snapshot is gone. Any number of
/// threads may use one snapshot. Hold one per reader, not one per lookup: two threads that retain the same
/// object for each lookup cost each other a factor of three.
///
/// Every bucket, record and string is checked when it is read. What fails is an error that names the place,
/// never another row.
public final class Snapshot: Sendable {
  let log: LogFile
  let mapping: Mapping
  let footer: SegmentFooter
  package let manifest: Manifest
  /// First byte after the commit.
  let end: Int
  /// First byte after the base.
  let baseEnd: Int
  let seed: HashSeed
  /// The index blocks of all key spaces; those of one stand together, newest first, the base's last.
  let blocks: [IndexBlock]
  /// The blocks of each key space, those of one table together.
  private let keySpaces: [KeySpaceBlocks]
  /// Places for the key spaces of a table in ``keySpaces``: as many as the table with the most of them needs.
  private let keySpaceStride: Int
  let deadBlocks: [IndexBlock]

  /// Reads the manifest of the commit that `footer` ends, and checks that its blocks lie inside the file.
  ///
  /// - Complexity: two reads; independent of the number of rows.
  init(_ log: LogFile, _ mapping: Mapping, _ footer: SegmentFooter) throws(StoreError) {
    self.log = log
    self.mapping = mapping
    self.footer = footer
    end = Int(footer.end)
    precondition(end <= mapping.byteCount, "a commit lies in its mapping")
    log.noteCommit(endingAt: end)
    manifest = try log.checkedManifest(of: footer)
    seed = log.header.seed
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
      // Blocks behind it are the tail's; a length that reaches too far says that there is no tail. One that is no whole
      // number of pages, which verification tells, is cut to one.
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

  /// The blocks of `space`; none for a table or key space that this commit does not have.
  @inline(__always)
  func blocks(of space: KeySpaceID) -> KeySpaceBlocks {
    let place = space.table &* keySpaceStride &+ space.index
    guard space.index < keySpaceStride, keySpaces.indices.contains(place) else { return KeySpaceBlocks(0..<0, of: []) }
    return keySpaces[place]
  }

  /// The number of this commit.
  public var sequence: UInt64 { footer.sequence }
  /// The number of the file that holds it.
  public var generation: UInt64 { footer.generation }
  /// When it was committed, in microseconds since 1970 UTC.
  public var time: Int64 { footer.time }
  /// What the application stored beside the rows.
  public var state: [UInt8] { manifest.state }
  /// The file that this snapshot shows.
  public var path: String { log.path }

  /// Live rows of a table. Complexity: O(1).
  public func rowCount(_ table: Int) -> Int {
    table < manifest.tables.count ? Int(clamping: manifest.tables[table].liveRows) : 0
  }

  /// The table of this name; `nil` if this commit has none.
  public func table(named name: String) -> Int? { manifest.tables.firstIndex { $0.name == name } }

  /// The names of all tables, by position.
  public var tableNames: [String] { manifest.tables.map(\.name) }

  /// Whether both are commits of one file.
  public func isSameGeneration(as other: Snapshot) -> Bool { log.header.storeID == other.log.header.storeID }

  /// Whether records have any number of keys in a key space.
  func isList(_ space: KeySpaceID) -> Bool {
    space.table < manifest.tables.count && space.index < manifest.tables[space.table].keySpaces.count
      && manifest.tables[space.table].keySpaces[space.index].isList
  }

  /// The key lengths that occur in a key space.
  public func keyLengths(_ space: KeySpaceID) -> KeyLengths {
    guard space.table < manifest.tables.count, space.index < manifest.tables[space.table].keySpaces.count else {
      return KeyLengths()
    }
    return manifest.tables[space.table].keySpaces[space.index].lengths
  }
}
