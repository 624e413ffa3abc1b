#if PEER_GRDB
import Catalog
import GRDB

/// A product as a Swift program would declare it for GRDB.
struct GRDBProduct: Codable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "product"

  var barcode, brand, brandId, category: String
  var categoryId: Int64
  var createBy, createTime: String
  var delFlag, groupNum: Int64
  var id: String
  var isGreeProduct, isGroupedProduct, isMarketingProduct, isSaleProduct: Bool
  var length: Double
  var name, orgId, skuCode: String
  var tall: Double
  var unit, updateBy, updateTime: String
  var volume, weight, wide: Double

  init(_ product: Product) {
    barcode = product.barcode
    brand = product.brand
    brandId = product.brandId
    category = product.category
    categoryId = product.categoryId
    createBy = product.createBy
    createTime = product.createTime
    delFlag = product.delFlag
    groupNum = product.groupNum
    id = product.id
    isGreeProduct = product.isGreeProduct
    isGroupedProduct = product.isGroupedProduct
    isMarketingProduct = product.isMarketingProduct
    isSaleProduct = product.isSaleProduct
    length = product.length
    name = product.name
    orgId = product.orgId
    skuCode = product.skuCode
    tall = product.tall
    unit = product.unit
    updateBy = product.updateBy
    updateTime = product.updateTime
    volume = product.volume
    weight = product.weight
    wide = product.wide
  }

  var product: Product {
    var product = Product()
    product.barcode = barcode
    product.brand = brand
    product.brandId = brandId
    product.category = category
    product.categoryId = categoryId
    product.createBy = createBy
    product.createTime = createTime
    product.delFlag = delFlag
    product.groupNum = groupNum
    product.id = id
    product.isGreeProduct = isGreeProduct
    product.isGroupedProduct = isGroupedProduct
    product.isMarketingProduct = isMarketingProduct
    product.isSaleProduct = isSaleProduct
    product.length = length
    product.name = name
    product.orgId = orgId
    product.skuCode = skuCode
    product.tall = tall
    product.unit = unit
    product.updateBy = updateBy
    product.updateTime = updateTime
    product.volume = volume
    product.weight = weight
    product.wide = wide
    return product
  }

  var touch: UInt64 { UInt64(bitPattern: categoryId) &+ UInt64(name.utf8.count) &+ weight.bitPattern }

  static func createTables(_ db: Database) throws {
    try db.create(table: "product") { table in
      table.primaryKey("id", .text)
      for text in [
        "barcode", "brand", "brandId", "category", "createBy", "createTime", "name", "orgId", "skuCode", "unit",
        "updateBy", "updateTime",
      ] { table.column(text, .text).notNull() }
      for number in ["categoryId", "delFlag", "groupNum"] { table.column(number, .integer).notNull() }
      for flag in ["isGreeProduct", "isGroupedProduct", "isMarketingProduct", "isSaleProduct"] {
        table.column(flag, .boolean).notNull()
      }
      for size in ["length", "tall", "volume", "weight", "wide"] { table.column(size, .double).notNull() }
    }
    try db.create(table: "relation") { table in
      table.column("id", .text).notNull()
      for text in ["orgId", "productId", "subProductId"] { table.column(text, .text).notNull() }
      table.column("groupNum", .integer).notNull()
    }
  }
}

struct GRDBRelation: Codable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "relation"

  var groupNum: Int64
  var id, orgId, productId, subProductId: String

  init(_ relation: Relation) {
    groupNum = relation.groupNum
    id = relation.id
    orgId = relation.orgId
    productId = relation.productId
    subProductId = relation.subProductId
  }
}
#endif
