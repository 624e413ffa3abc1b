/// The 25 fields of a product, in the order in which the server writes them: the table that readers, writers,
/// comparisons and queries go through.
///
/// Fields of one kind follow each other, in the order of their slots in a row: a field is added at the end of its kind.
public enum ProductField: Int, CaseIterable, Sendable {
  // Texts; ``ProductText`` has the same cases.
  case barcode, brand, brandId, category, createBy, createTime, id, name, orgId, skuCode, unit, updateBy
  case updateTime
  // Integers.
  case categoryId, delFlag, groupNum
  // Flags.
  case isGreeProduct, isGroupedProduct, isSaleProduct, isMarketingProduct
  // Doubles.
  case length, tall, volume, weight, wide

  /// The place of a field's value in a ``ProductRow``: its kind, and its number among the fields of that kind.
  public enum Slot: Sendable, Equatable {
    case text(Int), integer(Int), flag(Int), double(Int)
  }

  /// The place of the field's value in a ``ProductRow``.
  @inlinable
  public var slot: Slot {
    if rawValue < Self.categoryId.rawValue { return .text(rawValue) }
    if rawValue < Self.isGreeProduct.rawValue { return .integer(rawValue - Self.categoryId.rawValue) }
    if rawValue < Self.length.rawValue { return .flag(rawValue - Self.isGreeProduct.rawValue) }
    return .double(rawValue - Self.length.rawValue)
  }

  /// The key in the payload.
  public var key: String { String(describing: self) }

  /// The text that this field is, or nil for a number or Boolean.
  public var text: ProductText? { ProductText(rawValue: rawValue) }

  /// The field that is this text.
  package init(_ text: ProductText) { self = Self.allCases[text.rawValue] }
}

/// The five fields of a relation, in the order in which the server writes them.
public enum RelationField: Int, CaseIterable, Sendable {
  case id, orgId, productId, subProductId, groupNum

  /// The key in the payload.
  public var key: String { String(describing: self) }

  /// The text that this field is, or nil for the number.
  public var text: RelationText? { RelationText(rawValue: rawValue) }
}
