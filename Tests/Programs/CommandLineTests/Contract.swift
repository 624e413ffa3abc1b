import Foundation

/// Parts of the contract that several suites hold against it.
enum Contract {
  /// The keys of a product, sorted.
  static let productKeys = [
    "barcode", "brand", "brandId", "category", "categoryId", "createBy", "createTime", "delFlag", "groupNum", "id",
    "isGreeProduct", "isGroupedProduct", "isMarketingProduct", "isSaleProduct", "length", "name", "orgId", "skuCode",
    "tall", "unit", "updateBy", "updateTime", "volume", "weight", "wide",
  ]
  /// The keys of a relation, sorted.
  static let relationKeys = ["groupNum", "id", "orgId", "productId", "subProductId"]
}

extension [String: Any] {
  var sortedKeys: [String] { keys.sorted() }

  func number(_ key: String) -> Int? { (self[key] as? NSNumber)?.intValue }
  func object(_ key: String) -> [String: Any] { self[key] as? [String: Any] ?? [:] }
  func objects(_ key: String) -> [[String: Any]] { self[key] as? [[String: Any]] ?? [] }
  func text(_ key: String) -> String? { self[key] as? String }
}
