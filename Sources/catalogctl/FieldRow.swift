import Catalog

/// A row whose fields are shown one by one, named as the server names them, in the order of their names.
///
/// Written out: to ask the runtime for them (`Mirror`) takes longer than all else that `get` does with a product.
protocol FieldRow {
  var fields: [(name: String, value: String)] { get }
}

extension Product: FieldRow {
  var fields: [(name: String, value: String)] {
    [
      ("barcode", barcode), ("brand", brand), ("brandId", brandId), ("category", category),
      ("categoryId", String(categoryId)), ("createBy", createBy), ("createTime", createTime),
      ("delFlag", String(delFlag)), ("groupNum", String(groupNum)), ("id", id),
      ("isGreeProduct", String(isGreeProduct)), ("isGroupedProduct", String(isGroupedProduct)),
      ("isMarketingProduct", String(isMarketingProduct)), ("isSaleProduct", String(isSaleProduct)),
      ("length", String(length)), ("name", name), ("orgId", orgId), ("skuCode", skuCode), ("tall", String(tall)),
      ("unit", unit), ("updateBy", updateBy), ("updateTime", updateTime), ("volume", String(volume)),
      ("weight", String(weight)), ("wide", String(wide)),
    ]
  }
}

extension Relation: FieldRow {
  var fields: [(name: String, value: String)] {
    [
      ("groupNum", String(groupNum)), ("id", id), ("orgId", orgId), ("productId", productId),
      ("subProductId", subProductId),
    ]
  }
}
