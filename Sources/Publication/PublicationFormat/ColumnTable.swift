import Bytes

/// The columns of some rows of a group, as they were read: the bytes of all values, and where the value of each row and
/// column is. A value that many rows have is there once.
///
/// Memory: the bytes of the different values, and 8 bytes a value.
struct ColumnTable {
  let rowCount: Int
  let columnCount: Int
  private(set) var bytes: [UInt8] = []
  /// Row by row.
  private var places: [Place]

  /// Where a value is in ``bytes``.
  private struct Place {
    var start: UInt32 = 0
    var end: UInt32 = 0
  }

  /// What the values of a column are.
  enum Kind {
    /// UTF-8.
    case text
    /// Any bytes.
    case bytes
  }

  /// Creates a table whose values are all empty.
  init(rowCount: Int, columnCount: Int) {
    self.rowCount = rowCount
    self.columnCount = columnCount
    places = Array(repeating: Place(), count: rowCount * columnCount)
  }

  @_lifetime(borrow self)
  subscript(row: Int, column: Int) -> RawSpan {
    @inline(__always) get {
      let place = places[row * columnCount + column]
      return bytes.rawSpan.slice(Int(place.start), Int(place.end) - Int(place.start))
    }
  }

  /// The number of a row and column; 0 for the empty value.
  ///
  /// - Throws: ``PublicationError/damaged(_:)``.
  @inline(__always)
  func word(_ row: Int, _ column: Int) throws(PublicationError) -> UInt64 {
    let value = self[row, column]
    if value.byteCount == 0 { return 0 }
    guard value.byteCount == 8 else { throw .damaged("a number has \(value.byteCount) bytes") }
    return value.u64(at: 0)
  }

  // MARK: Reading

  /// Reads the values of a column, which has none so far.
  ///
  /// - Parameter limit: The most bytes that all values may have together.
  /// - Throws: ``PublicationError/damaged(_:)``.
  mutating func read(
    _ column: Int, _ kind: Kind, from reader: inout ByteReader, limit: Int
  ) throws(PublicationError) {
    guard let form = reader.u8().flatMap(TextColumn.Form.init) else { throw .damaged("a column has an unknown form") }
    let start = bytes.count
    switch form {
    case .empty: return
    case .plain, .lines:
      try Self.readTexts(form, rowCount, &reader, limit, into: &bytes) { places[$0 * columnCount + column] = $1 }
    case .same:
      var value = Place()
      try Self.readTexts(.plain, 1, &reader, limit, into: &bytes) { value = $1 }
      if (bytes.count - start) * rowCount > limit { throw .damaged("a column is too long") }
      for row in 0..<rowCount { places[row * columnCount + column] = value }
    case .distinct: try readDistinct(column, &reader, limit)
    case .digits, .times, .checkedDigits:
      if let append = form.numbers?.append { try readNumbers(column, &reader, limit, append) }
    }
    if kind == .text { try checkTexts(column, from: start) }
  }

  /// Checks that the values of a column, which are the bytes from `start` on, are UTF-8: all of them together, and that
  /// none begins in the middle of a character.
  private func checkTexts(_ column: Int, from start: Int) throws(PublicationError) {
    let all = bytes.rawSpan.slice(start, bytes.count - start)
    if all.isASCII { return }
    guard String(validating: bytes[start...], as: UTF8.self) != nil else { throw .damaged("a text is not UTF-8") }
    for row in 0..<rowCount {
      let place = places[row * columnCount + column]
      if place.start < place.end, bytes[Int(place.start)] & 0xC0 == 0x80 { throw .damaged("a text is not UTF-8") }
    }
  }

  private mutating func readDistinct(
    _ column: Int, _ reader: inout ByteReader, _ limit: Int
  ) throws(PublicationError) {
    guard let count = reader.count(upTo: rowCount) else { throw .damaged("a column has more values than rows") }
    var values: [Place] = []
    values.reserveCapacity(count)
    try Self.readTexts(Self.textForm(&reader), count, &reader, limit, into: &bytes) { values.append($1) }
    var byteCount = 0
    for row in 0..<rowCount {
      guard let index = reader.variable(), index < UInt64(count) else {
        throw .damaged("a row has a value that its column lacks")
      }
      let value = values[Int(index)]
      places[row * columnCount + column] = value
      byteCount += Int(value.end - value.start)
      if byteCount > limit { throw .damaged("a column is too long") }
    }
  }

  private mutating func readNumbers(
    _ column: Int, _ reader: inout ByteReader, _ limit: Int, _ append: (UInt64, inout [UInt8]) -> Bool
  ) throws(PublicationError) {
    var numbers: [UInt64] = []
    numbers.reserveCapacity(rowCount)
    var last: UInt64 = 0
    for _ in 0..<rowCount {
      guard let difference = reader.signed() else { throw .damaged("a column ends too early") }
      last = last &+ UInt64(bitPattern: difference)
      numbers.append(last)
    }
    guard let others = reader.count(upTo: rowCount) else { throw .damaged("a column ends too early") }
    var rows: [Int] = []
    for _ in 0..<others {
      guard let gap = reader.count(upTo: rowCount - 1 - (rows.last ?? 0)), rows.isEmpty || gap > 0 else {
        throw .damaged("a column has a text of a row that it lacks")
      }
      rows.append((rows.last ?? 0) + gap)
    }
    let start = bytes.count
    if others > 0 {
      try Self.readTexts(Self.textForm(&reader), others, &reader, limit, into: &bytes) {
        places[rows[$0] * columnCount + column] = $1
      }
    }
    var next = 0
    for row in 0..<rowCount {
      if next < others, rows[next] == row {
        next += 1
        continue
      }
      let begin = bytes.count
      guard append(numbers[row], &bytes) else {
        throw .damaged("a number of a column is none that its form can have")
      }
      places[row * columnCount + column] = Place(start: UInt32(begin), end: UInt32(bytes.count))
    }
    if bytes.count - start > limit { throw .damaged("a column is too long") }
  }

  /// Reads the form of a list of texts.
  private static func textForm(_ reader: inout ByteReader) throws(PublicationError) -> TextColumn.Form {
    switch reader.u8() {
    case TextColumn.Form.plain.rawValue: return .plain
    case TextColumn.Form.lines.rawValue: return .lines
    default: throw .damaged("a list of texts has an unknown form")
    }
  }

  /// Reads texts, as lines or with their lengths, and says where each of them is.
  private static func readTexts(
    _ form: TextColumn.Form, _ count: Int, _ reader: inout ByteReader, _ limit: Int, into bytes: inout [UInt8],
    _ found: (Int, Place) -> Void
  ) throws(PublicationError) {
    let start = bytes.count
    if form == .lines {
      let rest = reader.rest
      var end = 0
      for row in 0..<count {
        let begin = end
        while end < rest.byteCount, rest.u8(at: end) != 0x0A { end += 1 }
        guard end < rest.byteCount else { throw .damaged("a column ends too early") }
        found(row, Place(start: UInt32(start + begin), end: UInt32(start + end)))
        end += 1
      }
      if end - count > limit { throw .damaged("a column is too long") }
      bytes.append(rest.slice(0, end))
      return reader.skip(end)
    }
    var end = start
    for row in 0..<count {
      guard let length = reader.count(upTo: limit - (end - start)) else {
        throw .damaged("a text is too long, or cut off")
      }
      found(row, Place(start: UInt32(end), end: UInt32(end + length)))
      end += length
    }
    guard reader.remaining >= end - start else { throw .damaged("a column ends too early") }
    bytes.append(reader.rest.slice(0, end - start))
    reader.skip(end - start)
  }
}
