import Catalog

/// A row whose fields are displayed one by one, with the server's names, in the order of the names; `extra` is the last one.
///
/// The fields are listed explicitly, because reflection (`Mirror`) takes longer than all other work of `get` on a
/// product.
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
      ("weight", String(weight)), ("wide", String(wide)), ("extra", extra.isEmpty ? "" : extra.json),
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
