import Foundation

/// A server's answer in the making.
struct Payload {
  var products: [String] = []
  var relations: [String] = []
  /// The list of codes; `nil` for a payload without one.
  var codes: [String]?
  var cursor = "2026-01-01 00:00:00"

  /// Adds a product of the given id, with further fields as JSON.
  mutating func product(_ id: String, _ fields: String = #""barcode":"""#) {
    products.append(#"{"id":"\#(id)",\#(fields)}"#)
  }

  mutating func relation(_ set: String, _ component: String, _ count: Int = 1) {
    relations.append(
      #"{"id":"\#(set)-\#(component)","productId":"\#(set)","subProductId":"\#(component)","groupNum":\#(count)}"#)
  }

  /// Adds a code of a product.
  mutating func code(_ product: String, _ code: String, _ quantity: String = "1", unit: String = "") {
    codes =
      (codes ?? []) + [
        #"{"id":"","productId":"\#(product)","barcode":"\#(code)","quantity":\#(quantity),"unit":"\#(unit)","kind":""}"#
      ]
  }

  /// Products `p0`, `p1`, … with a barcode and a name each.
  static func products(_ count: Int, cursor: String = "2026-01-01 00:00:00", name: String = "product") -> Payload {
    var payload = Payload()
    payload.cursor = cursor
    for index in 0..<count {
      payload.product("p\(index)", #""barcode":"c\#(index)","name":"\#(name) \#(index)","delFlag":0"#)
    }
    return payload
  }

  /// The payload without an envelope.
  var json: Data {
    Data(
      """
      {"appProductVOList":[\(products.joined(separator: ","))],\
      "appProductRelVOList":[\(relations.joined(separator: ","))],\
      \(codes.map { "\"appProductCodeVOList\":[\($0.joined(separator: ","))]," } ?? "")"updateTime":"\(cursor)"}
      """.utf8)
  }
}
