import Barcodes
import Bytes
import CatalogRows

/// A packed buffer of rows that are kept until the payload is complete.
///
/// A row value takes about 300 bytes and three allocations regardless of its contents; here an empty row takes 26
/// bytes.
///
/// The rows of a complete file are kept here as well: a later row can take an earlier one back, deletions count
/// whatever their position is, a fault in the last row refuses all of them, and what is refused writes nothing. Packing
/// and unpacking take a fifteenth of the processor time of an increment.
struct RowBuffer {
  /// The size of a chunk. A full chunk is never moved, so no large array is copied as the buffer grows.
  private static let chunkByteCount = 1 << 20

  private var chunks: [[UInt8]] = [[]]
  /// The number of rows.
  private(set) var count = 0
  /// The size of the rows in bytes.
  private(set) var byteCount = 0

  var isEmpty: Bool { count == 0 }

  /// Appends a copy of `row`.
  mutating func append(_ row: borrowing ProductRow) {
    append { bytes in
      Self.put(row.texts, ProductRow.textCount, to: &bytes)
      bytes.put(row.flags)
      for slot in row.integers.indices { Self.put(row.integers[slot], to: &bytes) }
      for slot in row.doubles.indices { Self.put(Int64(bitPattern: row.doubles[slot].bitPattern), to: &bytes) }
    }
  }

  /// Appends a copy of `row`.
  mutating func append(_ row: borrowing RelationRow) {
    append { bytes in
      Self.put(row.texts, RelationText.allCases.count, to: &bytes)
      Self.put(row.groupNum, to: &bytes)
    }
  }

  /// Appends a copy of `row`.
  mutating func append(_ row: borrowing CodeRow) {
    append { bytes in
      Self.put(row.texts, CodeText.allCases.count, to: &bytes)
      Self.put(row.quantity.coefficient, to: &bytes)
      bytes.append(UInt8(truncatingIfNeeded: row.quantity.decimals))
    }
  }

  private mutating func append(_ fill: (inout [UInt8]) -> Void) {
    if chunks[chunks.count - 1].count >= Self.chunkByteCount {
      chunks.append([])
      chunks[chunks.count - 1].reserveCapacity(Self.chunkByteCount + Self.chunkByteCount / 16)
    }
    let last = chunks.count - 1
    let before = chunks[last].count
    fill(&chunks[last])
    byteCount += chunks[last].count - before
    count += 1
  }

  /// Calls `body` with each product, in insertion order. All rows must be products.
  func forEachProduct<Failure>(
    _ body: (Int, borrowing ProductRow) throws(Failure) -> Void
  ) throws(Failure) {
    var row = ProductRow()
    var index = 0
    for chunk in chunks {
      var offset = 0
      while offset < chunk.count {
        row.reset()
        Self.take(&row.texts, ProductRow.textCount, from: chunk, at: &offset)
        row.flags = chunk.rawSpan.u32(at: offset)
        offset += 4
        for slot in row.integers.indices { row.integers[slot] = Self.integer(chunk, &offset) }
        for slot in row.doubles.indices { row.doubles[slot] = Self.double(chunk, &offset) }
        try body(index, row)
        index += 1
      }
    }
  }

  /// Calls `body` with each relation, in insertion order. All rows must be relations.
  func forEachRelation<Failure>(_ body: (borrowing RelationRow) throws(Failure) -> Void) throws(Failure) {
    var row = RelationRow()
    for chunk in chunks {
      var offset = 0
      while offset < chunk.count {
        row.reset()
        Self.take(&row.texts, RelationText.allCases.count, from: chunk, at: &offset)
        row.groupNum = Self.integer(chunk, &offset)
        try body(row)
      }
    }
  }

  /// Calls `body` with each code, in insertion order. All rows must be codes.
  func forEachCode<Failure>(_ body: (borrowing CodeRow) throws(Failure) -> Void) throws(Failure) {
    var row = CodeRow()
    for chunk in chunks {
      var offset = 0
      while offset < chunk.count {
        row.reset()
        Self.take(&row.texts, CodeText.allCases.count, from: chunk, at: &offset)
        let coefficient = Self.integer(chunk, &offset)
        row.quantity = ExactDecimal(coefficient, decimals: Int(chunk[offset]))
        offset += 1
        try body(row)
      }
    }
  }

  // MARK: Values

  private static func put(_ texts: borrowing TextRow, _ count: Int, to bytes: inout [UInt8]) {
    for index in 0..<count { bytes.putText(texts.raw(index)) }
  }

  private static func take(_ texts: inout TextRow, _ count: Int, from bytes: [UInt8], at offset: inout Int) {
    for index in 0..<count {
      guard let range = bytes.rawSpan.textRange(at: offset) else { preconditionFailure("a text that was kept") }
      if !range.isEmpty { texts.set(index, bytes.span.extracting(range)) }
      offset = range.upperBound
    }
  }

  /// Appends an integer: one byte for 0 and 1, nine bytes for all other values.
  private static func put(_ value: Int64, to bytes: inout [UInt8]) {
    if value == 0 || value == 1 { return bytes.append(UInt8(value)) }
    bytes.append(2)
    bytes.put(UInt64(bitPattern: value))
  }

  private static func integer(_ bytes: [UInt8], _ offset: inout Int) -> Int64 {
    let short = bytes[offset]
    offset += 1
    if short < 2 { return Int64(short) }
    defer { offset += 8 }
    return Int64(bitPattern: bytes.rawSpan.u64(at: offset))
  }

  private static func double(_ bytes: [UInt8], _ offset: inout Int) -> Double {
    Double(bitPattern: UInt64(bitPattern: integer(bytes, &offset)))
  }
}
