import Bytes
import CatalogRows
import LogStore

extension ProductRow {
  /// Takes the fields that the source says nothing about from a product; of those beyond the 25, each that the row lacks,
  /// unless the row has an `extra` of its own.
  ///
  /// - Throws: `StoreError.damaged`; `.tooLarge` if there are too many fields beyond the 25 together.
  mutating func fill(from product: borrowing ProductView) throws(StoreError) {
    for field in ProductField.allCases where givenFields & 1 << UInt32(field.rawValue) == 0 {
      switch field {
      case .createTime: texts.set(ProductText.createTime.rawValue, product.createTime)
      case .updateTime: texts.set(ProductText.updateTime.rawValue, product.updateTime)
      case .categoryId: categoryId = product.categoryId
      case .delFlag: delFlag = product.delFlag
      case .groupNum: groupNum = product.groupNum
      case .isGreeProduct: isGreeProduct = product.isGreeProduct
      case .isGroupedProduct: isGroupedProduct = product.isGroupedProduct
      case .isMarketingProduct: isMarketingProduct = product.isMarketingProduct
      case .isSaleProduct: isSaleProduct = product.isSaleProduct
      case .length: length = product.length
      case .tall: tall = product.tall
      case .volume: volume = product.volume
      case .weight: weight = product.weight
      case .wide: wide = product.wide
      case .id, .barcode, .name, .skuCode, .brand, .brandId, .category, .createBy, .orgId, .unit, .updateBy:
        guard let text = field.text else { continue }
        let bytes: RawSpan =
          switch text {
          case .id: product.utf8.id
          case .barcode: product.utf8.barcode
          case .name: product.utf8.name
          case .skuCode: product.utf8.skuCode
          default: try product.utf8.shared(text)
          }
        texts.set(text.rawValue, bytes.copied().span)
      }
    }
    if givenFields & Self.extraBit == 0, product.utf8.extra.byteCount > 0 {
      try addExtra(of: product.utf8.extra.copied())
    }
    givenFields = Self.allFields
  }

  /// Adds the members of a product's `extra` that the row lacks.
  private mutating func addExtra(of product: [UInt8]) throws(StoreError) {
    var json: [UInt8] = []
    texts.withText(Self.extraText) { json.append(copying: $0) }
    guard !json.isEmpty, var members = ExtraMembers(json: json.span), let former = ExtraMembers(json: product.span)
    else { return texts.set(Self.extraText, product.span) }
    members.addMissing(former)
    json.removeAll(keepingCapacity: true)
    do throws(ExtraProblem) { try members.append(to: &json) } catch {
      throw .tooLarge(
        what: "the extra of the product \(self[.id]), with the fields that it had before,",
        byteCount: json.count + product.count, limit: ExtraLimits.byteCount)
    }
    texts.set(Self.extraText, json.span)
  }
}
