import Bytes
public import CatalogRows
public import LogStore

/// A product with all 25 fields as plain values, named as the server names them, and the fields beyond these.
public struct Product: Hashable, Sendable, Identifiable {
  /// The text that a scan is compared with: a GTIN, a model code or any text. May be empty, and several products may
  /// share one.
  public var barcode = ""
  /// The brand's name; may be empty.
  public var brand = ""
  /// The server's id of the brand; may be empty.
  public var brandId = ""
  /// The category's name; may be empty.
  public var category = ""
  /// The server's id of the category; 0 if the server sent none.
  public var categoryId: Int64 = 0
  /// The name of the person or program that created the row at the server; may be empty.
  public var createBy = ""
  /// When the row was created, as the server wrote it, usually `yyyy-MM-dd HH:mm:ss`; may be empty.
  public var createTime = ""
  /// Nonzero if the server sent this product as deleted in a full update. Such a product never matches a scan.
  public var delFlag: Int64 = 0
  /// The number of pieces per package.
  public var groupNum: Int64 = 1
  /// The id, unique in the catalogue and compared byte by byte. Empty for a product that the server sent without an id.
  public var id = ""
  /// Whether this is a product of the company's own brand.
  public var isGreeProduct = false
  /// Whether the product is a set of other products, its components. See ``CatalogSnapshot/components(of:)``.
  public var isGroupedProduct = false
  /// Whether the product is used for marketing.
  public var isMarketingProduct = false
  /// Whether the product is sold.
  public var isSaleProduct = false
  /// The length, in a unit of the company's choice; 0 if the server sent none.
  public var length = 0.0
  /// The name for people; may be empty.
  public var name = ""
  /// The id of the organisation that the row belongs to; may be empty.
  public var orgId = ""
  /// The stock-keeping code; may be empty. Scans are not compared with it.
  public var skuCode = ""
  /// The height, in a unit of the company's choice; 0 if the server sent none.
  public var tall = 0.0
  /// The unit in which the product is sold, such as `pcs`; may be empty.
  public var unit = ""
  /// The name of the person or program that last changed the row at the server; may be empty.
  public var updateBy = ""
  /// When the row was last changed, as the server wrote it; may be empty. Updates do not depend on it.
  public var updateTime = ""
  /// The volume, in a unit of the company's choice; 0 if the server sent none.
  public var volume = 0.0
  /// The weight, in a unit of the company's choice; 0 if the server sent none.
  public var weight = 0.0
  /// The width, in a unit of the company's choice; 0 if the server sent none.
  public var wide = 0.0
  /// The fields beyond the 25, such as those of a person's own file; empty for most products.
  public var extra = ProductExtra()

  /// Creates a product whose fields have the protocol's defaults: empty, 0 or `false`, and 1 for ``groupNum``.
  public init() {}

  /// Copies every field of a view and checks the record.
  ///
  /// - Throws: `StoreError.damaged` if the record breaks a rule of the format, for example with a text that is not
  ///   UTF-8, or if a shared string fails its check. The message names the product.
  public init(_ view: borrowing ProductView) throws(StoreError) {
    try view.checkShape()
    barcode = try view.checked(view.utf8.barcode, "barcode")
    brand = try view.checked(view.utf8.shared(.brand), "brand")
    brandId = try view.checked(view.utf8.shared(.brandId), "brandId")
    category = try view.checked(view.utf8.shared(.category), "category")
    categoryId = view.categoryId
    createBy = try view.checked(view.utf8.shared(.createBy), "createBy")
    createTime = try view.checkedTime(ProductLayout.createTime, "createTime")
    delFlag = view.delFlag
    groupNum = view.groupNum
    id = try view.checked(view.utf8.id, "id")
    isGreeProduct = view.isGreeProduct
    isGroupedProduct = view.isGroupedProduct
    isMarketingProduct = view.isMarketingProduct
    isSaleProduct = view.isSaleProduct
    length = view.length
    name = try view.checked(view.utf8.name, "name")
    orgId = try view.checked(view.utf8.shared(.orgId), "orgId")
    skuCode = try view.checked(view.utf8.skuCode, "skuCode")
    tall = view.tall
    unit = try view.checked(view.utf8.shared(.unit), "unit")
    updateBy = try view.checked(view.utf8.shared(.updateBy), "updateBy")
    updateTime = try view.checkedTime(ProductLayout.updateTime, "updateTime")
    volume = view.volume
    weight = view.weight
    wide = view.wide
    extra = try view.checkedExtra()
  }

  /// Copies every field of a decoded row.
  public init(_ row: borrowing ProductRow) {
    barcode = row[.barcode]
    brand = row[.brand]
    brandId = row[.brandId]
    category = row[.category]
    categoryId = row.categoryId
    createBy = row[.createBy]
    createTime = row[.createTime]
    delFlag = row.delFlag
    groupNum = row.groupNum
    id = row[.id]
    isGreeProduct = row.isGreeProduct
    isGroupedProduct = row.isGroupedProduct
    isMarketingProduct = row.isMarketingProduct
    isSaleProduct = row.isSaleProduct
    length = row.length
    name = row[.name]
    orgId = row[.orgId]
    skuCode = row[.skuCode]
    tall = row.tall
    unit = row[.unit]
    updateBy = row[.updateBy]
    updateTime = row[.updateTime]
    volume = row.volume
    weight = row.weight
    wide = row.wide
    extra = ProductExtra(canonical: Array(row.texts.bytes[row.texts.range(ProductRow.extraText)]))
  }

  /// Copies every field into a row, which JSON and store writers accept.
  public func fill(_ row: inout ProductRow) {
    row.reset()
    row.texts.set(ProductText.barcode.rawValue, barcode)
    row.texts.set(ProductText.brand.rawValue, brand)
    row.texts.set(ProductText.brandId.rawValue, brandId)
    row.texts.set(ProductText.category.rawValue, category)
    row.texts.set(ProductText.createBy.rawValue, createBy)
    row.texts.set(ProductText.createTime.rawValue, createTime)
    row.texts.set(ProductText.id.rawValue, id)
    row.texts.set(ProductText.name.rawValue, name)
    row.texts.set(ProductText.orgId.rawValue, orgId)
    row.texts.set(ProductText.skuCode.rawValue, skuCode)
    row.texts.set(ProductText.unit.rawValue, unit)
    row.texts.set(ProductText.updateBy.rawValue, updateBy)
    row.texts.set(ProductText.updateTime.rawValue, updateTime)
    if !extra.isEmpty { row.texts.set(ProductRow.extraText, extra.bytes.span) }
    row.categoryId = categoryId
    row.delFlag = delFlag
    row.groupNum = groupNum
    row.isGreeProduct = isGreeProduct
    row.isGroupedProduct = isGroupedProduct
    row.isMarketingProduct = isMarketingProduct
    row.isSaleProduct = isSaleProduct
    row.length = length
    row.tall = tall
    row.volume = volume
    row.weight = weight
    row.wide = wide
  }
}
