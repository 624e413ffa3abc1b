import Bytes
import CatalogRows
import LogStore

/// An encoder of product rows as records.
///
/// The body contains the flags and then the fields that the flags announce: categoryId, groupNum, delFlag, the five
/// doubles, createTime, updateTime; then, each preceded by its length: skuCode, the barcode, createTime, updateTime,
/// extra; and finally the name.
struct ProductEncoder {
  private var draft = RecordDraft()
  private var code: [UInt8] = []
  private var numbers = BodyNumbers()
  /// The ordered indexes of the transaction's products, in its order; `nil` before the first product.
  private var indexes: [ProductIndex]?
  private var indexKeys = ProductIndexKeys()
  /// Whether one of the products had fields beyond the 25.
  private(set) var hasExtra = false

  /// Puts `row` into the transaction.
  ///
  /// - Complexity: Linear in the size of the row.
  mutating func put(_ row: borrowing ProductRow, into transaction: Transaction) throws(StoreError) {
    draft.reset()
    var flags = row.flags & ProductLayout.rowFlags
    flags |= Self.addKeys(of: row, to: &draft, folding: &code)
    for index in ProductLayout.sharedTexts.indices {
      let text = row.texts.raw(ProductLayout.sharedTexts[index].rawValue)
      if text.byteCount == 0 { continue }
      flags |= ProductLayout.shared(index)
      draft.addShared(try transaction.share(text))
    }
    encodeBody(row, &flags)
    if flags & ProductLayout.hasExtra != 0 { hasExtra = true }
    addOrderedKeys(row, transaction)
    try transaction.put(CatalogSchema.products, draft)
  }

  /// Adds the keys of `row` in the ordered indexes of the transaction.
  private mutating func addOrderedKeys(_ row: borrowing ProductRow, _ transaction: Transaction) {
    // The transaction leaves out indexes that this program does not know.
    let indexes =
      indexes ?? transaction.orderedIndexes(of: CatalogSchema.products).compactMap(ProductIndex.init(named:))
    self.indexes = indexes
    if indexes.isEmpty { return }
    let barcode = row.texts.raw(ProductText.barcode.rawValue)
    let isFolded = CodeKey.isFolded(barcode)
    if !isFolded { CodeKey.fold(barcode, into: &code) }
    let code = code
    let texts = IndexedTexts(
      id: row.texts.raw(ProductText.id.rawValue), name: row.texts.raw(ProductText.name.rawValue),
      brand: row.texts.raw(ProductText.brand.rawValue), category: row.texts.raw(ProductText.category.rawValue),
      skuCode: row.texts.raw(ProductText.skuCode.rawValue), code: isFolded ? barcode : code.rawSpan,
      updateTime: row.texts.raw(ProductText.updateTime.rawValue), extra: row.texts.raw(ProductRow.extraText))
    for (number, index) in indexes.enumerated() {
      indexKeys.forEachKey(of: index, texts) { draft.orderedKeys.add(number, $0) }
    }
  }

  /// Checks whether `row` fits the limits of the format, without writing anything.
  ///
  /// - Throws: `StoreError.tooLarge`.
  mutating func checkSize(of row: borrowing ProductRow) throws(StoreError) {
    // Few rows have more bytes than the lowest limit, which is that of the keys; only these are encoded once more.
    if row.texts.bytes.count <= Schema.maximumKeyLength { return }
    draft.reset()
    var flags = Self.addKeys(of: row, to: &draft, folding: &code)
    for text in ProductLayout.sharedTexts where row.texts.byteCount(text.rawValue) > 0 {
      try Transaction.checkSize(shared: row.texts.raw(text.rawValue))
      draft.addShared(.empty)
    }
    encodeBody(row, &flags)
    try Transaction.checkSize(draft, "a row of products")
  }

  /// Adds both keys. Returns the flag for a barcode that has to be stored in the body; 0 if its key is enough.
  private static func addKeys(
    of row: borrowing ProductRow, to draft: inout RecordDraft, folding code: inout [UInt8]
  ) -> UInt32 {
    draft.addKey(row.texts.raw(ProductText.id.rawValue))
    let barcode = row.texts.raw(ProductText.barcode.rawValue)
    if CodeKey.isFolded(barcode) {
      draft.addKey(barcode)
      return 0
    }
    CodeKey.fold(barcode, into: &code)
    draft.addKey(code.rawSpan)
    return code.rawSpan.hasSameBytes(as: barcode) ? 0 : ProductLayout.hasBarcode
  }

  private mutating func encodeBody(_ row: borrowing ProductRow, _ flags: inout UInt32) {
    numbers.begin()
    numbers.put(integer: row.categoryId, default: 0, ProductLayout.categoryId, &flags)
    numbers.put(integer: row.groupNum, default: 1, ProductLayout.groupNum, &flags)
    if row.delFlag != 0 {
      flags |= ProductLayout.hasDelFlag
      numbers.put(UInt64(bitPattern: row.delFlag), byteCount: 8)
    }
    for slot in row.doubles.indices { numbers.put(double: row.doubles[slot], UInt32(slot), &flags) }
    numbers.put(time: row.texts.raw(ProductText.createTime.rawValue), ProductLayout.createTime, &flags)
    numbers.put(time: row.texts.raw(ProductText.updateTime.rawValue), ProductLayout.updateTime, &flags)
    if row.texts.byteCount(ProductRow.extraText) > 0 { flags |= ProductLayout.hasExtra }
    numbers.append(to: &draft.body, flags)
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
    if flags & ProductLayout.hasExtra != 0 { draft.body.putText(row.texts.raw(ProductRow.extraText)) }
    draft.body.append(row.texts.raw(ProductText.name.rawValue))
  }
}

/// The first part of a product's body: its flags, and the numbers and times that the flags announce.
///
/// It is built in a small buffer with one 8-byte store per field, because the fields have different widths.
private struct BodyNumbers {
  /// Flags, three integers and five doubles of eight bytes, two times, and one spare word for the last store.
  private var storage = [UInt8](repeating: 0, count: 4 + 8 * 8 + 2 * PackedTime.byteCount + 8)
  private var count = 0

  /// Starts a body and reserves space for its flags.
  mutating func begin() { count = 4 }

  /// Appends the flags and all fields to `body`.
  mutating func append(to body: inout [UInt8], _ flags: UInt32) {
    storage.change(0, 4) { $0.put(flags, at: 0) }
    body.append(storage.rawSpan.slice(0, count))
  }

  /// Appends the lowest `byteCount` bytes of a word.
  @inline(__always)
  mutating func put(_ word: UInt64, byteCount: Int) {
    storage.change(count, 8) { $0.put(word, at: 0) }
    count += byteCount
  }

  mutating func put(integer: Int64, default value: Int64, _ shift: UInt32, _ flags: inout UInt32) {
    if integer == value { return }
    let isShort = Int32(exactly: integer) != nil
    flags |= (isShort ? ProductLayout.Form.short : ProductLayout.Form.long) << shift
    put(UInt64(bitPattern: integer), byteCount: isShort ? 4 : 8)
  }

  mutating func put(double: Double, _ index: UInt32, _ flags: inout UInt32) {
    if double.bitPattern == 0 { return }
    let shift = ProductLayout.firstDouble + 2 * index
    if let packed = PackedDecimal.pack(double) {
      flags |= ProductLayout.Form.short << shift
      put(UInt64(packed), byteCount: 4)
    } else {
      flags |= ProductLayout.Form.long << shift
      put(double.bitPattern, byteCount: 8)
    }
  }

  /// Appends a time if it can be packed; otherwise sets only its flag.
  mutating func put(time: RawSpan, _ shift: UInt32, _ flags: inout UInt32) {
    if time.byteCount == 0 { return }
    if let packed = PackedTime.pack(time) {
      flags |= ProductLayout.Form.short << shift
      put(packed, byteCount: PackedTime.byteCount)
    } else {
      flags |= ProductLayout.Form.long << shift
    }
  }
}
