import CatalogRows

/// An encoding of rows as bytes, small to keep and fast to compare. It is used only in memory; ``OriginState`` keeps
/// digests of it, so after a change of this encoding every row counts as changed once.
///
///     product    delFlag categoryId groupNum (8 bytes each) · length tall volume weight wide (8 bytes each)
///                · Booleans (1 byte) · 13 texts · extra, a text
///     relation   groupNum (8 bytes) · 4 texts
///     text       byte count (4 bytes) · UTF-8
///
/// All numbers are little-endian. Relations follow each other without a gap.
enum PackedRow {
  static func pack(_ row: borrowing ProductRow) -> [UInt8] {
    var bytes: [UInt8] = []
    for number in [row.delFlag, row.categoryId, row.groupNum] {
      append(UInt64(bitPattern: number), to: &bytes)
    }
    for number in [row.length, row.tall, row.volume, row.weight, row.wide] {
      append(number.bitPattern, to: &bytes)
    }
    let booleans = [row.isGreeProduct, row.isGroupedProduct, row.isSaleProduct, row.isMarketingProduct]
    bytes.append(booleans.reduce(0) { $0 << 1 | ($1 ? 1 : 0) })
    for index in 0..<ProductRow.textCount { append(row.texts, index, to: &bytes) }
    return bytes
  }

  static func pack(_ row: borrowing RelationRow) -> [UInt8] {
    var bytes: [UInt8] = []
    append(UInt64(bitPattern: row.groupNum), to: &bytes)
    for field in RelationText.allCases { append(row.texts, field.rawValue, to: &bytes) }
    return bytes
  }

  /// A product of which only the id is known.
  static func pack(id: ByteText) -> [UInt8] {
    var row = ProductRow()
    row.texts.set(ProductText.id.rawValue, id.bytes.span)
    return pack(row)
  }

  /// Whether a packed product has a `delFlag` other than 0.
  static func isDeleted(_ product: [UInt8]) -> Bool { product[..<8].contains { $0 != 0 } }

  /// Unpacks a product into a row that is reused.
  static func unpack(_ bytes: [UInt8], into row: inout ProductRow) {
    row.reset()
    var reader = Reader(bytes: bytes)
    row.delFlag = Int64(bitPattern: reader.integer())
    row.categoryId = Int64(bitPattern: reader.integer())
    row.groupNum = Int64(bitPattern: reader.integer())
    row.length = Double(bitPattern: reader.integer())
    row.tall = Double(bitPattern: reader.integer())
    row.volume = Double(bitPattern: reader.integer())
    row.weight = Double(bitPattern: reader.integer())
    row.wide = Double(bitPattern: reader.integer())
    let booleans = reader.byte()
    row.isGreeProduct = booleans & 8 != 0
    row.isGroupedProduct = booleans & 4 != 0
    row.isSaleProduct = booleans & 2 != 0
    row.isMarketingProduct = booleans & 1 != 0
    for index in 0..<ProductRow.textCount { reader.text(index, into: &row.texts) }
  }

  /// Passes on the relations in `bytes` one by one, in a row that is reused.
  static func forEachRelation<Failure: Error>(
    in bytes: [UInt8], reusing row: inout RelationRow,
    _ body: (borrowing RelationRow) throws(Failure) -> Void
  ) throws(Failure) {
    var reader = Reader(bytes: bytes)
    while reader.position < bytes.count {
      row.reset()
      row.groupNum = Int64(bitPattern: reader.integer())
      for field in RelationText.allCases { reader.text(field.rawValue, into: &row.texts) }
      try body(row)
    }
  }

  private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
    for shift in stride(from: UInt64(0), to: 64, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }

  private static func append(_ texts: TextRow, _ field: Int, to bytes: inout [UInt8]) {
    let count = UInt32(texts.byteCount(field))
    for shift in stride(from: UInt32(0), to: 32, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: count >> shift))
    }
    texts.withText(field) { text in
      for index in text.indices { bytes.append(text[index]) }
    }
  }

  private struct Reader {
    let bytes: [UInt8]
    var position = 0

    mutating func byte() -> UInt8 {
      defer { position += 1 }
      return bytes[position]
    }

    mutating func integer(byteCount: Int = 8) -> UInt64 {
      var number: UInt64 = 0
      for index in 0..<byteCount { number |= UInt64(bytes[position + index]) << UInt64(8 * index) }
      position += byteCount
      return number
    }

    mutating func text(_ field: Int, into texts: inout TextRow) {
      let end = Int(integer(byteCount: 4)) + position
      texts.set(field, bytes.span.extracting(position..<end))
      position = end
    }
  }
}
