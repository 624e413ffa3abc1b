import CatalogRows
import LogStore
import RecordFormat

/// Turns product rows into records.
///
/// Behind the flags stand, as far as the flags say so: categoryId, groupNum, delFlag, the five doubles, createTime,
/// updateTime; then each with its length before it: skuCode, the barcode, createTime, updateTime; the rest is the name.
struct ProductEncoder {
  private var draft = RecordDraft()
  private var code: [UInt8] = []

  /// Puts `row` into the transaction. Complexity: in the row's bytes.
  mutating func put(_ row: borrowing ProductRow, into transaction: Transaction) throws(StoreError) {
    draft.reset()
    var flags: UInt32 = 0
    if row.isGreeProduct { flags |= ProductLayout.isGreeProduct }
    if row.isGroupedProduct { flags |= ProductLayout.isGroupedProduct }
    if row.isSaleProduct { flags |= ProductLayout.isSaleProduct }
    if row.isMarketingProduct { flags |= ProductLayout.isMarketingProduct }
    flags |= Self.addKeys(of: row, to: &draft, folding: &code)
    for (index, text) in ProductLayout.sharedTexts.enumerated() where row.texts.byteCount(text.rawValue) > 0 {
      flags |= ProductLayout.shared(index)
      draft.addShared(try transaction.share(row.texts.raw(text.rawValue)))
    }
    encodeBody(row, &flags)
    draft.body.store(flags, at: 0)
    try transaction.put(CatalogSchema.products, draft)
  }

  /// Whether the format has room for `row`, without writing anything.
  ///
  /// - Throws: `StoreError.tooLarge`.
  mutating func checkSize(of row: borrowing ProductRow) throws(StoreError) {
    // Few rows come near: their keys end at 64 KiB.
    if row.texts.bytes.count < 1 << 14 { return }
    draft.reset()
    var flags = Self.addKeys(of: row, to: &draft, folding: &code)
    for text in ProductLayout.sharedTexts where row.texts.byteCount(text.rawValue) > 0 {
      try Transaction.checkSize(shared: row.texts.raw(text.rawValue))
      draft.addShared(.empty)
    }
    encodeBody(row, &flags)
    try Transaction.checkSize(draft, "a row of products")
  }

  /// Adds both keys; returns the flag that says whether the barcode has to stand in the body.
  private static func addKeys(
    of row: borrowing ProductRow, to draft: inout RecordDraft, folding code: inout [UInt8]
  ) -> UInt32 {
    draft.addKey(row.texts.raw(ProductText.id.rawValue))
    let barcode = row.texts.raw(ProductText.barcode.rawValue)
    CodeKey.fold(barcode, into: &code)
    draft.addKey(code.rawSpan)
    return code.rawSpan.hasSameBytes(as: barcode) ? 0 : ProductLayout.hasBarcode
  }

  private mutating func encodeBody(_ row: borrowing ProductRow, _ flags: inout UInt32) {
    draft.body.append(contentsOf: [0, 0, 0, 0])
    put(integer: row.categoryId, default: 0, ProductLayout.categoryId, &flags)
    put(integer: row.groupNum, default: 1, ProductLayout.groupNum, &flags)
    if row.delFlag != 0 {
      flags |= ProductLayout.hasDelFlag
      draft.body.put(UInt64(bitPattern: row.delFlag))
    }
    put(double: row.length, 0, &flags)
    put(double: row.tall, 1, &flags)
    put(double: row.volume, 2, &flags)
    put(double: row.weight, 3, &flags)
    put(double: row.wide, 4, &flags)
    put(time: row.texts.raw(ProductText.createTime.rawValue), ProductLayout.createTime, &flags)
    put(time: row.texts.raw(ProductText.updateTime.rawValue), ProductLayout.updateTime, &flags)
    draft.body.putText(row.texts.raw(ProductText.skuCode.rawValue))
    if flags & ProductLayout.hasBarcode != 0 {
      draft.body.putText(row.texts.raw(ProductText.barcode.rawValue))
    }
    if ProductLayout.form(flags, ProductLayout.createTime) == ProductLayout.Form.long {
      draft.body.putText(row.texts.raw(ProductText.createTime.rawValue))
    }
    if ProductLayout.form(flags, ProductLayout.updateTime) == ProductLayout.Form.long {
      draft.body.putText(row.texts.raw(ProductText.updateTime.rawValue))
    }
    draft.body.append(row.texts.raw(ProductText.name.rawValue))
  }

  private mutating func put(integer: Int64, default value: Int64, _ shift: UInt32, _ flags: inout UInt32) {
    if integer == value { return }
    if let short = Int32(exactly: integer) {
      flags |= ProductLayout.Form.short << shift
      draft.body.put(UInt32(bitPattern: short))
    } else {
      flags |= ProductLayout.Form.long << shift
      draft.body.put(UInt64(bitPattern: integer))
    }
  }

  private mutating func put(double: Double, _ index: UInt32, _ flags: inout UInt32) {
    if double.bitPattern == 0 { return }
    let shift = ProductLayout.firstDouble + 2 * index
    if let packed = PackedDecimal.pack(double) {
      flags |= ProductLayout.Form.short << shift
      draft.body.put(packed)
    } else {
      flags |= ProductLayout.Form.long << shift
      draft.body.put(double.bitPattern)
    }
  }

  private mutating func put(time: RawSpan, _ shift: UInt32, _ flags: inout UInt32) {
    if time.byteCount == 0 { return }
    if let packed = PackedTime.pack(time) {
      flags |= ProductLayout.Form.short << shift
      for byte in 0..<PackedTime.byteCount {
        draft.body.append(UInt8(truncatingIfNeeded: packed >> UInt64(8 * byte)))
      }
    } else {
      flags |= ProductLayout.Form.long << shift
    }
  }
}
