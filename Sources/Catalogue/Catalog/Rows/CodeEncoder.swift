import Barcodes
import Bytes
import CatalogRows
import LogStore

/// An encoder of rows of codes as records. Codes of one product that follow each other are one record.
struct CodeEncoder {
  private var draft = RecordDraft()
  private var product: [UInt8] = []
  /// The keys of the record so far, as a list, and its body.
  private var keys: [UInt8] = []
  private var body: [UInt8] = []
  private var folded: [UInt8] = []
  private var key: [UInt8] = []
  private var table: Int?
  /// The number of rows that were put.
  private(set) var count = 0

  /// The size of keys and body from which on a record takes no further code. It bounds what a lookup reads.
  private static let fullByteCount = 4096

  /// Puts `row` into the transaction, at the latest with ``finish(into:)``.
  mutating func put(_ row: borrowing CodeRow, into transaction: Transaction) throws(StoreError) {
    let product = row.texts.raw(CodeText.productId.rawValue)
    makeKey(of: row)
    // A record has each key once.
    if !keys.isEmpty,
      keys.count + body.count >= Self.fullByteCount || !product.hasSameBytes(as: self.product.rawSpan)
        || KeyList.contains(key.rawSpan, in: keys.rawSpan)
    {
      try finish(into: transaction)
    }
    if keys.isEmpty {
      self.product.removeAll(keepingCapacity: true)
      self.product.append(product)
    }
    append(row)
    count += 1
  }

  /// Puts the codes that wait for others of their product.
  mutating func finish(into transaction: Transaction) throws(StoreError) {
    if keys.isEmpty { return }
    let number: Int
    if let table {
      number = table
    } else {
      number = try transaction.table(CatalogSchema.codeTable)
      table = number
    }
    fillDraft()
    try transaction.put(number, draft)
    keys.removeAll(keepingCapacity: true)
    body.removeAll(keepingCapacity: true)
  }

  /// Checks whether `row` fits the limits of the format, without writing anything.
  ///
  /// - Throws: `StoreError.tooLarge`.
  mutating func checkSize(of row: borrowing CodeRow) throws(StoreError) {
    // A text of fewer bytes has no longer key.
    if row.texts.bytes.count <= KeyList.maximumKeyLength { return }
    makeKey(of: row)
    if key.count > KeyList.maximumKeyLength {
      throw .tooLarge(what: "a code", byteCount: key.count, limit: KeyList.maximumKeyLength)
    }
    product.removeAll(keepingCapacity: true)
    product.append(row.texts.raw(CodeText.productId.rawValue))
    makeKey(of: row)
    append(row)
    fillDraft()
    keys.removeAll(keepingCapacity: true)
    body.removeAll(keepingCapacity: true)
    try Transaction.checkSize(draft, "a row of codes")
  }

  private mutating func makeKey(of row: borrowing CodeRow) {
    let code = row.texts.raw(CodeText.code.rawValue)
    key.removeAll(keepingCapacity: true)
    if CodeKey.isFolded(code) { return DigitKey.append(code, to: &key) }
    CodeKey.fold(code, into: &folded)
    Self.append(keyOf: folded, to: &key)
  }

  private static func append(keyOf folded: [UInt8], to key: inout [UInt8]) { DigitKey.append(folded.rawSpan, to: &key) }

  private mutating func fillDraft() {
    draft.reset()
    Self.fill(&draft, product, keys, body)
  }

  private static func fill(_ draft: inout RecordDraft, _ product: [UInt8], _ keys: [UInt8], _ body: [UInt8]) {
    draft.addKey(product.rawSpan)
    draft.addKeys { $0 += keys }
    draft.body += body
  }

  /// Appends a row whose key was just made.
  private mutating func append(_ row: borrowing CodeRow) {
    keys.append(UInt8(truncatingIfNeeded: key.count))
    keys += key
    let place = body.count
    body.append(0)
    var flags: UInt8 = 0
    let id = row.texts.raw(CodeText.id.rawValue)
    if let number = DigitKey.number(id) {
      flags |= CodeLayout.hasDigitId
      put(number)
    } else if id.byteCount > 0 {
      flags |= CodeLayout.hasTextId
      body.putText(id)
    }
    let code = row.texts.raw(CodeText.code.rawValue)
    if !CodeKey.isFolded(code), !folded.rawSpan.hasSameBytes(as: code) {
      flags |= CodeLayout.hasText
      body.putText(code)
    }
    let quantity = row.quantity.normalized
    if quantity != CodeRow.one {
      if quantity.decimals == 0 {
        flags |= CodeLayout.hasWholeQuantity
      } else {
        flags |= CodeLayout.hasDecimalQuantity
        body.append(UInt8(truncatingIfNeeded: quantity.decimals))
      }
      put(UInt64(clamping: quantity.coefficient))
    }
    flags |= put(row.texts.raw(CodeText.unit.rawValue), CodeLayout.hasUnit)
    flags |= put(row.texts.raw(CodeText.kind.rawValue), CodeLayout.hasKind)
    body[place] = flags
  }

  private mutating func put(_ number: UInt64) {
    var number = number
    while number >= 0x80 {
      body.append(UInt8(truncatingIfNeeded: number) | 0x80)
      number >>= 7
    }
    body.append(UInt8(truncatingIfNeeded: number))
  }

  /// Appends a text that is not empty, and returns its flag.
  private mutating func put(_ text: RawSpan, _ flag: UInt8) -> UInt8 {
    if text.byteCount == 0 { return 0 }
    body.putText(text)
    return flag
  }
}
