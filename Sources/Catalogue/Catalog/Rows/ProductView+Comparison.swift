import Bytes
import CatalogRows
import LogStore

extension ProductView {
  /// Whether all 25 fields and `extra` are those of a row.
  ///
  /// - Throws: `StoreError.damaged`.
  func hasSameContent(as row: borrowing ProductRow) throws(StoreError) -> Bool {
    // Numbers are compared by their bits, as they are written.
    if flags & ProductLayout.rowFlags != row.flags { return false }
    for slot in row.integers.indices where integer(slot) != row.integers[slot] { return false }
    for slot in row.doubles.indices where double(UInt32(slot)).bitPattern != row.doubles[slot].bitPattern {
      return false
    }
    for field in ProductLayout.ownTexts {
      let text = row.texts.raw(field.rawValue)
      if let shift = ProductLayout.timeShift(field) {
        if !isTime(text, shift) { return false }
      } else if try !self.text(of: field).hasSameBytes(as: text) {
        return false
      }
    }
    if !utf8.extra.hasSameBytes(as: row.texts.raw(ProductRow.extraText)) { return false }
    for field in ProductLayout.sharedTexts {
      if try !utf8.shared(field).hasSameBytes(as: row.texts.raw(field.rawValue)) { return false }
    }
    return true
  }

  /// Whether `createTime` or `updateTime` is this text.
  private func isTime(_ time: RawSpan, _ shift: UInt32) -> Bool {
    switch ProductLayout.form(flags, shift) {
    case ProductLayout.Form.short: packedTime(shift).map { PackedTime.pack(time) == $0 } ?? (time.byteCount == 0)
    case ProductLayout.Form.long: text(ProductLayout.textIndex(flags, shift)).hasSameBytes(as: time)
    default: time.byteCount == 0
    }
  }

  /// Whether all 25 fields and `extra` are those of another product, which may belong to another file.
  ///
  /// - Throws: `StoreError.damaged`.
  func hasSameContent(as other: borrowing ProductView) throws(StoreError) -> Bool {
    guard utf8.id.hasSameBytes(as: other.utf8.id), utf8.barcode.hasSameBytes(as: other.utf8.barcode) else {
      return false
    }
    // Almost all products that are equal are equal byte by byte. The body has all fields but the ones above and below.
    if !body.hasSameBytes(as: other.body), try !hasSameBodyFields(as: other) { return false }
    for field in ProductLayout.sharedTexts {
      if try !utf8.shared(field).hasSameBytes(as: other.utf8.shared(field)) { return false }
    }
    return true
  }

  /// Whether the fields in the body, but the barcode, are those of another product: they may have another form.
  private func hasSameBodyFields(as other: borrowing ProductView) throws(StoreError) -> Bool {
    // Numbers are compared by their bits, as they are written.
    if (flags ^ other.flags) & ProductLayout.rowFlags != 0 { return false }
    for field in ProductField.allCases {
      switch field.slot {
      case .integer(let slot): if integer(slot) != other.integer(slot) { return false }
      case .double(let slot):
        if double(UInt32(slot)).bitPattern != other.double(UInt32(slot)).bitPattern { return false }
      case .text, .flag: continue
      }
    }
    for field in ProductLayout.ownTexts {
      if let shift = ProductLayout.timeShift(field) {
        if !hasSameTime(as: other, shift) { return false }
      } else if try !text(of: field).hasSameBytes(as: other.text(of: field)) {
        return false
      }
    }
    return utf8.extra.hasSameBytes(as: other.utf8.extra)
  }

  /// Whether `createTime` or `updateTime` is that of another product.
  private func hasSameTime(as other: borrowing ProductView, _ shift: UInt32) -> Bool {
    let form = ProductLayout.form(flags, shift)
    if form == ProductLayout.Form.short, form == ProductLayout.form(other.flags, shift) {
      return packedTime(shift) == other.packedTime(shift)
    }
    let isCreateTime = shift == ProductLayout.createTime
    let (own, time) = isCreateTime ? (createTime, other.createTime) : (updateTime, other.updateTime)
    return own.utf8.elementsEqual(time.utf8)
  }
}
