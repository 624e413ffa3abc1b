import Bytes

/// A page of an ordered block under construction.
package struct OrderedPageBuilder {
  /// The page from its first byte. The checksum is written last.
  private var bytes: [UInt8] = []
  private var restarts: [UInt16] = []
  /// The key of the last entry, and bytes of longer keys before it.
  private var lastKey = OrderedPage.keyBuffer
  private var lastKeyByteCount = 0
  private var lastRow: UInt32 = 0
  /// The rows of an entry after the first, encoded.
  private var further: [UInt8] = []
  private let level: Int
  package private(set) var entryCount = 0

  package init(level: Int) {
    self.level = level
    bytes.reserveCapacity(OrderedPage.byteCount)
    begin()
  }

  private mutating func begin() {
    bytes.removeAll(keepingCapacity: true)
    restarts.removeAll(keepingCapacity: true)
    lastKeyByteCount = 0
    entryCount = 0
    for _ in 0..<(OrderedPage.firstEntry / 8) { bytes.put(0 as UInt64) }
  }

  /// The free bytes for an entry, which may need another restart.
  private var room: Int {
    let isRestart = entryCount % OrderedPage.restartInterval == 0
    return OrderedPage.byteCount - bytes.count - 2 * (restarts.count + (isRestart ? 1 : 0))
  }

  /// The length of the beginning that the next key does not repeat.
  private func sharedByteCount(with key: RawSpan) -> Int {
    if entryCount % OrderedPage.restartInterval == 0 { return 0 }
    return lastKey.rawSpan.slice(0, lastKeyByteCount).commonPrefixByteCount(with: key)
  }

  /// Appends an entry to a leaf, with as many of `rows` as fit.
  ///
  /// - Returns: The number of rows that were taken; 0 if the page is full.
  /// - Precondition: Key and rows follow the last entry; there is at least one row.
  package mutating func append(_ key: RawSpan, _ rows: Span<UInt32>) -> Int {
    let isRestart = entryCount % OrderedPage.restartInterval == 0
    let shared = sharedByteCount(with: key)
    let first = isRestart ? UInt64(rows[0]) : Self.zigzag(Int64(rows[0]) - Int64(lastRow))
    let more = key.byteCount - shared
    let fixed = 1 + (shared >= 15 ? 1 : 0) + (more >= 15 ? 1 : 0) + more + Self.byteCount(of: first << 1)
    let room = room
    guard fixed <= room else { return 0 }
    further.removeAll(keepingCapacity: true)
    var taken = 1
    if rows.count > 1 {
      // Their number and their length take at most two bytes each.
      let limit = min(OrderedPage.maximumRowByteCount, room - fixed - 4)
      while taken < rows.count {
        let difference = UInt64(rows[taken] - rows[taken - 1])
        if further.count + Self.byteCount(of: difference) > limit { break }
        further.appendNumber(difference)
        taken += 1
      }
    }
    beginEntry(key, shared)
    bytes.appendNumber(first << 1 | (taken > 1 ? 1 : 0))
    if taken > 1 {
      bytes.appendNumber(UInt64(taken - 1))
      bytes.appendNumber(UInt64(further.count))
      bytes.append(contentsOf: further)
    }
    lastRow = rows[0]
    return taken
  }

  /// Appends an entry that leads to the next page of the level below. Returns `false` if the page is full.
  package mutating func append(_ key: RawSpan, _ row: UInt32, rowCount: Int) -> Bool {
    let shared = sharedByteCount(with: key)
    let more = key.byteCount - shared
    let byteCount =
      1 + (shared >= 15 ? 1 : 0) + (more >= 15 ? 1 : 0) + more + Self.byteCount(of: UInt64(row))
      + Self.byteCount(of: UInt64(rowCount))
    guard byteCount <= room else { return false }
    beginEntry(key, shared)
    bytes.appendNumber(UInt64(row))
    bytes.appendNumber(UInt64(rowCount))
    return true
  }

  private mutating func beginEntry(_ key: RawSpan, _ shared: Int) {
    if entryCount % OrderedPage.restartInterval == 0 { restarts.append(UInt16(bytes.count)) }
    let more = key.byteCount - shared
    bytes.append(UInt8(min(shared, 15) << 4 | min(more, 15)))
    if shared >= 15 { bytes.append(UInt8(shared)) }
    if more >= 15 { bytes.append(UInt8(more)) }
    bytes.append(key.slice(shared, more))
    lastKey.put(key.slice(shared, more), at: shared)
    lastKeyByteCount = key.byteCount
    entryCount += 1
  }

  /// Appends the finished page to `pages` and begins the next one.
  ///
  /// - Parameters:
  ///   - unit: The unit offset of the page in the file.
  ///   - firstChild: The page to which the first entry leads; 0 in a leaf.
  ///   - isRoot: Whether the page may be shorter than others.
  package mutating func finish(into pages: inout [UInt8], at unit: UnitOffset, firstChild: Int, isRoot: Bool) {
    let end = bytes.count
    let needed = end + 2 * restarts.count
    let length = isRoot ? (needed + 63) / 64 * 64 : OrderedPage.byteCount
    bytes.append(contentsOf: repeatElement(0, count: length - needed))
    for restart in restarts {
      bytes.append(UInt8(truncatingIfNeeded: restart))
      bytes.append(UInt8(truncatingIfNeeded: restart >> 8))
    }
    bytes.change(0, OrderedPage.firstEntry) { header in
      header.put(UInt8(level), at: 4)
      header.put(UInt16(entryCount), at: 6)
      header.put(UInt16(end), at: 8)
      header.put(UInt32(firstChild), at: 12)
    }
    let checksum = Checksum.of(bytes.rawSpan.slice(4, length - 4), from: Checksum.salt(unit))
    bytes.store(checksum, at: 0)
    pages.append(contentsOf: bytes)
    begin()
  }

  /// Returns a signed number as an unsigned one: small where the number is close to 0.
  private static func zigzag(_ number: Int64) -> UInt64 { UInt64(bitPattern: number << 1 ^ number >> 63) }

  /// Returns the number of bytes of a LEB128 number.
  private static func byteCount(of number: UInt64) -> Int {
    number < 0x80 ? 1 : (UInt64.bitWidth - number.leadingZeroBitCount + 6) / 7
  }
}

extension [UInt8] {
  /// Appends a number as unsigned LEB128.
  @inline(__always)
  fileprivate mutating func appendNumber(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(truncatingIfNeeded: rest))
  }
}
