import CatalogRows
import LogStore
import RecordFormat

extension ProductView {
  /// Copies every field, and checks the whole record on the way.
  ///
  /// - Throws: `StoreError.damaged` with the product's id for a record that breaks a rule of FORMAT.md, *The catalogue's
  ///   tables*; if a shared string does not pass its check.
  func checked() throws(StoreError) -> Product {
    if let fault = shapeFault { throw damage(fault) }
    var product = Product()
    product.barcode = try text(barcode, "barcode")
    product.brand = try text(shared(.brand), "brand")
    product.brandId = try text(shared(.brandId), "brandId")
    product.category = try text(shared(.category), "category")
    product.categoryId = categoryId
    product.createBy = try text(shared(.createBy), "createBy")
    product.createTime = try time(ProductLayout.createTime, "createTime")
    product.delFlag = delFlag
    product.groupNum = groupNum
    product.id = try text(id, "id")
    product.isGreeProduct = isGreeProduct
    product.isGroupedProduct = isGroupedProduct
    product.isMarketingProduct = isMarketingProduct
    product.isSaleProduct = isSaleProduct
    product.length = length
    product.name = try text(name, "name")
    product.orgId = try text(shared(.orgId), "orgId")
    product.skuCode = try text(skuCode, "skuCode")
    product.tall = tall
    product.unit = try text(shared(.unit), "unit")
    product.updateBy = try text(shared(.updateBy), "updateBy")
    product.updateTime = try time(ProductLayout.updateTime, "updateTime")
    product.volume = volume
    product.weight = weight
    product.wide = wide
    return product
  }

  /// What `verify` checks beyond ``checked()``: that the product is found by its barcode.
  func checkKeys() throws(StoreError) {
    let key = record.key(1)
    let isOwnKey = flags & ProductLayout.hasBarcode == 0
    if !CodeKey.of(barcode).rawSpan.hasSameBytes(as: key) { throw damage("the key of its barcode is another one") }
    if !isOwnKey, barcode.hasSameBytes(as: key) { throw damage("its barcode stands in the body though it is the key") }
  }

  /// What is wrong with the body's flags and lengths; `nil` if nothing is.
  private var shapeFault: String? {
    let body = record.body
    let flags = flags
    if body.byteCount < 4 { return "its body has \(body.byteCount) bytes" }
    if flags >> 31 != 0 { return "bit 31 of its flags is set" }
    for (shift, field) in ProductLayout.forms where ProductLayout.form(flags, shift) == 3 {
      return "its \(field) has form 3"
    }
    let texts = (flags >> ProductLayout.firstShared & 0x7F).nonzeroBitCount
    if texts != record.sharedCount {
      return "its flags say \(texts) shared strings, and it has \(record.sharedCount)"
    }
    for index in 0..<texts where record.sharedUnit(index) == nil { return "its shared string \(index) names no text" }
    if textsEnd(ProductLayout.textCount(flags), flags, in: body) > body.byteCount {
      return "its body ends inside a field"
    }
    if flags & ProductLayout.hasDelFlag != 0, delFlag == 0 { return "its delFlag is 0 where its flags say otherwise" }
    return nil
  }

  private func time(_ shift: UInt32, _ field: String) throws(StoreError) -> String {
    switch ProductLayout.form(flags, shift) {
    case ProductLayout.Form.short:
      guard let bits = packedTime(shift), PackedTime.isValid(bits) else { throw damage("its \(field) is no time") }
      return PackedTime.text(bits)
    case ProductLayout.Form.long: return try text(text(ProductLayout.textIndex(flags, shift)), field)
    default: return ""
    }
  }

  private func text(_ bytes: RawSpan, _ field: String) throws(StoreError) -> String {
    guard let text = bytes.validString else { throw damage("its \(field) is not UTF-8") }
    return text
  }

  private func damage(_ what: String) -> StoreError {
    record.damage("product \(id.validString ?? "with an id that is not UTF-8"): \(what)")
  }
}

extension RelationView {
  /// Copies every field, and checks the whole record on the way.
  ///
  /// - Throws: `StoreError.damaged` with the relation's id for a record that breaks a rule of FORMAT.md, *The catalogue's
  ///   tables*; if the shared string does not pass its check.
  func checked() throws(StoreError) -> Relation {
    if record.body.byteCount < 8 { throw damage("its body has \(record.body.byteCount) bytes") }
    if record.sharedCount > 1 { throw damage("it has \(record.sharedCount) shared strings") }
    if record.sharedCount == 1, record.sharedUnit(0) == nil { throw damage("its shared string names no text") }
    var relation = Relation()
    relation.groupNum = groupNum
    relation.id = try text(id, "id")
    relation.orgId = try text(record.shared(0), "orgId")
    relation.productId = try text(productId, "productId")
    relation.subProductId = try text(subProductId, "subProductId")
    return relation
  }

  private func text(_ bytes: RawSpan, _ field: String) throws(StoreError) -> String {
    guard let text = bytes.validString else { throw damage("its \(field) is not UTF-8") }
    return text
  }

  private func damage(_ what: String) -> StoreError {
    record.damage("relation \(id.validString ?? "with an id that is not UTF-8"): \(what)")
  }
}
