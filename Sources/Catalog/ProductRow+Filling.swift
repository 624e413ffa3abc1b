import Bytes
import CatalogRows
import LogStore

extension ProductRow {
  /// Takes the fields that the source says nothing about from a product.
  ///
  /// - Throws: `StoreError.damaged`.
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
      texts.set(Self.extraText, product.utf8.extra.copied().span)
    }
    givenFields = Self.allFields
  }
}
