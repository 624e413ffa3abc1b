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
  /// - Parameter paused: why it is paused, as JSON.
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
      "paused": \#(paused),
      "heldKeys": []
    }
    """#
  }

  /// A set that lacks a part.
  static let exampleSetSession = #"""
    {
      "id": "019c1a2b-3c4d-7e5f-8a9b-0c1d2e3f4a5c",
      "name": "order 17",
      "input": null,
      "created": "2026-02-01T08:00:00.000Z",
      "closed": false,
      "codes": ["6901234567892"],
      "completion": {
        "products": {"1001": 1},
        "unknown": [],
        "complete": {},
        "incomplete": {"1000": {"1002": 1}}
      }
    }
    """#

  /// What a scan is answered.
  static let exampleScanAnswer = exampleScanAnswer(isRecorded: true)

  static func exampleScanAnswer(isRecorded: Bool) -> String {
    #"""
    {
      "id": "019c1a2b-3c4d-7e5f-8a9b-0c1d2e3f4a5b",
      "time": "2026-02-01T08:00:42.500Z",
      "input": "http",
      "tag": null,
      "code": "6901234567892",
      "match": "exact",
      "key": "6901234567892",
      "gtin": "06901234567892",
      "rest": null,
      "products": [
        \#(exampleProduct)
      ],
      "elements": {},
      "catalogue": {
        "user": "ana",
        "cursor": "2026-02-01 00:00:00",
        "sequence": 17,
        "currentAt": "2026-02-01T08:00:00.000Z",
        "ageSeconds": 42.5
      },
      "recorded": \#(isRecorded)
    }
    """#
  }
}
