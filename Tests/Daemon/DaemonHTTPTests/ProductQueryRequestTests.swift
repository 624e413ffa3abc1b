import Dispatch
import Foundation
import Testing
import WaitingTestSupport

@testable import DaemonHTTP
@testable import ScanDaemon

/// `GET /v1/products?where=…`. The catalogue has the products `1000`, `1001` and `a/b`, each with the weight 11.5.
@Suite(.timeLimit(.minutes(10))) struct ProductQueryRequestTests {
  /// A target with these query parameters, encoded.
  private func target(_ parameters: KeyValuePairs<String, String>, path: String = "/v1/products") -> String {
    let query = parameters.map { name, value in
      "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
    }
    return "\(path)?" + query.joined(separator: "&")
  }

  private func ids(_ test: TestDaemon, _ parameters: KeyValuePairs<String, String>) async throws -> [String] {
    let found = try await test.exchange("GET", target(parameters)).json
    #expect(found["sequence"] == .number(1))
    return found["products"]?.elements.compactMap { $0["id"]?.text } ?? []
  }

  @Test func `products are found by a condition`() async throws {
    try await TestDaemon.run { test in
      for (condition, expected) in [
        ("weight > 10 && delFlag == 0", ["1000", "1001", "a/b"]), ("name like '%unit%'", ["1001"]), ("weight > 12", []),
        ("isSaleProduct", []), ("!isSaleProduct && name == 'slash'", ["a/b"]),
        ("id in ['a/b', '1000', 'x']", ["1000", "a/b"]),
        ("barcode == '69/1'", ["a/b"]), ("name == '100 % + more & \"quoted\"'", []), ("true", ["1000", "1001", "a/b"]),
      ] {
        let found = try await ids(test, ["where": condition])
        #expect(found == expected, "\(condition)")
      }
      // As a product is written elsewhere, with all fields.
      let page = try await test.exchange("GET", target(["where": "id == '1001'"])).json
      let product = try await test.exchange("GET", "/v1/products/1001").json
      #expect(page["products"] == .array([product]) && page["more"] == .bool(false) && page["count"] == nil)
    }
  }

  @Test func `all products are paged in the order of an index`() async throws {
    try await TestDaemon.run { test in
      let first = try await test.exchange("GET", target(["limit": "2", "columns": "id"], path: "/v1/products-by/-id"))
        .json
      #expect(first["products"]?.elements.compactMap { $0["id"]?.text } == ["a/b", "1001"])
      let next = try #require(first["next"]?.text)
      let last = try await test.exchange(
        "GET", target(["after": next, "limit": "2", "columns": "id"], path: "/v1/products-by/-id"))
      #expect(last.text == #"{"products":[{"id":"1000"}],"next":null,"sequence":1}"#)
      let whole = try await test.exchange("GET", "/v1/products-by/updateTime").json
      #expect(whole["products"]?.elements.count == 3 && whole["products"]?.elements.first?["name"] != nil)
      for (target, status, word) in [
        ("/v1/products-by/weight", 404, "updateTime"), ("/v1/products-by/id?where=true", 400, "where"),
        ("/v1/products-by/id?after=x", 400, "next"), ("/v1/products-by/id?after=\(next)", 409, "otherOrder"),
        ("/v1/products-by/name", 409, "noOrder"),
      ] {
        let refused = try await test.exchange("GET", target, expecting: status)
        #expect(refused.text.contains(word), "\(refused.text)")
      }
    }
  }

  @Test func `a page has an order, a beginning, an end and columns, and says whether more exist`() async throws {
    try await TestDaemon.run { test in
      #expect(try await ids(test, ["where": "weight > 1", "order": "name desc"]) == ["a/b", "1000", "1001"])
      let answer = try await test.exchange(
        "GET",
        target(["where": "true", "order": "-id", "limit": "1", "offset": "1", "columns": "weight, id", "count": "true"])
      )
      #expect(answer.text == #"{"products":[{"weight":11.5,"id":"1001"}],"more":true,"sequence":1,"count":3}"#)
      let last = try await test.exchange(
        "GET", target(["where": "weight > 1", "limit": "2", "offset": "1", "columns": "id", "count": "false"]))
      #expect(last.text == #"{"products":[{"id":"1001"},{"id":"a/b"}],"more":false,"sequence":1}"#)
      let past = try await test.exchange(
        "GET", target(["where": "true", "offset": "9007199254740991", "count": "true"]))
      #expect(past.text == #"{"products":[],"more":false,"sequence":1,"count":3}"#)
      #expect(try await ids(test, ["where": "true", "limit": "1000"]).count == 3)
    }
  }

  @Test func `a mistake is answered with its parameter and column`() async throws {
    try await TestDaemon.run { test in
      let mistakes: [(KeyValuePairs<String, String>, String, String)] = [
        (
          ["where": "wieght > 10"], "badExpression",
          "where: column 1: no product has a field 'wieght'; did you mean 'weight'?"
        ),
        (["where": "isSaleProduct && weight == 'x'"], "badExpression", "where: column 28: weight is a number"),
        (["where": "weight >"], "badExpression", "where: column 9: a value"),
        (["where": ""], "badExpression", "where: column 1"),
        (["where": "true", "order": "name, nmae"], "badExpression", "order: column 7: no product has a field 'nmae'"),
        (["where": "true", "columns": "id,,name"], "badExpression", "columns: column 4: a field"),
        (["where": "true", "columns": "id,id"], "badExpression", "columns: column 4: id is in the list twice"),
        (["where": "true", "limit": "0"], "badRequest", "limit"),
        (["where": "true", "limit": "1001"], "badRequest", "limit"),
        (["where": "true", "offset": "-1"], "badRequest", "offset"),
        (["where": "true", "offset": "x"], "badRequest", "offset"),
        (
          ["where": "true", "offset": "9007199254740992"], "badRequest",
          "offset: a whole number from 0 to 9007199254740991"
        ),
        (["offset": "48364646401524659300335616"], "badRequest", "offset: a whole number from 0 to 9007199254740991"),
        (["where": "true", "count": "yes"], "badRequest", "count: true or false"),
        (["where": "true", "wher": "x"], "badRequest", "there is no parameter \"wher\""),
        (["barcode": "1", "where": "wieght > 10"], "badExpression", "where: column 1"),
      ]
      for (parameters, code, message) in mistakes {
        let answer = try await test.exchange("GET", target(parameters), expecting: 400)
        #expect(answer.errorCode == code, "\(parameters)")
        #expect(answer.json["error"]?["message"]?.text?.contains(message) == true, "\(parameters): \(answer.text)")
      }
      let long = String(repeating: "(", count: 10_000)
      try await test.exchange("GET", "/v1/products?where=\(long)", expecting: 400)
    }
  }

  @Test func `a barcode and a condition are combined, and without both all products are listed`() async throws {
    try await TestDaemon.run { test in
      for (parameters, ids) in [
        (["barcode": "69/1", "where": "true"], ["a/b"]), (["barcode": "69/1", "where": "id == '1000' or false"], []),
        (["barcode": "it's \\", "limit": "5"], []), (["order": "id"], ["1000", "1001", "a/b"]),
        ([:], ["1000", "1001", "a/b"]),
      ] as [(KeyValuePairs<String, String>, [String])] {
        let answer = try await test.exchange("GET", target(parameters)).json
        #expect(Set(answer["products"]?.elements.compactMap { $0["id"]?.text } ?? []) == Set(ids), "\(parameters)")
        #expect(answer["more"] == .bool(false))
      }
    }
  }

  @Test func `a query needs the token`() async throws {
    try await TestDaemon.run { _, server in
      server.token = "s3cret"
    } _: { test in
      try await test.exchange("GET", target(["where": "true"]), expecting: 401)
      try await test.exchange("GET", target(["where": "true"]), headers: [("Authorization", "Bearer s3cret")])
    }
  }

  @Test func `scans are answered while a query reads the catalogue, and too many queries are refused`() async throws {
    try await TestDaemon.run { test in
      let queries = test.daemon.queries
      let gate = DispatchSemaphore(value: 0)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<QueryThread.limit { group.addTask { try await queries.run { gate.wait() } } }
        try await eventually("all of them wait") { queries.pendingCount == QueryThread.limit }
        let refused = try await test.exchange("GET", target(["where": "weight > 1"]), expecting: 503)
        #expect(refused.errorCode == "tooManyQueries" && refused.headers["retry-after"] == "1")
        // What is looked up does not wait.
        try await test.exchange("GET", "/v1/scan/6901234567892")
        #expect(try await ids(test, ["where": "id == '1001'"]) == ["1001"])
        for _ in 0..<QueryThread.limit { gate.signal() }
        try await group.waitForAll()
      }
      #expect(queries.pendingCount == 0)
      #expect(try await ids(test, ["where": "weight > 1"]).count == 3)
    }
  }
}
