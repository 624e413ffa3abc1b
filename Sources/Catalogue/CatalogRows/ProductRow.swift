/// The thirteen texts of a product, in the order of their indices in a row.
public enum ProductText: Int, CaseIterable, Sendable {
  case barcode, brand, brandId, category, createBy, createTime, id, name, orgId, skuCode, unit, updateBy
  case updateTime
}

/// A product row, which a decoder fills and an encoder reads: 13 texts, 12 plain values, and the fields beyond these.
///
/// A decoder reuses one row for a complete payload. A new or reset row contains the defaults of the protocol.
public struct ProductRow: Sendable {
  /// The number of texts of a row: those of ``ProductText``, and ``extraText``.
  public static let textCount = ProductText.allCases.count + 1
  /// The index in ``texts`` of the fields beyond the 25: empty, or a JSON object in the form that `CatalogRows` writes.
  public static let extraText = ProductText.allCases.count

  /// The value of ``givenFields`` for all fields.
  public static let allFields: UInt32 = .max
  /// The bit of ``givenFields`` for the fields beyond the 25.
  public static let extraBit: UInt32 = 1 << 31

  /// The fields that the source says something about, be it that they are empty: a bit for each ``ProductField``, and
  /// ``extraBit``. All of them by default. What merges rows into a catalogue may leave the others as they are.
  public var givenFields = ProductRow.allFields

  /// The texts, indexed by ``ProductText``, and the fields beyond the 25 at ``extraText``; all empty by default.
  public var texts = TextRow(count: textCount)

  /// The server's id of the category; 0 if the payload does not contain it.
  public var categoryId: Int64 = 0
  /// Nonzero if the server deleted this product.
  public var delFlag: Int64 = 0
  /// The number of pieces per package; 1 if the payload does not contain it.
  public var groupNum: Int64 = 1
  /// Whether this is a product of the company's own brand.
  public var isGreeProduct = false
  /// Whether the product is a set of other products.
  public var isGroupedProduct = false
  /// Whether the product is sold.
  public var isSaleProduct = false
  /// Whether the product is used for marketing.
  public var isMarketingProduct = false
  /// The length, in a unit of the company's choice; 0 if the payload does not contain it.
  public var length = 0.0
  /// The height, in a unit of the company's choice; 0 if the payload does not contain it.
  public var tall = 0.0
  /// The volume, in a unit of the company's choice; 0 if the payload does not contain it.
  public var volume = 0.0
  /// The weight, in a unit of the company's choice; 0 if the payload does not contain it.
  public var weight = 0.0
  /// The width, in a unit of the company's choice; 0 if the payload does not contain it.
  public var wide = 0.0

  /// Creates a row with the defaults of the protocol.
  public init() {}

  /// Restores every default and keeps the capacity of the buffers.
  @inlinable
  public mutating func reset() {
    texts.reset()
    givenFields = ProductRow.allFields
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

  /// Takes over all values of another row, and keeps the capacity of the buffers.
  public mutating func copy(_ other: borrowing ProductRow) {
    texts.copy(other.texts)
    givenFields = other.givenFields
    categoryId = other.categoryId
    delFlag = other.delFlag
    groupNum = other.groupNum
    isGreeProduct = other.isGreeProduct
    isGroupedProduct = other.isGroupedProduct
    isSaleProduct = other.isSaleProduct
    isMarketingProduct = other.isMarketingProduct
    length = other.length
    tall = other.tall
    volume = other.volume
    weight = other.weight
    wide = other.wide
  }

  /// Returns the text `field` as a string.
  public subscript(_ field: ProductText) -> String { texts.string(field.rawValue) }
}
