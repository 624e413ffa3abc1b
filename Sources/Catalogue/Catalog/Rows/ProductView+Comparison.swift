import Bytes
import CatalogRows
import LogStore

extension ProductView {
  /// Whether all 25 fields and `extra` are those of a row.
  ///
  /// - Throws: `StoreError.damaged`.
  func hasSameContent(as row: borrowing ProductRow) throws(StoreError) -> Bool {
    guard hasSameNumbers(as: row) else { return false }
    func isText(_ text: ProductText, _ own: RawSpan) -> Bool { own.hasSameBytes(as: row.texts.raw(text.rawValue)) }
    guard isText(.id, utf8.id), isText(.barcode, utf8.barcode), isText(.name, utf8.name),
      isText(.skuCode, utf8.skuCode),
      isTime(row.texts.raw(ProductText.createTime.rawValue), ProductLayout.createTime),
      isTime(row.texts.raw(ProductText.updateTime.rawValue), ProductLayout.updateTime),
      utf8.extra.hasSameBytes(as: row.texts.raw(ProductRow.extraText))
    else { return false }
    for text in ProductLayout.sharedTexts {
      if try !isText(text, utf8.shared(text)) { return false }
    }
    return true
  }

  private func hasSameNumbers(as row: borrowing ProductRow) -> Bool {
    // Numbers are compared by their bits, as they are written.
    categoryId == row.categoryId && delFlag == row.delFlag && groupNum == row.groupNum
      && length.bitPattern == row.length.bitPattern && tall.bitPattern == row.tall.bitPattern
      && volume.bitPattern == row.volume.bitPattern && weight.bitPattern == row.weight.bitPattern
      && wide.bitPattern == row.wide.bitPattern && isGreeProduct == row.isGreeProduct
      && isGroupedProduct == row.isGroupedProduct && isMarketingProduct == row.isMarketingProduct
      && isSaleProduct == row.isSaleProduct
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
    if !body.hasSameBytes(as: other.body), !hasSameBodyFields(as: other) { return false }
    for field in ProductLayout.sharedTexts {
      if try !utf8.shared(field).hasSameBytes(as: other.utf8.shared(field)) { return false }
    }
    return true
  }

  /// Whether the fields in the body, but the barcode, are those of another product: they may have another form.
  private func hasSameBodyFields(as other: borrowing ProductView) -> Bool {
    // Numbers are compared by their bits, as they are written.
    hasSameTime(as: other, ProductLayout.updateTime) && hasSameTime(as: other, ProductLayout.createTime)
      && utf8.name.hasSameBytes(as: other.utf8.name) && utf8.skuCode.hasSameBytes(as: other.utf8.skuCode)
      && utf8.extra.hasSameBytes(as: other.utf8.extra)
      && categoryId == other.categoryId && delFlag == other.delFlag && groupNum == other.groupNum
      && length.bitPattern == other.length.bitPattern && tall.bitPattern == other.tall.bitPattern
      && volume.bitPattern == other.volume.bitPattern && weight.bitPattern == other.weight.bitPattern
      && wide.bitPattern == other.wide.bitPattern && isGreeProduct == other.isGreeProduct
      && isGroupedProduct == other.isGroupedProduct && isMarketingProduct == other.isMarketingProduct
      && isSaleProduct == other.isSaleProduct
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
