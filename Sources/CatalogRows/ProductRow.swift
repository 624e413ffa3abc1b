/// The thirteen texts of a product, in the order of their indices in a row.
public enum ProductText: Int, CaseIterable, Sendable {
  case barcode, brand, brandId, category, createBy, createTime, id, name, orgId, skuCode, unit, updateBy
  case updateTime
}

/// A product row, which a decoder fills and an encoder reads: 13 texts and 12 plain values.
///
/// A decoder reuses one row for a complete payload. A new or reset row contains the defaults of the protocol.
public struct ProductRow: Sendable {
  /// The texts, indexed by ``ProductText``; all empty by default.
  public var texts = TextRow(count: ProductText.allCases.count)

  public var categoryId: Int64 = 0
  /// Nonzero if the server deleted this product.
  public var delFlag: Int64 = 0
  /// The number of pieces per package; 1 if the payload does not contain it.
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

  /// Restores every default and keeps the capacity of the buffers.
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

  /// Returns the text `field` as a string.
  public subscript(_ field: ProductText) -> String { texts.string(field.rawValue) }
}
