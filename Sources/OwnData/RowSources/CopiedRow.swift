/// A parser of rows in the text format of PostgreSQL's COPY. It reuses its buffers from row to row.
struct CopiedRow {
  private var texts: [UInt8] = []
  /// The range of each value in ``texts``; `nil` for NULL.
  private var ranges: [Range<Int>?] = []

  /// The number of values.
  var count: Int { ranges.count }

  /// Calls `body` with a value; `nil` for NULL.
  func withValue(_ column: Int, _ body: (Span<UInt8>?) -> Void) {
    guard let range = ranges[column] else { return body(nil) }
    body(texts.span.extracting(range))
  }

  /// Parses a row: tabs separate the values, and a backslash precedes an escaped character.
  ///
  /// - Parameter row: The row, with or without its line feed. Any bytes are accepted.
  mutating func split(_ row: Span<UInt8>) {
    texts.removeAll(keepingCapacity: true)
    ranges.removeAll(keepingCapacity: true)
    let end = row.count > 0 && row[row.count - 1] == 0x0A ? row.count - 1 : row.count
    var start = 0
    var index = 0
    var first = 0
    var isNull = false
    while true {
      if index < end, row[index] != 0x09, row[index] != UInt8(ascii: "\\") {
        index += 1
        continue
      }
      texts.append(copying: row.extracting(first..<index))
      if index < end, row[index] != 0x09 {
        if index + 1 < end, row[index + 1] == UInt8(ascii: "N") {
          isNull = true
        } else if index + 1 < end {
          texts.append(Self.unescaped(row[index + 1]))
        }
        index = min(index + 2, end)
        first = index
        continue
      }
      ranges.append(isNull ? nil : start..<texts.count)
      if index == end { return }
      start = texts.count
      isNull = false
      index += 1
      first = index
    }
  }

  private static func unescaped(_ byte: UInt8) -> UInt8 {
    switch byte {
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    case UInt8(ascii: "v"): 0x0B
    default: byte
    }
  }
}
