import Bytes
import SearchText

/// The texts of a product from which the keys of its indexes are derived.
struct IndexedTexts: ~Escapable {
  let id: RawSpan
  let name: RawSpan
  let brand: RawSpan
  let category: RawSpan
  let skuCode: RawSpan
  /// The key under which the barcode is found.
  let code: RawSpan
  let updateTime: RawSpan
  /// The fields beyond the 25 as a JSON object; empty if there are none.
  let extra: RawSpan

  @_lifetime(
    copy id, copy name, copy brand, copy category, copy skuCode, copy code, copy updateTime, copy extra)
  init(
    id: RawSpan, name: RawSpan, brand: RawSpan, category: RawSpan, skuCode: RawSpan, code: RawSpan, updateTime: RawSpan,
    extra: RawSpan
  ) {
    self.id = id
    self.name = name
    self.brand = brand
    self.category = category
    self.skuCode = skuCode
    self.code = code
    self.updateTime = updateTime
    self.extra = extra
  }
}

/// Derives the keys of a product in its ordered indexes. It is kept for many products, for its buffers.
///
/// `Documentation/Format/Catalogue.md` specifies the keys.
struct ProductIndexKeys {
  private var folder = TextFolder()
  private var other = TextFolder()
  private var key = IndexKeyBuffer()
  private var terms = SearchTermWriter()
  private var made: [UInt8] = []
  private var scratch: [UInt8] = []

  /// Calls `receive` with each key of a product in one index.
  mutating func forEachKey(of index: ProductIndex, _ texts: borrowing IndexedTexts, _ receive: (RawSpan) -> Void) {
    switch index {
    case .search: receiveTerms(texts, receive)
    case .searchWith(let names):
      receiveTerms(texts, receive)
      if texts.extra.byteCount == 0 { return }
      for name in names { addWords(of: ExtraField(name, .text), texts.extra, receive) }
    case .extra(let field):
      made.removeAll(keepingCapacity: true)
      field.appendSortKey(of: texts.extra, to: &made, &scratch)
      receive(made.rawSpan)
    case .code(let field): receiveCodes(of: field, texts.extra, receive)
    case .barcodeParts, .order(.barcode): receiveCode(texts.code, receive)
    case .sku: receiveSKU(texts.skuCode, receive)
    case .order(.id): receive(texts.id)
    case .order(.name): receiveFolded(texts.name, receive)
    case .order(.category): receiveFolded(texts.category, receive)
    case .order(.brand): receiveFolded(texts.brand, receive)
    case .order(.updateTime): receive(texts.updateTime)
    }
  }

  private mutating func receiveTerms(_ texts: borrowing IndexedTexts, _ receive: (RawSpan) -> Void) {
    folder.fold(texts.name)
    terms.begin(nameByteCount: folder.bytes.byteCount)
    terms.addName(folder, receive)
    addOther(texts.brand, receive)
    addOther(texts.skuCode, receive)
  }

  /// Calls `receive` with the terms of a field of one's own.
  private mutating func addWords(of field: ExtraField, _ extra: RawSpan, _ receive: (RawSpan) -> Void) {
    var scratch: [UInt8] = []
    swap(&scratch, &self.scratch)
    field.forEachText(of: extra, &scratch) { addOther($0, receive) }
    self.scratch = scratch
  }

  /// Calls `receive` with the key of each code that a field of one's own contains. A code is compared like a barcode.
  private mutating func receiveCodes(of field: ExtraField, _ extra: RawSpan, _ receive: (RawSpan) -> Void) {
    if extra.byteCount == 0 { return }
    var folded: [UInt8] = []
    var key: [UInt8] = []
    field.forEachText(of: extra, &scratch) { text in
      CodeKey.fold(text, into: &folded)
      if folded.isEmpty { return }
      DigitKey.make(of: folded.rawSpan, into: &key)
      receive(key.rawSpan)
    }
  }

  /// Calls `receive` with the terms of another text than the name.
  private mutating func addOther(_ text: RawSpan, _ receive: (RawSpan) -> Void) {
    if text.byteCount == 0 { return }
    other.fold(text)
    terms.addOther(other, after: folder, receive)
  }

  private mutating func receiveCode(_ code: RawSpan, _ receive: (RawSpan) -> Void) {
    key.removeAll()
    key.append(SearchTerm.code)
    key.append(code)
    receive(key.rawSpan)
  }

  /// Calls `receive` with the key of an SKU, unless it is empty. An SKU is compared like a barcode.
  private mutating func receiveSKU(_ skuCode: RawSpan, _ receive: (RawSpan) -> Void) {
    if skuCode.byteCount == 0 { return }
    SKUKey.make(of: skuCode, into: &made)
    if !made.isEmpty { receive(made.rawSpan) }
  }

  /// Replaces `key` by the tokens of a folded text, with blanks between them.
  private static func join(_ text: borrowing TextFolder, _ key: inout IndexKeyBuffer) {
    key.removeAll()
    for token in text.tokens {
      if !key.isEmpty { key.append(0x20) }
      key.append(text.bytes(of: token))
    }
  }

  /// Calls `receive` with the tokens of a text, with blanks between them.
  private mutating func receiveFolded(_ text: RawSpan, _ receive: (RawSpan) -> Void) {
    folder.fold(text)
    Self.join(folder, &key)
    receive(key.rawSpan)
  }
}
