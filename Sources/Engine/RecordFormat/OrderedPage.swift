public import Bytes

/// A page of a tree in an ordered block. Its checksum was verified.
///
///     0 crc, salted · 4 level · 5 zero · 6 entries · 8 end of the entries · 10 zero · 12 first child · 16 entries
///     … zeros · two bytes for the offset of every sixteenth entry
package struct OrderedPage: ~Escapable {
  /// The size of a page in bytes. Only the root of a tree may be shorter.
  package static let byteCount = 2048
  /// The size of a page in units of 64 bytes.
  package static let lineCount = byteCount / 64
  /// The offset of the first entry.
  package static let firstEntry = 16
  /// The number of entries from one restart to the next.
  package static let restartInterval = 16
  /// The maximum length of a key in bytes.
  package static let maximumKeyLength = 255
  /// The maximum size of the rows of an entry after the first, in bytes.
  package static let maximumRowByteCount = 512

  /// Room for any key. A copy of it costs less than filling an array with zeros.
  package static let keyBuffer = [UInt8](repeating: 0, count: maximumKeyLength)
  /// Room for the keys of most leaves.
  private static let keysBuffer = [UInt8](repeating: 0, count: 2 * byteCount)

  package let bytes: RawSpan
  /// The level of the page; 0 for a leaf.
  package let level: Int
  package let entryCount: Int
  /// The offset after the last entry.
  package let end: Int
  /// The number of the page to which the first entry leads; 0 in a leaf.
  package let firstChild: Int

  /// Reads the page's header; fails if its fields contradict each other.
  @_lifetime(copy bytes)
  package init?(_ bytes: RawSpan) {
    self.bytes = bytes
    guard bytes.byteCount > Self.firstEntry else {
      (level, entryCount, end, firstChild) = (0, 0, 0, 0)
      return nil
    }
    level = Int(bytes.u8(at: 4))
    entryCount = Int(bytes.u16(at: 6))
    end = Int(bytes.u16(at: 8))
    firstChild = Int(bytes.u32(at: 12))
    let restarts = Self.restartCount(entryCount)
    guard entryCount > 0, end > Self.firstEntry, end <= bytes.byteCount - 2 * restarts else { return nil }
  }

  /// Returns the number of restarts among `entries` entries.
  package static func restartCount(_ entries: Int) -> Int { (entries + restartInterval - 1) / restartInterval }

  package var restartCount: Int { Self.restartCount(entryCount) }

  /// The offset of the first of the restarts' offsets.
  package var restarts: Int { bytes.byteCount - 2 * restartCount }

  /// Returns the offset of restart `index`.
  @inline(__always)
  package func restart(_ index: Int) -> Int { Int(bytes.u16(at: restarts &+ 2 &* index)) }

  /// Returns an iterator that starts at a restart.
  @_lifetime(copy self)
  package func entries(fromRestart index: Int = 0) -> OrderedEntries {
    OrderedEntries(self, at: restart(index), number: index * Self.restartInterval)
  }

  /// Returns an iterator over the entries as they are stored, without their keys, that starts at a restart.
  @_lifetime(copy self)
  package func storedEntries(fromRestart index: Int = 0) -> OrderedStoredEntries {
    OrderedStoredEntries(self, at: restart(index), number: index * Self.restartInterval)
  }

  /// Reads all entries of a leaf.
  ///
  /// - Parameters:
  ///   - keys: The keys one after another, and room for more.
  ///   - keyEnds: The end of each key among them.
  ///   - rows: The rows of all entries one after another, those of each entry in ascending order.
  ///   - rowEnds: The end of the rows of each entry.
  /// - Returns: Whether all entries are valid.
  package func readEntries(
    _ keys: inout [UInt8], _ keyEnds: inout [Int], _ rows: inout [UInt32], _ rowEnds: inout [Int]
  ) -> Bool {
    keyEnds.removeAll(keepingCapacity: true)
    rows.removeAll(keepingCapacity: true)
    rowEnds.removeAll(keepingCapacity: true)
    if level > 0 { return false }
    var entries = entries()
    var end = 0
    while entries.next() {
      if keys.count &- end < Self.maximumKeyLength {
        if keys.isEmpty { keys = Self.keysBuffer } else { keys.append(contentsOf: keys) }
      }
      let key = entries.key
      keys.put(key, at: end)
      end &+= key.byteCount
      keyEnds.append(end)
      guard entries.appendRows(to: &rows) else { return false }
      rowEnds.append(rows.count)
    }
    return entries.isAtEnd
  }

  /// Returns the number of the last entry whose key and first row do not follow `key` and `row`; the first one if there
  /// is none.
  ///
  /// - Returns: `nil` if an entry of the page is not valid.
  package func lastEntry(notAfter key: RawSpan, _ row: UInt32) -> Int? {
    guard let restart = lastRestart(notAfter: key, row) else { return nil }
    var entries = storedEntries(fromRestart: restart)
    var index = restart * Self.restartInterval
    // How the previous entry's key compares with `key`, and how many bytes they have in common.
    var order = 0
    var common = 0
    while entries.next() {
      // A key that shares more with the previous one than that has in common with `key` compares as that did.
      if entries.sharedByteCount <= common {
        let rest = key.slice(entries.sharedByteCount, key.byteCount - entries.sharedByteCount)
        let own = bytes.slice(entries.ownBytes, entries.ownByteCount)
        order = own.compare(to: rest)
        common = entries.sharedByteCount + own.commonPrefixByteCount(with: rest)
      }
      if entries.index > index, order > 0 || order == 0 && entries.firstRow > row { return index }
      index = entries.index
    }
    return entries.isAtEnd ? index : nil
  }

  /// Returns the number of the last restart whose key and first row do not follow `key` and `row`; the first one if
  /// there is none.
  ///
  /// - Returns: `nil` if an entry of the page is not valid.
  package func lastRestart(notAfter key: RawSpan, _ row: UInt32) -> Int? {
    // This loop is not `partitioningIndex`: it ends at a restart that is not valid, and never reads the first one.
    var low = 0
    var high = restartCount
    while high - low > 1 {
      let middle = (low + high) / 2
      guard let isAfter = isRestart(middle, after: key, row) else { return nil }
      if isAfter { high = middle } else { low = middle }
    }
    return low
  }

  /// Whether a restart follows a key and row. Its key is compared where it is, as it shares nothing with another one.
  private func isRestart(_ index: Int, after key: RawSpan, _ row: UInt32) -> Bool? {
    var offset = restart(index)
    guard offset + 2 < end, bytes.u8(at: offset) >> 4 == 0 else { return nil }
    var count = Int(bytes.u8(at: offset) & 15)
    offset += 1
    if count == 15 {
      count = Int(bytes.u8(at: offset))
      offset += 1
    }
    guard count <= end - offset else { return nil }
    let order = bytes.slice(offset, count).compare(to: key)
    if order != 0 { return order > 0 }
    offset += count
    guard let number = bytes.number(at: &offset, before: end) else { return nil }
    return (level == 0 ? number >> 1 : number) > UInt64(row)
  }
}

/// An iterator over the entries of a page, in order.
public struct OrderedEntries: ~Escapable {
  private let bytes: RawSpan
  private var stored: OrderedStoredEntries
  /// The key of the current entry, and bytes of longer keys before it.
  @usableFromInline
  var keyBytes = Self.keyBuffer
  @usableFromInline
  var keyByteCount = 0
  /// The first row of the current entry.
  public private(set) var firstRow: UInt32 = 0
  /// The number of rows of the current entry; in a page that is no leaf, of all leaves to which it leads.
  public private(set) var rowCount = 0

  /// Room for any key, and for what a copy of whole words may change after it.
  private static let keyBuffer = [UInt8](repeating: 0, count: OrderedPage.maximumKeyLength + 32)

  @_lifetime(copy page)
  init(_ page: OrderedPage, at offset: Int, number: Int) {
    bytes = page.bytes
    stored = OrderedStoredEntries(page, at: offset, number: number)
  }

  /// The key of the current entry.
  @inlinable
  public var key: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get { keyBytes.rawSpan.slice(0, keyByteCount) }
  }

  /// The number of bytes that the current key shares with the previous one.
  package var sharedByteCount: Int { stored.sharedByteCount }
  /// The number of the current entry in its page.
  package var index: Int { stored.index }
  /// Whether the iterator is after the last entry, so that ``next()`` found the end and no fault.
  package var isAtEnd: Bool { stored.isAtEnd }
  /// The offset after the current entry.
  package var position: Int { stored.position }

  /// Moves to the next entry. Returns `false` after the last entry, and at an entry that is not valid.
  package mutating func next() -> Bool {
    guard stored.next() else { return false }
    keyBytes.putWords(bytes, stored.ownBytes, stored.ownByteCount, at: stored.sharedByteCount)
    keyByteCount = stored.keyByteCount
    firstRow = stored.firstRow
    rowCount = stored.rowCount
    return true
  }

  /// Appends the rows of the current entry of a leaf to `list`, in ascending order. Returns whether they are valid.
  package func appendRows(to list: inout [UInt32]) -> Bool { stored.appendRows(to: &list) }
}
