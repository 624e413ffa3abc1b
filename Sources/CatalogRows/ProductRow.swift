/// The thirteen texts of a product, in the order in which a row numbers them.
public enum ProductText: Int, CaseIterable, Sendable {
  case barcode, brand, brandId, category, createBy, createTime, id, name, orgId, skuCode, unit, updateBy
  case updateTime
}

/// One product as a decoder hands it over and an encoder takes it: 13 texts and 12 plain values.
///
/// A decoder reuses one row for a whole payload. A fresh or reset row holds the defaults of the protocol.
public struct ProductRow: Sendable {
  /// Texts by ``ProductText``; all empty by default.
  public var texts = TextRow(count: ProductText.allCases.count)

  public var categoryId: Int64 = 0
  /// Not zero: the server deleted this product.
  public var delFlag: Int64 = 0
  /// Pieces per package; 1 where the payload says nothing.
  public var groupNum: Int64 = 1
  public var isGreeProduct = false
  public var isGroupedProduct = false
  public var isSaleProduct = false
  public var isMarketingProduct = false
  public var length = 0.0
  public var tall = 0.0
  public var volume = 0.0
  public var weight = 0.0
  public var wide = 0.0

  public init() {}

  /// Puts back every default and keeps the buffers.
  @inlinable
  public mutating func reset() {
    texts.reset()
    categoryId = 0
    delFlag = 0
    groupNum = 1
    isGreeProduct = false
    isGroupedProduct = false
    isSaleProduct = false
    isMarketingProduct = false
    length = 0
    tall = 0
    volume = 0
    weight = 0
    wide = 0
  }

  /// The text `field` as a string.
  public subscript(_ field: ProductText) -> String { texts.string(field.rawValue) }
}
