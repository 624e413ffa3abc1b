public import Bytes

/// The entries of a leaf from one restart up to the next, read into memory. It is reused from group to group.
///
/// A group is the smallest part of a leaf that can be read on its own. Going backward through entries that are stored
/// as differences needs all of a group.
@usableFromInline
package struct OrderedGroup {
  /// The keys of all entries, one after another, and room for more.
  @usableFromInline
  var keys: [UInt8] = []
  @usableFromInline
  var keyEnds = InlineArray<16, UInt16>(repeating: 0)
  /// The rows of all entries, one after another, those of each entry in ascending order, and room for more.
  @usableFromInline
  var rows: [UInt32] = []
  @usableFromInline
  var rowEnds = InlineArray<16, UInt16>(repeating: 0)
  @usableFromInline
  package private(set) var entryCount = 0
  @usableFromInline
  package private(set) var rowCount = 0

  package init() {}

  /// Returns the key of an entry.
  @inlinable @inline(__always)
  @_lifetime(borrow self)
  package func key(_ entry: Int) -> RawSpan {
    let start = entry == 0 ? 0 : Int(keyEnds[entry &- 1])
    return keys.rawSpan.slice(start, Int(keyEnds[entry]) &- start)
  }

  /// Copies the key of an entry over the first bytes of `key`, and returns its length.
  @inlinable @inline(__always)
  package func copyKey(_ entry: Int, over key: inout [UInt8]) -> Int {
    let own = self.key(entry)
    key.put(own, at: 0)
    return own.byteCount
  }

  /// Replaces `key` by the key of an entry.
  package func copyKey(_ entry: Int, to key: inout [UInt8]) {
    key.removeAll(keepingCapacity: true)
    key.append(self.key(entry))
  }

  /// Compares the key of an entry with another one: negative if it precedes, 0 if it is equal.
  @inlinable @inline(__always)
  package func compareKey(_ entry: Int, to other: RawSpan) -> Int { key(entry).compare(to: other) }

  /// Returns the row at a position among the rows of all entries.
  @inlinable @inline(__always)
  package func row(_ position: Int) -> UInt32 { rows[position] }

  /// Returns the positions of an entry's rows among those of all entries.
  @inlinable @inline(__always)
  package func rowRange(_ entry: Int) -> Range<Int> {
    (entry == 0 ? 0 : Int(rowEnds[entry &- 1]))..<Int(rowEnds[entry])
  }

  /// Returns the number of the entry to which the row at `position` belongs.
  package func entry(ofRowAt position: Int) -> Int {
    var entry = 0
    while entry < entryCount, Int(rowEnds[entry]) <= position { entry += 1 }
    return entry
  }

  /// Reads the entries from a restart of a leaf up to the next restart.
  ///
  /// - Returns: Whether the entries are valid and end where the next restart begins. If not, the group is empty.
  package mutating func read(_ page: OrderedPage, _ restart: Int) -> Bool {
    var outcome = Self.decode(page, restart, &keys, &keyEnds, &rows, &rowEnds)
    while case .lacksRoom = outcome {
      // Room for most groups. If it is not enough, room for any: sixteen keys, and a row for each byte.
      let isSmall = keys.isEmpty
      keys = [UInt8](repeating: 0, count: isSmall ? 768 : Self.keyLimit + Self.slack)
      rows = [UInt32](repeating: 0, count: isSmall ? 32 : OrderedPage.byteCount)
      outcome = Self.decode(page, restart, &keys, &keyEnds, &rows, &rowEnds)
    }
    guard case .valid(let entries, let rows) = outcome else {
      (entryCount, rowCount) = (0, 0)
      return false
    }
    (entryCount, rowCount) = (entries, rows)
    return true
  }

  /// The maximum number of bytes of the keys of a group.
  private static let keyLimit = OrderedPage.restartInterval * OrderedPage.maximumKeyLength
  /// The number of bytes after a key that copying it may change.
  private static let slack = 32

  private enum Outcome {
    case valid(entryCount: Int, rowCount: Int)
    case lacksRoom
    case invalid
  }

  private static func decode(
    _ page: OrderedPage, _ restart: Int, _ keys: inout [UInt8], _ keyEnds: inout InlineArray<16, UInt16>,
    _ rows: inout [UInt32], _ rowEnds: inout InlineArray<16, UInt16>
  ) -> Outcome {
    guard page.level == 0, page.bytes.byteCount <= OrderedPage.byteCount, restart >= 0, restart < page.restartCount
    else { return .invalid }
    let count = min(OrderedPage.restartInterval, page.entryCount &- restart &* OrderedPage.restartInterval)
    let end = restart &+ 1 < page.restartCount ? page.restart(restart &+ 1) : page.end
    var offset = page.restart(restart)
    guard offset >= OrderedPage.firstEntry, end <= page.end else { return .invalid }
    let bytes = page.bytes
    let room = keys.count &- OrderedPage.maximumKeyLength &- Self.slack
    var keySpan = keys.mutableSpan
    // A byte has no padding, and every bit pattern is a valid byte.
    var keyBytes = unsafe keySpan.mutableBytes
    var rowSpan = rows.mutableSpan
    /// The start and end of the previous key.
    var (start, next) = (0, 0)
    var first: UInt32 = 0
    var rowNumber = 0
    for entry in 0..<count {
      guard next <= room, rowNumber < rowSpan.count else { return .lacksRoom }
      guard let (shared, own) = bytes.keyLengths(at: &offset, before: end), shared <= next &- start,
        shared &+ own <= OrderedPage.maximumKeyLength, own <= end &- offset
      else { return .invalid }
      keyBytes.copyWords(shared, from: start, to: next)
      keyBytes.putWords(bytes, offset, own, at: next &+ shared)
      offset &+= own
      start = next
      next &+= shared &+ own
      keyEnds[entry] = UInt16(truncatingIfNeeded: next)

      guard let number = bytes.number(at: &offset, before: end) else { return .invalid }
      let value = number >> 1
      // Zigzag: an even number is a difference that is not negative.
      let difference = Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
      let row = entry == 0 ? Int64(truncatingIfNeeded: value) : Int64(first) &+ difference
      guard let row = UInt32(exactly: row) else { return .invalid }
      first = row
      rowSpan[rowNumber] = row
      rowNumber &+= 1
      if number & 1 != 0 {
        guard let further = bytes.number(at: &offset, before: end),
          let byteCount = bytes.number(at: &offset, before: end), further > 0, further <= byteCount,
          byteCount <= UInt64(min(OrderedPage.maximumRowByteCount, end &- offset))
        else { return .invalid }
        guard Int(further) <= rowSpan.count &- rowNumber else { return .lacksRoom }
        let last = offset &+ Int(byteCount)
        var row = UInt64(row)
        for _ in 0..<further {
          guard let difference = bytes.number(at: &offset, before: last), difference > 0,
            difference <= UInt64(UInt32.max) - row
          else { return .invalid }
          row += difference
          rowSpan[rowNumber] = UInt32(truncatingIfNeeded: row)
          rowNumber &+= 1
        }
        guard offset == last else { return .invalid }
      }
      rowEnds[entry] = UInt16(truncatingIfNeeded: rowNumber)
    }
    guard offset == end else { return .invalid }
    return .valid(entryCount: count, rowCount: rowNumber)
  }
}
