import CatalogRows

/// The binary record that stores without columns keep: `record.h` in CPeers has its layout.
package enum PeerRecord {
  /// The texts of a product in the order of a record: keys and name first, for they are asked for most.
  package static let productTexts: [ProductText] = [
    .barcode, .id, .name, .brand, .brandId, .category, .createBy, .createTime, .orgId, .skuCode, .unit, .updateBy,
    .updateTime,
  ]
  private static let relationTexts: [RelationText] = [.productId, .subProductId, .id, .orgId]

  package static func append(_ row: borrowing ProductRow, to bytes: inout [UInt8]) {
    let start = bytes.count
    bytes.append(contentsOf: repeatElement(0, count: 32))
    bytes.put(UInt64(bitPattern: row.categoryId))
    bytes.put(row.weight.bitPattern)
    for (place, field) in productTexts.enumerated() {
      row.texts.withText(field.rawValue) { bytes.putText($0, lengthAt: start + 6 + 2 * place) }
    }
    bytes.put(UInt64(bitPattern: row.groupNum))
    bytes.put(UInt64(bitPattern: row.delFlag))
    for number in [row.length, row.tall, row.volume, row.wide] { bytes.put(number.bitPattern) }
    bytes[start + 4] =
      (row.isGreeProduct ? 1 : 0) | (row.isGroupedProduct ? 2 : 0) | (row.isSaleProduct ? 4 : 0)
      | (row.isMarketingProduct ? 8 : 0)
    bytes.store(UInt32(bytes.count - start), at: start)
  }

  package static func append(_ row: borrowing RelationRow, to bytes: inout [UInt8]) {
    let start = bytes.count
    bytes.append(contentsOf: repeatElement(0, count: 16))
    bytes.put(UInt64(bitPattern: row.groupNum))
    for (place, field) in relationTexts.enumerated() {
      row.texts.withText(field.rawValue) { bytes.putText($0, lengthAt: start + 8 + 2 * place) }
    }
    bytes.store(UInt32(bytes.count - start), at: start)
  }

  /// Reads back the product that stands in `bytes` from `start` on.
  package static func read(_ bytes: [UInt8], at start: Int, into row: inout ProductRow) {
    row.reset()
    var offset = start + 48
    for (place, field) in productTexts.enumerated() {
      let count = Int(bytes[start + 6 + 2 * place]) | Int(bytes[start + 7 + 2 * place]) << 8
      row.texts.set(field.rawValue, bytes.span.extracting(offset..<(offset + count)))
      offset += count
    }
    row.categoryId = Int64(bitPattern: bytes.word(at: start + 32))
    row.weight = Double(bitPattern: bytes.word(at: start + 40))
    row.groupNum = Int64(bitPattern: bytes.word(at: offset))
    row.delFlag = Int64(bitPattern: bytes.word(at: offset + 8))
    row.length = Double(bitPattern: bytes.word(at: offset + 16))
    row.tall = Double(bitPattern: bytes.word(at: offset + 24))
    row.volume = Double(bitPattern: bytes.word(at: offset + 32))
    row.wide = Double(bitPattern: bytes.word(at: offset + 40))
    let flags = bytes[start + 4]
    row.isGreeProduct = flags & 1 != 0
    row.isGroupedProduct = flags & 2 != 0
    row.isSaleProduct = flags & 4 != 0
    row.isMarketingProduct = flags & 8 != 0
  }
}

extension [UInt8] {
  fileprivate mutating func put(_ word: UInt64) {
    // The eight bytes of a local variable.
    unsafe Swift.withUnsafeBytes(of: word.littleEndian) { unsafe append(contentsOf: $0) }
  }

  fileprivate mutating func putText(_ text: Span<UInt8>, lengthAt place: Int) {
    precondition(text.count <= UInt16.max, "a text of a record has at most 65,535 bytes")
    self[place] = UInt8(truncatingIfNeeded: text.count)
    self[place + 1] = UInt8(truncatingIfNeeded: text.count >> 8)
    // The pointer is used inside the call only.
    unsafe text.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
  }

  fileprivate mutating func store(_ word: UInt32, at offset: Int) {
    for index in 0..<4 { self[offset + index] = UInt8(truncatingIfNeeded: word >> (8 * UInt32(index))) }
  }

  fileprivate func word(at offset: Int) -> UInt64 {
    var word: UInt64 = 0
    for index in (0..<8).reversed() { word = word << 8 | UInt64(self[offset + index]) }
    return word
  }
}
