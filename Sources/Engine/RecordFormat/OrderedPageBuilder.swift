import Bytes

/// A page of an ordered block under construction.
package struct OrderedPageBuilder {
  /// The page from its first byte; zeros after ``end``. The header is written last.
  private var bytes = [UInt8](repeating: 0, count: OrderedPage.byteCount)
  /// The offset after the last entry.
  private var end = OrderedPage.firstEntry
  private var restarts: [UInt16] = []
  /// The key of the last entry, and bytes of longer keys before it.
  private var lastKeyBytes = OrderedPage.keyBuffer
  private var lastKeyByteCount = 0
  private var lastRow: UInt32 = 0
  /// The rows of an entry after the first, encoded, and room for as many as an entry can have.
  private var further = [UInt8](repeating: 0, count: OrderedPage.maximumRowByteCount)
  private let level: Int
  /// The number of bytes at the end of the page that stay free.
  private let reserved: Int
  package private(set) var entryCount = 0

  /// - Parameters:
  ///   - level: The level of the pages; 0 for leaves.
  ///   - reserved: The number of bytes at the end of each page that stay free, because its sealed form needs them.
  package init(level: Int, reserving reserved: Int = 0) {
    self.level = level
    self.reserved = reserved
  }

  private mutating func begin() {
    bytes.put(Self.emptyPage.rawSpan, at: 0)
    end = OrderedPage.firstEntry
    restarts.removeAll(keepingCapacity: true)
    lastKeyByteCount = 0
    entryCount = 0
  }

  private static let emptyPage = [UInt8](repeating: 0, count: OrderedPage.byteCount)

  /// The key of the last entry of the page; empty if it has none.
  private var lastKey: RawSpan {
    @_lifetime(borrow self)
    get { lastKeyBytes.rawSpan.slice(0, lastKeyByteCount) }
  }

  /// Replaces `key` by the key of the last entry of the page, or by none if the page is empty.
  package func copyLastKey(to key: inout [UInt8]) {
    key.removeAll(keepingCapacity: true)
    key.append(lastKey)
  }

  /// The free bytes for an entry, which may need another restart.
  private var room: Int {
    let isRestart = entryCount % OrderedPage.restartInterval == 0
    return OrderedPage.byteCount - reserved - end - 2 * (restarts.count + (isRestart ? 1 : 0))
  }

  /// The length of the beginning that the next key does not repeat.
  private func sharedByteCount(with key: RawSpan) -> Int {
    if entryCount % OrderedPage.restartInterval == 0 { return 0 }
    return lastKey.commonPrefixByteCount(with: key)
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
    var furtherByteCount = 0
    var taken = 1
    if rows.count > 1 {
      // Their number and their length take at most two bytes each.
      let limit = min(OrderedPage.maximumRowByteCount, room - fixed - 4)
      while taken < rows.count {
        let difference = UInt64(rows[taken] - rows[taken - 1])
        if furtherByteCount + Self.byteCount(of: difference) > limit { break }
        furtherByteCount = further.putNumber(difference, at: furtherByteCount)
        taken += 1
      }
    }
    beginEntry(key, shared, first << 1 | (taken > 1 ? 1 : 0))
    if taken > 1 {
      putNumber(UInt64(taken - 1))
      putNumber(UInt64(furtherByteCount))
      let further = further
      bytes.put(further.rawSpan.slice(0, furtherByteCount), at: end)
      end += furtherByteCount
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
    beginEntry(key, shared, UInt64(row))
    putNumber(UInt64(rowCount))
    return true
  }

  /// Writes the key of an entry and the number after it.
  private mutating func beginEntry(_ key: RawSpan, _ shared: Int, _ number: UInt64) {
    if entryCount % OrderedPage.restartInterval == 0 { restarts.append(UInt16(end)) }
    let more = key.byteCount &- shared
    bytes[end] = UInt8(min(shared, 15) << 4 | min(more, 15))
    end &+= 1
    if shared >= 15 {
      bytes[end] = UInt8(shared)
      end &+= 1
    }
    if more >= 15 {
      bytes[end] = UInt8(more)
      end &+= 1
    }
    bytes.put(key.slice(shared, more), at: end)
    lastKeyBytes.put(key.slice(shared, more), at: shared)
    lastKeyByteCount = key.byteCount
    end = bytes.putNumber(number, at: end &+ more)
    entryCount &+= 1
  }

  private mutating func putNumber(_ number: UInt64) { end = bytes.putNumber(number, at: end) }

  /// Appends the finished page to `pages` and begins the next one.
  ///
  /// - Parameters:
  ///   - unit: The unit offset of the page in the file.
  ///   - firstChild: The page to which the first entry leads; 0 in a leaf.
  ///   - isRoot: Whether the page may be shorter than others.
  ///   - seal: A closure that changes the page's contents to the sealed form, before its checksum is computed. The
  ///     reserved bytes at its end are zero.
  package mutating func finish(
    into pages: inout [UInt8], at unit: UnitOffset, firstChild: Int, isRoot: Bool,
    seal: (inout MutableRawSpan) -> Void = { _ in }
  ) {
    let needed = end + 2 * restarts.count + reserved
    let length = isRoot ? (needed + 63) / 64 * 64 : OrderedPage.byteCount
    bytes.change(0, length) { page in
      page.put(UInt8(level), at: 4)
      page.put(UInt16(entryCount), at: 6)
      page.put(UInt16(end), at: 8)
      page.put(UInt32(firstChild), at: 12)
      for (index, restart) in restarts.enumerated() {
        page.put(restart, at: length - reserved - 2 * (restarts.count - index))
      }
      seal(&page)
    }
    let checksum = Checksum.of(bytes.rawSpan.slice(4, length - 4), from: Checksum.salt(unit))
    bytes.store(checksum, at: 0)
    pages.append(bytes.rawSpan.slice(0, length))
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
  /// Stores a number as unsigned LEB128 at `offset`, and returns the offset after it.
  @inline(__always)
  fileprivate mutating func putNumber(_ number: UInt64, at offset: Int) -> Int {
    var bytes = mutableSpan
    var rest = number
    var next = offset
    while rest >= 0x80 {
      bytes[next] = UInt8(truncatingIfNeeded: rest) | 0x80
      rest >>= 7
      next &+= 1
    }
    bytes[next] = UInt8(truncatingIfNeeded: rest)
    return next &+ 1
  }
}
