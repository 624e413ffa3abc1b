import CatalogRows
import Foundation
import Testing

@testable import Catalog
@testable import DaemonHTTP
@testable import ScanDaemon

/// `GET /v1/search?q=…`. The catalogue has the products `1000`, `1001` and `a/b`, each with the weight 11.5.
@Suite(.timeLimit(.minutes(10))) struct SearchRequestTests {
  /// A target with these query parameters, encoded.
  private func target(_ parameters: KeyValuePairs<String, String>) -> String {
    let query = parameters.map { name, value in
      "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
    }
    return "/v1/search?" + query.joined(separator: "&")
  }

  private func ids(_ answer: JSONBody) -> [String] {
    answer["results"]?.elements.compactMap { $0["product"]?["id"]?.text } ?? []
  }

  /// Adds products `n0`, `n1`, … with names of the word `lamp`.
  private func add(_ count: Int, _ test: TestDaemon) throws {
    let writer = try test.daemon.workspace.stores().catalogueWriter()
    defer { writer.close() }
    var increment = writer.beginIncrement()
    var row = ProductRow()
    for number in 0..<count {
      var product = Product()
      (product.id, product.barcode, product.name) = ("n\(number)", "lamp-\(number)", "lamp no\(number)")
      product.brand = number % 2 == 0 ? "Éclat" : "Other"
      product.isGroupedProduct = number == 7
      product.fill(&row)
      try increment.product(row)
    }
    _ = try increment.commit(cursor: "tuesday")
  }

  @Test func `products are found by words, with what matched`() async throws {
    try await TestDaemon.run { test in
      let answer = try await test.exchange("GET", target(["q": "UNIT indoor"])).json
      #expect(ids(answer) == ["1001"] && answer["next"] == .null)
      let result = try #require(answer["results"]?[0])
      let product = try await test.exchange("GET", "/v1/products/1001").json
      #expect(result["product"] == product)
      #expect(result["matched"]?[0]?["field"]?.text == "name")
      // indoor "unit"
      #expect(
        result["matched"]?[0]?["ranges"]
          == .array([
            .array([.number(0), .number(6)]), .array([.number(8), .number(12)]),
          ]))
      #expect(try await ids(test.exchange("GET", target(["q": "6901234567892"])).json) == ["1001"])
      #expect(try await ids(test.exchange("GET", target(["q": "zzzzzz"])).json) == [])
      #expect(try await ids(test.exchange("GET", "/v1/search?q=indoor+unit").json) == ["1001"])
      try await test.exchange("HEAD", target(["q": "unit"]))
    }
  }

  @Test func `a result that rests on a corrected mistake is marked`() async throws {
    try await TestDaemon.run { test in
      let answer = try await test.exchange("GET", target(["q": "indor unit"])).json
      #expect(ids(answer) == ["1001"])
      #expect(answer["results"]?[0]?["approximate"] == .bool(true))
      #expect(answer["results"]?[0]?["meant"]?.text == "indoor unit")
      let exact = try await test.exchange("GET", target(["q": "unit and indoor"])).json
      #expect(ids(exact) == ["1001"])
      #expect(exact["results"]?[0]?["approximate"] == nil && exact["results"]?[0]?["meant"] == nil)
    }
  }

  @Test func `pages follow one another, and each product comes once`() async throws {
    try await TestDaemon.run { test in
      try add(50, test)
      let all = try await test.exchange("GET", target(["q": "lamp", "limit": "1000"])).json
      #expect(ids(all).count == 50 && all["next"] == .null)
      #expect(try await ids(test.exchange("GET", target(["q": "lamp"])).json) == Array(ids(all).prefix(20)))
      var collected: [String] = []
      var after: String?
      repeat {
        let page = try await test.exchange(
          "GET", after.map { target(["q": "lamp", "limit": "7", "after": $0]) } ?? target(["q": "lamp", "limit": "7"]))
        collected += ids(page.json)
        after = page.json["next"]?.text
      } while after != nil && collected.count < 100
      #expect(collected == ids(all))
    }
  }

  @Test func `filters leave out the rest`() async throws {
    try await TestDaemon.run { test in
      try add(10, test)
      for (parameters, count) in [
        (["q": "lamp", "brand": "eclat"], 5), (["q": "lamp", "set": "true"], 1), (["q": "lamp", "set": "false"], 10),
        (["q": "lamp", "category": "x"], 0), (["q": "lamp", "where": "id in ['n1', 'n2', 'x']"], 2),
        (["q": "lamp", "brand": "eclat", "where": "id != 'n0'"], 4),
      ] as [(KeyValuePairs<String, String>, Int)] {
        #expect(try await ids(test.exchange("GET", target(parameters)).json).count == count, "\(parameters)")
      }
    }
  }

  @Test func `a mistake is answered with its parameter`() async throws {
    try await TestDaemon.run { test in
      let mistakes: [(KeyValuePairs<String, String>, String, String)] = [
        ([:], "badRequest", "q: the words"), (["q": ""], "badRequest", "q: the words"),
        (["q": "a", "limit": "0"], "badRequest", "limit: a whole number from 1 to 1000"),
        (["q": "a", "limit": "1001"], "badRequest", "limit"), (["q": "a", "after": "x"], "badRequest", "after: "),
        (["q": "a", "after": ""], "badRequest", "after: "),
        (["q": "a", "after": "1.2.zz.61"], "badRequest", "after: "),
        (["q": "a", "set": "yes"], "badRequest", "set: true or false"),
        (["q": "a", "where": "wieght > 1"], "badExpression", "where: column 1"),
        (["q": "a", "order": "name"], "badRequest", "there is no parameter \"order\""),
      ]
      for (parameters, code, message) in mistakes {
        let answer = try await test.exchange("GET", target(parameters), expecting: 400)
        #expect(answer.errorCode == code, "\(parameters)")
        #expect(answer.json["error"]?["message"]?.text?.contains(message) == true, "\(parameters): \(answer.text)")
      }
    }
  }

  @Test func `without an index the answer says what to do`() async throws {
    try await TestDaemon.run { test in
      let stores = try test.daemon.workspace.stores()
      try stores.settings.change { try $0.set(named: "search.index", to: .text("off")) }
      let writer = try stores.catalogueWriter()
      try writer.compact()
      writer.close()
      let answer = try await test.exchange("GET", target(["q": "unit"]), expecting: 409)
      #expect(answer.errorCode == "noSearchIndex" && answer.text.contains("config set search.index on"))
    }
  }

  @Test func `a catalogue that is empty has no results`() async throws {
    try await TestDaemon.run(isFilled: false) { test in
      let answer = try await test.exchange("GET", target(["q": "unit"]))
      #expect(answer.text == #"{"results":[],"next":null}"#)
    }
  }

  @Test func `a page ends early where it has more than 8 MiB, and the next one goes on`() async throws {
    try await TestDaemon.run { test in
      let writer = try test.daemon.workspace.stores().catalogueWriter()
      var increment = writer.beginIncrement()
      var row = ProductRow()
      for number in 0..<20 {
        var product = Product()
        (product.id, product.name, product.unit) = ("n\(number)", "lamp", String(repeating: "u", count: 1 << 19))
        product.fill(&row)
        try increment.product(row)
      }
      _ = try increment.commit(cursor: "tuesday")
      writer.close()
      let first = try await test.exchange("GET", target(["q": "lamp"])).json
      #expect((16...17).contains(ids(first).count))
      let second = try await test.exchange("GET", target(["q": "lamp", "after": first["next"]?.text ?? ""])).json
      #expect(second["next"] == .null && Set(ids(first) + ids(second)).count == 20)
      #expect(ids(first).count + ids(second).count == 20)
    }
  }

  @Test func `a scan without a match has suggestions if the setting is on`() async throws {
    try await TestDaemon.run { options, _ in
      try? options.matching.set(.suggestionLimit, to: .integer(2))
    } _: { test in
      let answer = try await test.exchange("GET", "/v1/scan/6901234567829").json
      #expect(
        answer["suggestions"]
          == .array([
            .object(["id": .text("1001"), "barcode": .text("6901234567892"), "name": .text("indoor \"unit\"")])
          ]))
      let scan = try await test.exchange("POST", "/v1/scans", #"{"code":"6901234567829"}"#).json
      #expect(scan["suggestions"] == answer["suggestions"])
      #expect(try await test.exchange("GET", "/v1/scan/6901234567892").json["suggestions"] == nil)
    }
  }
}
