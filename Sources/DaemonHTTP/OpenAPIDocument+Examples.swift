extension OpenAPIDocument {
  /// The product of all examples.
  static let exampleProduct = #"""
    {
      "barcode": "6901234567892",
      "brand": "GREE",
      "brandId": "7",
      "category": "air conditioning",
      "categoryId": 12,
      "createBy": "",
      "createTime": "2026-01-01 00:00:00",
      "delFlag": 0,
      "groupNum": 1,
      "id": "1001",
      "isGreeProduct": true,
      "isGroupedProduct": false,
      "isMarketingProduct": false,
      "isSaleProduct": true,
      "length": 0.8,
      "name": "Indoor unit 35",
      "orgId": "1",
      "skuCode": "KFR-35",
      "tall": 0.3,
      "unit": "piece",
      "updateBy": "",
      "updateTime": "2026-02-01 00:00:00",
      "volume": 0.05,
      "weight": 11.5,
      "wide": 0.2
    }
    """#

  /// The numbers of a queue.
  ///
  /// - Parameter paused: why it stands still, as JSON.
  static func exampleQueue(paused: String) -> String {
    #"""
    {
      "waiting": 2,
      "sending": 1,
      "parked": 0,
      "bytes": 2048,
      "enqueued": 120,
      "delivered": 117,
      "superseded": 0,
      "dropped": 0,
      "refused": 0,
      "expired": 0,
      "removed": 0,
      "paused": \#(paused)
    }
    """#
  }
}
