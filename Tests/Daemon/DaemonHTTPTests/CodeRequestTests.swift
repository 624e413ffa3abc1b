import CatalogRows
import Foundation
import Testing

@testable import Catalog
@testable import DaemonHTTP
@testable import ScanDaemon

/// The table of codes in the answers of the server. The catalogue has the products `1000`, `1001` and `a/b`.
@Suite(.timeLimit(.minutes(10))) struct CodeRequestTests {
  private static let caseCode = "16901234567899"

  /// Gives the product `1001` the code of a case of 24, and that of a pack of half a unit.
  private func addCodes(_ test: TestDaemon) throws {
    let writer = try test.daemon.workspace.stores().catalogueWriter()
    defer { writer.close() }
    var increment = writer.beginIncrement()
    var row = ProductRow()
    try #require(try writer.snapshot().product(id: "1001")).fill(&row)
    try increment.product(row)
    var codeRow = CodeRow()
    for (id, code, quantity, unit) in [("c1", Self.caseCode, "24", "case"), ("c2", "HALF-1", "0.5", "")] {
      var code = ProductCode(id: id, code: code, of: "1001", unit: unit)
      let isTaken = code.setQuantity(quantity)
      #expect(isTaken)
      code.fill(&codeRow)
      try increment.code(codeRow)
    }
    _ = try increment.commit(cursor: "tuesday")
  }

  @Test func `the codes of a product are listed, alone and with the product`() async throws {
    try await TestDaemon.run { test in
      #expect(try await test.exchange("GET", "/v1/products/1001/codes").json["codes"]?.elements == [])
      #expect(try await test.exchange("GET", "/v1/products/1001").json["codes"] == nil)
      #expect(try await test.exchange("GET", "/v1/products/1001?codes=true").json["codes"]?.elements == [])
      try addCodes(test)
      let answer = try await test.exchange("GET", "/v1/products/1001/codes")
      #expect(
        answer.text
          == #"{"productId":"1001","codes":[{"id":"c1","code":"16901234567899","quantity":24,"unit":"case","kind":""},"#
          + #"{"id":"c2","code":"HALF-1","quantity":0.5,"unit":"","kind":""}]}"#)
      let codes = answer.json["codes"]
      #expect(try await test.exchange("GET", "/v1/products/1001?codes=true").json["codes"] == codes)
      #expect(try await test.exchange("GET", "/v1/products/1001").json["codes"] == nil)
      let found = try await test.exchange("GET", "/v1/products?barcode=6901234567892&codes=true").json
      #expect(found["products"]?[0]?["codes"] == codes && found["sequence"] == nil)
      let page = try await test.exchange("GET", "/v1/products?where=id+%3D%3D+'1001'&columns=name&codes=true").json
      #expect(page["products"]?[0]?["codes"] == codes && page["products"]?[0]?["name"] != nil)
      let ordered = try await test.exchange("GET", "/v1/products-by/id?codes=true&limit=1").json
      #expect(ordered["products"]?[0]?["codes"]?.elements == [])
      try await test.exchange("GET", "/v1/products/none/codes", expecting: 404)
      try await test.exchange("GET", "/v1/products/1001/codes?x=1", expecting: 400)
    }
  }

  @Test func `a product is found by a code, by searching, looking up and scanning it`() async throws {
    try await TestDaemon.run { test in
      #expect(try await test.exchange("GET", "/v1/scan/6901234567892").json["package"] == nil)
      try addCodes(test)
      let answer = try await test.exchange("GET", "/v1/scan/\(Self.caseCode)").json
      #expect(answer["products"]?[0]?["id"]?.text == "1001" && answer["package"]?["unit"]?.text == "case")
      #expect(answer["package"]?["quantity"] == .number(24))
      let scanned = try await test.exchange("POST", "/v1/scans", #"{"code":"\#(Self.caseCode)"}"#).json
      #expect(scanned["package"] == answer["package"])
      #expect(try await test.exchange("GET", "/v1/scan/6901234567892").json["package"] == .null)
      let result = try await test.exchange("GET", "/v1/search?q=\(Self.caseCode)").json["results"]?[0]
      #expect(result?["product"]?["id"]?.text == "1001" && result?["package"]?["code"]?.text == Self.caseCode)
      let found = try await test.exchange("GET", "/v1/products?barcode=\(Self.caseCode)").json
      #expect(found["products"]?[0]?["id"]?.text == "1001")
      let spelled = try await test.exchange("GET", "/v1/products?barcode=06901234567892").json
      #expect(spelled["products"]?[0]?["id"]?.text == "1001")
    }
  }

  @Test func `products are found by conditions on their codes, and have them as columns`() async throws {
    try await TestDaemon.run { test in
      func products(_ query: String) async throws -> String {
        try await test.exchange("GET", "/v1/products?\(query)").text
      }
      let none = try await products("where=codeCount%3E0&columns=id")
      #expect(none == #"{"products":[],"more":false,"sequence":1}"#)
      let first = try await products("columns=codes,codeCount&limit=1")
      #expect(first.hasPrefix(#"{"products":[{"codes":[],"codeCount":0}]"#))
      try addCodes(test)
      let codes = try await test.exchange("GET", "/v1/products/1001/codes").json["codes"]
      for condition in ["codeCount+%3D%3D+2", "codes.code+%3D%3D+'HALF-1'", "codes.quantity+%3C+1"] {
        let page = try await test.exchange("GET", "/v1/products?where=\(condition)&columns=id,codes,codeCount").json
        #expect(page["products"]?.elements.count == 1 && page["products"]?[0]?["id"]?.text == "1001", "\(condition)")
        #expect(page["products"]?[0]?["codes"] == codes && page["products"]?[0]?["codeCount"] == .number(2))
      }
      // The codes are there once, whether a column or codes=true asks for them.
      let both = try await products("where=codeCount%3E0&columns=codes&codes=true")
      let column = try await products("where=codeCount%3E0&columns=codes")
      #expect(both == column)
      #expect(try await products("order=-codeCount&columns=id&limit=1").hasPrefix(#"{"products":[{"id":"1001"}]"#))
      let ordered = try await test.exchange("GET", "/v1/products-by/id?columns=codeCount&limit=2").json
      #expect(ordered["products"]?.elements.compactMap { $0["codeCount"] } == [.number(0), .number(2)])
      for query in ["where=codes+%3D%3D+1", "order=codes", "columns=codes.unit"] {
        let refused = try await test.exchange("GET", "/v1/products?\(query)", expecting: 400)
        #expect(refused.errorCode == "badExpression" && refused.text.contains("codeCount"), "\(refused.text)")
      }
    }
  }

  @Test func `the state counts codes`() async throws {
    try await TestDaemon.run { test in
      #expect(try await test.exchange("GET", "/v1/status").json["catalogue"]?["codes"] == .number(0))
      try addCodes(test)
      #expect(try await test.exchange("GET", "/v1/status").json["catalogue"]?["codes"] == .number(2))
    }
  }
}

extension ProductCode {
  fileprivate init(id: String, code: String, of product: String, unit: String) {
    self.init()
    self.id = id
    self.code = code
    self.unit = unit
    productId = product
  }
}
