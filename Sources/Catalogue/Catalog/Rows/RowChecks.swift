import Bytes
import CatalogRows
import LogStore

extension ProductView {
  /// Checks that flags, lengths and counts agree, which no single field shows.
  ///
  /// - Throws: `StoreError.damaged` with the product's id.
  func checkShape() throws(StoreError) { if let fault = shapeFault { throw damage(fault) } }

  /// Checks the keys, which `verify` does in addition to ``Product/init(_:)``: the product must be found by its
  /// barcode.
  func checkKeys() throws(StoreError) {
    let key = record.key(1)
    let isOwnKey = flags & ProductLayout.hasBarcode == 0
    if !CodeKey.of(utf8.barcode).rawSpan.hasSameBytes(as: key) { throw damage("the key of its barcode is another one") }
    if !isOwnKey, utf8.barcode.hasSameBytes(as: key) { throw damage("its body repeats its barcode, which is its key") }
  }

  /// A description of what is wrong with the body's flags and lengths; `nil` if they are valid.
  private var shapeFault: String? {
    let body = record.body
    let flags = flags
    if body.byteCount < 4 { return "its body has \(body.byteCount) bytes" }
    if ProductLayout.hasUnknownForm(flags) {
      for (shift, field) in ProductLayout.forms where ProductLayout.form(flags, shift) == 3 {
        return "its \(field) has form 3"
      }
    }
    let texts = (flags >> ProductLayout.firstShared & 0x7F).nonzeroBitCount
    if texts != record.sharedCount {
      return "its flags say \(texts) shared strings, and it has \(record.sharedCount)"
    }
    for index in 0..<texts where !record.hasShared(index) { return "its shared string \(index) names no text" }
    if textsEnd(ProductLayout.textCount(flags), flags, in: body) > body.byteCount {
      return "its body ends inside a field"
    }
    if flags & ProductLayout.hasExtra != 0, utf8.extra.byteCount == 0 {
      return "its extra is empty where its flags say otherwise"
    }
    if flags & ProductLayout.hasDelFlag != 0, delFlag == 0 { return "its delFlag is 0 where its flags say otherwise" }
    return nil
  }

  /// Copies every field into a row, with the checks of ``Product/init(_:)`` in the same order, and keeps the capacity
  /// of the row's buffers.
  ///
  /// - Throws: `StoreError.damaged`, as ``Product/init(_:)`` does. The row then has only some of the fields.
  func copy(to row: inout ProductRow) throws(StoreError) {
    try checkShape()
    row.reset()
    // The order of the cases is that of the checks.
    for field in ProductText.allCases {
      if let shift = ProductLayout.timeShift(field), ProductLayout.form(flags, shift) == ProductLayout.Form.short {
        guard let bits = packedTime(shift), PackedTime.isValid(bits) else { throw damage("its \(field) is no time") }
        row.texts.set(field.rawValue) { PackedTime.append(bits, to: &$0) }
        continue
      }
      let text = try storedText(of: field)
      guard text.isUTF8 else { throw damage("its \(field) is not UTF-8") }
      row.texts.set(field.rawValue, text)
    }
    let extra = try checkedExtra()
    if !extra.isEmpty { row.texts.set(ProductRow.extraText, extra.bytes.span) }
    row.flags = flags & ProductLayout.rowFlags
    for slot in row.integers.indices { row.integers[slot] = integer(slot) }
    for slot in row.doubles.indices { row.doubles[slot] = double(UInt32(slot)) }
  }

  /// Returns a time as the server wrote it.
  ///
  /// - Throws: `StoreError.damaged` if the packed bits are not a time or the text is not UTF-8.
  func checkedTime(_ shift: UInt32, _ field: StaticString) throws(StoreError) -> String {
    switch ProductLayout.form(flags, shift) {
    case ProductLayout.Form.short:
      guard let bits = packedTime(shift), PackedTime.isValid(bits) else { throw damage("its \(field) is no time") }
      return PackedTime.text(bits)
    case ProductLayout.Form.long: return try checked(text(ProductLayout.textIndex(flags, shift)), field)
    default: return ""
    }
  }

  /// Returns the fields beyond the 25.
  ///
  /// - Throws: `StoreError.damaged` if they are not a JSON object in the form that products store.
  func checkedExtra() throws(StoreError) -> ProductExtra {
    let bytes = utf8.extra
    if bytes.byteCount == 0 { return ProductExtra() }
    let json = bytes.copied()
    guard ExtraMembers.isCanonical(json.span) else {
      throw damage("its extra is no JSON object of the form that is stored")
    }
    return ProductExtra(canonical: json)
  }

  /// Returns a text of the product.
  ///
  /// - Throws: `StoreError.damaged` if it is not UTF-8.
  func checked(_ bytes: RawSpan, _ field: StaticString) throws(StoreError) -> String {
    guard let text = bytes.validString else { throw damage("its \(field) is not UTF-8") }
    return text
  }

  private func damage(_ what: String) -> StoreError {
    record.damage("product \(utf8.id.validString ?? "with an id that is not UTF-8"): \(what)")
  }
}

extension RelationView {
  /// Checks the length of the body and the shared string, which no single field shows.
  ///
  /// - Throws: `StoreError.damaged` with the relation's id.
  func checkShape() throws(StoreError) {
    if record.body.byteCount < 8 { throw damage("its body has \(record.body.byteCount) bytes") }
    if record.sharedCount > 1 { throw damage("it has \(record.sharedCount) shared strings") }
    if record.sharedCount == 1, !record.hasShared(0) { throw damage("its shared string names no text") }
  }

  /// Returns a text of the relation.
  ///
  /// - Throws: `StoreError.damaged` if it is not UTF-8.
  func checked(_ bytes: RawSpan, _ field: StaticString) throws(StoreError) -> String {
    guard let text = bytes.validString else { throw damage("its \(field) is not UTF-8") }
    return text
  }

  private func damage(_ what: String) -> StoreError {
    record.damage("relation \(id.validString ?? "with an id that is not UTF-8"): \(what)")
  }
}
