import Bytes

/// An iterator over the entries of a page as they are stored, in order. It allocates nothing: of each key it gives the
/// bytes that are not shared with the key before.
package struct OrderedStoredEntries: ~Escapable {
  private let bytes: RawSpan
  private let end: Int
  private let entryCount: Int
  private let isLeaf: Bool
  /// The offset after the current entry.
  package private(set) var position: Int
  /// The number of entries up to the current one.
  private var number: Int
  /// The length of the current key.
  package private(set) var keyByteCount = 0
  /// The number of bytes that the current key shares with the previous one.
  package private(set) var sharedByteCount = 0
  /// The offset in the page of the other bytes of the current key.
  package private(set) var ownBytes = 0
  /// The first row of the current entry.
  package private(set) var firstRow: UInt32 = 0
  /// The number of rows of the current entry; in a page that is no leaf, of all leaves to which it leads.
  package private(set) var rowCount = 0
  /// The bytes of the rows after the first, in a leaf.
  private var rows = 0..<0

  @_lifetime(copy page)
  init(_ page: OrderedPage, at offset: Int, number: Int) {
    bytes = page.bytes
    end = page.end
    entryCount = page.entryCount
    isLeaf = page.level == 0
    position = offset
    self.number = number
  }

  /// The number of bytes of the current key after those that it shares.
  package var ownByteCount: Int { keyByteCount &- sharedByteCount }
  /// The number of the current entry in its page.
  package var index: Int { number - 1 }
  /// Whether the iterator is after the last entry, so that ``next()`` found the end and no fault.
  package var isAtEnd: Bool { number == entryCount }

  /// Moves to the next entry. Returns `false` after the last entry, and at an entry that is not valid.
  @inline(__always)
  package mutating func next() -> Bool {
    guard number < entryCount, let lengths = bytes.keyLengths(at: &position, before: end) else { return false }
    let isRestart = number % OrderedPage.restartInterval == 0
    guard lengths.shared <= keyByteCount, !isRestart || lengths.shared == 0,
      lengths.shared &+ lengths.own <= OrderedPage.maximumKeyLength, lengths.own <= end &- position
    else { return false }
    sharedByteCount = lengths.shared
    keyByteCount = lengths.shared &+ lengths.own
    ownBytes = position
    position &+= lengths.own
    guard readRows(isRestart: isRestart) else { return false }
    number &+= 1
    return true
  }

  @inline(__always)
  private mutating func readRows(isRestart: Bool) -> Bool {
    guard let first = readNumber() else { return false }
    guard isLeaf else {
      // A block counts its rows with 32 bits, so sums of a few of these numbers cannot overflow.
      guard let count = readNumber(), count <= UInt32.max, let row = UInt32(exactly: first) else { return false }
      firstRow = row
      rowCount = Int(count)
      return true
    }
    let value = first >> 1
    if isRestart {
      guard let row = UInt32(exactly: value) else { return false }
      firstRow = row
    } else {
      // Zigzag: an even number is a difference that is not negative.
      let difference = Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
      guard let row = UInt32(exactly: Int64(firstRow) &+ difference) else { return false }
      firstRow = row
    }
    rowCount = 1
    rows = position..<position
    if first & 1 == 0 { return true }
    guard let further = readNumber(), let count = readNumber(), further > 0, further <= count,
      count <= UInt64(min(OrderedPage.maximumRowByteCount, end - position))
    else { return false }
    rowCount = 1 + Int(further)
    rows = position..<(position + Int(count))
    position += Int(count)
    return true
  }

  @inline(__always)
  private mutating func readNumber() -> UInt64? { bytes.number(at: &position, before: end) }

  /// Appends the rows of the current entry of a leaf to `list`, in ascending order. Returns whether they are valid.
  @inline(__always)
  package func appendRows(to list: inout [UInt32]) -> Bool {
    list.append(firstRow)
    if rowCount == 1 { return true }
    var position = rows.lowerBound
    var row = UInt64(firstRow)
    for _ in 1..<rowCount {
      guard let difference = bytes.number(at: &position, before: rows.upperBound), difference > 0,
        difference <= UInt64(UInt32.max) - row
      else { return false }
      row += difference
      list.append(UInt32(truncatingIfNeeded: row))
    }
    return position == rows.upperBound
  }
}

extension RawSpan {
  /// Reads how many bytes a key shares with the one before and how many it has of its own; `nil` if that does not end
  /// before `end`.
  @inline(__always)
  func keyLengths(at offset: inout Int, before end: Int) -> (shared: Int, own: Int)? {
    guard offset < end else { return nil }
    let lengths = u8(at: offset)
    offset &+= 1
    var shared = Int(lengths >> 4)
    var own = Int(lengths & 15)
    if shared == 15 {
      guard offset < end else { return nil }
      shared = Int(u8(at: offset))
      offset &+= 1
    }
    if own == 15 {
      guard offset < end else { return nil }
      own = Int(u8(at: offset))
      offset &+= 1
    }
    return (shared, own)
  }

  /// Reads an unsigned LEB128 number at `offset`, which is moved past it; `nil` if it does not end before `end` or
  /// exceeds 63 bits.
  @inline(__always)
  func number(at offset: inout Int, before end: Int) -> UInt64? {
    guard offset >= 0, offset < end, end <= byteCount else { return nil }
    if offset &+ 8 <= byteCount {
      // Eight bytes are in bounds, as just checked. The byte without bit 7 ends the number.
      let word = unsafe u64(unchecked: offset)
      let ends = ~word & 0x8080_8080_8080_8080
      let count = ends.trailingZeroBitCount &>> 3 &+ 1
      if ends != 0, count <= end &- offset {
        offset &+= count
        return Self.joined(word & (ends ^ (ends &- 1)))
      }
    }
    return longNumber(at: &offset, before: end)
  }

  /// Returns the number whose groups of seven bits are in the eight bytes of a word, the lowest first.
  @inline(__always)
  private static func joined(_ word: UInt64) -> UInt64 {
    // Pairs of 7 bits, of 14, and of 28.
    let sevens = word & 0x7F7F_7F7F_7F7F_7F7F
    let pairs = sevens & 0x007F_007F_007F_007F | (sevens & 0x7F00_7F00_7F00_7F00) &>> 1
    let fours = pairs & 0x0000_3FFF_0000_3FFF | (pairs & 0x3FFF_0000_3FFF_0000) &>> 2
    return fours & 0x0FFF_FFFF | (fours & 0x0FFF_FFFF_0000_0000) &>> 4
  }

  /// Reads a number byte by byte: one near the end of the page, or of more than eight bytes.
  @inline(never)
  private func longNumber(at offset: inout Int, before end: Int) -> UInt64? {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while offset < end, shift < 63 {
      let byte = u8(at: offset)
      offset &+= 1
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
      shift &+= 7
    }
    return nil
  }
}
