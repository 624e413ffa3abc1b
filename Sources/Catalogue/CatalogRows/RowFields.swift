/// The 25 fields of a product, in the order in which the server writes them; the texts come first.
public enum ProductField: Int, CaseIterable, Sendable {
  case barcode, brand, brandId, category, createBy, createTime, id, name, orgId, skuCode, unit, updateBy
  case updateTime
  case categoryId, delFlag, groupNum
  case isGreeProduct, isGroupedProduct, isSaleProduct, isMarketingProduct
  case length, tall, volume, weight, wide

  /// The key in the payload.
  public var key: String { String(describing: self) }

  /// The text that this field is, or nil for a number or Boolean.
  public var text: ProductText? { ProductText(rawValue: rawValue) }
}

/// The five fields of a relation, in the order in which the server writes them.
public enum RelationField: Int, CaseIterable, Sendable {
  case id, orgId, productId, subProductId, groupNum

  /// The key in the payload.
  public var key: String { String(describing: self) }

  /// The text that this field is, or nil for the number.
  public var text: RelationText? { RelationText(rawValue: rawValue) }
}
