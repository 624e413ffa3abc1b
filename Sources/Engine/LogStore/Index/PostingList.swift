import Bytes
import RecordFormat

/// The list of the rows of one key, for keys with more rows than the index should store as separate entries.
///
///     8 key space · 9 zero · 10 key length n · 12 count c · 16 c offsets · n bytes key
struct PostingList: ~Escapable {
  /// The number of rows with one key up to which the index has one entry per row. Keys with more rows have a posting
  /// list.
  static let threshold = 4
  /// The usual maximum number of rows of a list. Longer lists are split so that checking a list stays fast, unless
  /// there would be too many lists.
  static let usualCount = 4096
  /// The maximum number of lists of one key. They all share a home bucket, and more of them would push each other too
  /// far from it.
  static let listLimit = 64
  /// The maximum number of rows of a list that fits an object together with the longest key.
  static let maximumCount =
    (ObjectHeader.maximumLength - 16 - RecordLayout.maximumKeyLength) / MemoryLayout<UInt32>.size

  /// Returns the number of rows in each list, except the last, of a key with `rows` rows.
  static func count(forRows rows: Int) -> Int {
    min(max(usualCount, (rows + listLimit - 1) / listLimit), maximumCount)
  }

  private let bytes: RawSpan
  let count: Int
  private let keyLength: Int

  /// Reads an object whose checksum is valid; fails if its lengths are inconsistent.
  @_lifetime(copy bytes)
  init?(_ bytes: RawSpan) {
    self.bytes = bytes
    guard bytes.byteCount >= 16 else {
      count = 0
      keyLength = 0
      return nil
    }
    count = Int(bytes.u32(at: 12))
    keyLength = Int(bytes.u16(at: 10))
    guard bytes.byteCount == 16 + 4 * count + keyLength else { return nil }
  }

  func offset(_ index: Int) -> UnitOffset { UnitOffset(rawValue: bytes.u32(at: 16 + 4 * index)) }

  var key: RawSpan {
    @_lifetime(copy self)
    get { bytes.slice(16 + 4 * count, keyLength) }
  }

  /// The key space of this key. The table is the table of the rows.
  var keySpace: Int { Int(bytes.u8(at: 8)) }

  /// A description of a violated format rule; `nil` if the list is valid.
  var fault: String? {
    if bytes.u8(at: 9) != 0 { return "posting list: reserved bytes are not zero" }
    if count == 0 { return "posting list: it has no row" }
    for index in 1..<count where offset(index) <= offset(index - 1) {
      return "posting list: rows \(index - 1) and \(index) are not in ascending order"
    }
    return nil
  }

  /// The size of the contents of a list's object, without the object's header.
  static func byteCount(of rows: Int, key: RawSpan) -> Int { 8 + 4 * rows + key.byteCount }

  /// Writes the contents of a list's object, without the object's header.
  static func put(keySpace: Int, key: RawSpan, rows: Span<IndexEntry>, in bytes: inout MutableRawSpan) {
    bytes.put(UInt8(keySpace), at: 0)
    bytes.put(0 as UInt8, at: 1)
    bytes.put(UInt16(key.byteCount), at: 2)
    bytes.put(UInt32(rows.count), at: 4)
    for index in 0..<rows.count { bytes.put(rows[index].offset, at: 8 + 4 * index) }
    bytes.put(key, at: 8 + 4 * rows.count)
  }
}
