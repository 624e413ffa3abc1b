import Bytes
import RecordFormat

/// The rows of one key that has more of them than an index should repeat.
///
///     8 key space · 9 zero · 10 key length n · 12 count c · 16 c offsets · n bytes key
struct PostingList: ~Escapable {
  /// Rows that share a key stand in the index one by one up to this number, and in a list beyond it.
  static let threshold = 4
  /// A longer list is cut, so that checking one stays short, unless that made too many of them.
  static let usualCount = 4096
  /// All lists of one key begin in one bucket: more of them than this would push each other too far from it.
  static let listLimit = 64
  /// The longest list that fits an object together with the longest key.
  static let maximumCount =
    (ObjectHeader.maximumLength - 16 - RecordLayout.maximumKeyLength) / MemoryLayout<UInt32>.size

  /// Rows in each list but the last of a key that has `rows` of them.
  static func count(forRows rows: Int) -> Int {
    min(max(usualCount, (rows + listLimit - 1) / listLimit), maximumCount)
  }

  private let bytes: RawSpan
  let count: Int
  private let keyLength: Int

  /// Reads an object whose checksum was checked; `nil` where its lengths contradict each other.
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

  /// The key space whose key this is; the table is that of the rows.
  var keySpace: Int { Int(bytes.u8(at: 8)) }

  /// What the format does not allow; `nil` where nothing is wrong.
  var fault: String? {
    if bytes.u8(at: 9) != 0 { return "posting list: reserved bytes are not zero" }
    if count == 0 { return "posting list: it has no row" }
    for index in 1..<count where offset(index) <= offset(index - 1) {
      return "posting list: rows \(index - 1) and \(index) are not in ascending order"
    }
    return nil
  }

  /// The contents of a list's object, behind its header.
  static func contents(keySpace: Int, key: RawSpan, rows: ArraySlice<IndexEntry>) -> [UInt8] {
    var writer = ByteWriter()
    writer.put(UInt8(keySpace))
    writer.put(UInt8(0))
    writer.put(UInt16(key.byteCount))
    writer.put(UInt32(rows.count))
    for row in rows { writer.put(row.offset) }
    writer.put(key.copied())
    return writer.bytes
  }
}
