import HTTPServer
import Foundation
import HTTPSupport
import MetricsTestKit
import ScanDaemon
import Testing

@testable import DaemonHTTP

@Suite(.timeLimit(.minutes(10))) struct DaemonServerTests {
  // MARK: The document

  @Test func `every route is in the document, and every operation has a route`() async throws {
    try await TestDaemon.run { _, server in
      server.token = "s3cret"
    } _: { test in
      let accessControl = AccessControl(
        token: BearerToken("s3cret"), isLocal: true, isOverNetwork: true, rate: nil,
        crossOrigin: CrossOrigin(origins: []))
      let routes = DaemonAPI(daemon: test.daemon, metrics: nil, accessControl: accessControl).routes
      #expect(routes.map { "\($0.method.rawValue) \($0.path)" }.sorted() == test.checker.operations)
      for route in routes {
        let operation = test.checker.document["paths"]?[route.path]?[route.method.rawValue.lowercased()]
        #expect((operation?["requestBody"] != nil) == (route.body != .none), "\(route.path)")
        if case .bool(let isRequired)? = operation?["requestBody"]?["required"] {
          #expect(isRequired == (route.body == .required), "\(route.path)")
        }
        let isOpen = operation?["security"] == .array([])
        #expect(isOpen != accessControl.asksToken(for: route.access), "\(route.path)")
      }
      let answer = try await test.exchange("GET", "/openapi.json", headers: [("Authorization", "Bearer s3cret")])
      #expect(answer.json == test.checker.document)
    }
  }

  // MARK: State

  @Test func `a daemon says how it is`() async throws {
    try await TestDaemon.run { _, options in
      options.metrics = { Array("a 1\n".utf8) }
    } _: { test in
      let found1 = try await test.exchange("GET", "/healthz").json
      #expect(found1 == .object(["status": .text("ok")]))
      try await test.exchange("GET", "/readyz")
      let metrics = try await test.exchange("GET", "/metrics")
      #expect(metrics.text == "a 1\n")
      #expect(metrics.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
      let status = try await test.exchange("GET", "/v1/status").json
      #expect(status["user"]?.text == "ana")
      #expect(status["catalogue"]?["products"] == .number(3))
    }
  }

  @Test func `without a catalogue the daemon is not ready, and a scan says why nothing matches`() async throws {
    try await TestDaemon.run(isFilled: false) { test in
      let errorResponse = try await test.exchange("GET", "/readyz", expecting: 503).json
      #expect(errorResponse["error"]?["message"]?.text == "there is no catalogue; GET /v1/status says more")
      for answer in [
        try await test.exchange("GET", "/v1/scan/6901234567892").json,
        try await test.exchange("POST", "/v1/scans", #"{"code":"6901234567892"}"#).json,
      ] {
        #expect(answer["match"]?.text == "none" && answer["reason"]?.text == "no catalogue")
      }
      #expect(try await test.exchange("GET", "/v1/misses").json["misses"] == .array([]))
      let problem = try await test.exchange("GET", "/v1/status").json["problems"]?[0]
      #expect(problem?["code"]?.text == "catalogue_never_synchronised" && problem?["remedy"]?.text != nil)
    }
  }

  @Test func `while the catalogue cannot be read the daemon is not ready, and a scan is answered as unreadable`()
    async throws
  {
    var root = ""
    try await TestDaemon.run { options, _ in
      root = options.root
    } _: { test in
      let place = root + "/users/ana/catalogue.log"
      try Data(repeating: 7, count: 20_000).write(to: URL(fileURLWithPath: place))
      let errorResponse = try await test.exchange("GET", "/readyz", expecting: 503).json
      #expect(errorResponse["error"]?["message"]?.text == "the catalogue cannot be read; GET /v1/status says more")
      let answer = try await test.exchange("POST", "/v1/scans", #"{"code":"6901234567892"}"#).json
      #expect(answer["match"]?.text == "unreadable" && answer["reason"]?.text != nil)
      try await test.exchange("GET", "/v1/scan/6901234567892", expecting: 503)
    }
  }

  @Test func `requests are counted by route, method and status, and connections while they are open`() async throws {
    let kit = TestMetrics()
    func count(_ route: String, _ method: String, _ status: String) throws -> Int64 {
      try kit.expectCounter(
        "shelfmark_http_requests_total", [("route", route), ("method", method), ("status", status)]
      ).totalValue
    }
    func connections() throws -> Double? { try kit.expectRecorder("shelfmark_http_connections", []).lastValue }
    try await TestDaemon.run(metrics: kit) { test in
      for code in ["1", "2"] { try await test.exchange("GET", "/v1/scan/\(code)") }
      try await test.exchange("HEAD", "/healthz")
      try await test.exchange("DELETE", "/healthz", expecting: 405)
      try await test.exchange("GET", "/nowhere", expecting: 404)
      try await test.exchange("GET", "/v1/products?barcode=", expecting: 400)
      #expect(try count("/v1/scan/{code}", "GET", "200") == 2)
      #expect(try count("/healthz", "HEAD", "200") == 1)
      #expect(try count("/healthz", "DELETE", "405") == 1)
      #expect(try count("none", "GET", "404") == 1)
      #expect(try count("/v1/products", "GET", "400") == 1)
    }
    // The server ends when its connections have.
    #expect(try connections() == 0)
    #expect(try kit.expectRecorder("shelfmark_http_connections", []).values.contains(1))
  }

  @Test func `without metrics there are none`() async throws {
    try await TestDaemon.run { test in try await test.exchange("GET", "/metrics", expecting: 404) }
  }

  // MARK: Scans

  @Test func `a look is an answer without an effect`() async throws {
    try await TestDaemon.run { test in
      let found = try await test.exchange("GET", "/v1/scan/6901234567892").json
      #expect(found["match"]?.text == "exact")
      #expect(found["products"]?[0]?["id"]?.text == "1001")
      #expect(found["products"]?[0]?["name"]?.text == "indoor \"unit\"")
      let found2 = try await test.exchange("GET", "/v1/scan/unknown").json["match"]?.text
      #expect(found2 == "none")
      let found3 = try await test.exchange("GET", "/v1/misses").json["misses"]
      #expect(found3 == .array([]))
      let found4 = try await test.exchange("GET", "/v1/scan/69%2F1").json["key"]?.text
      #expect(found4 == "69/1")
      let separated = try await test.exchange("GET", "/v1/scan/%5DC10106901234567892%1D21x").json
      #expect(separated["code"]?.text == "]C10106901234567892\u{1D}21x")
      let named = try await test.exchange("GET", "/v1/scan/0106901234567892?symbology=LABEL-TYPE-EAN128").json
      #expect(named["symbology"]?.text == "]C1" && named["kind"]?.text == "gs1")
      let unnamed = try await test.exchange("GET", "/v1/scan/6901234567892?symbology=%5Dzz%00").json
      #expect(unnamed["symbology"] == .null && unnamed["match"]?.text == "exact")
      let long = String(repeating: "x", count: 65)
      try await test.exchange("GET", "/v1/scan/6901234567892?symbology=" + long, expecting: 400)
      try await test.exchange("GET", "/v1/scan/6901234567892?symbology=A0&other=1", expecting: 400)
      try await test.exchange("GET", "/v1/scan/", expecting: 404)
      try await test.exchange("GET", "/v1/scan/" + String(repeating: "1", count: 4096))
      try await test.exchange("GET", "/v1/scan/" + String(repeating: "1", count: 4097), expecting: 400)
    }
  }

  @Test func `scans have effects, in their order`() async throws {
    try await TestDaemon.run { test in
      let one = try await test.exchange("POST", "/v1/scans", #"{"code":"6901234567892","tag":"17"}"#).json
      #expect(one["tag"]?.text == "17")
      #expect(one["input"]?.text == "http")
      #expect(one["products"]?[0]?["id"]?.text == "1001")
      let many = try await test.exchange("POST", "/v1/scans", #"{"codes":["x1","6901234567892","x2"],"input":"a"}"#)
        .json
      #expect(many["answers"]?.elements.compactMap { $0["code"]?.text } == ["x1", "6901234567892", "x2"])
      let scans = try await test.exchange(
        "POST", "/v1/scans", #"{"scans":[{"code":"x3","input":"b"},{"code":"x1","input":"c"}]}"#
      ).json
      #expect(scans["answers"]?.elements.compactMap { $0["input"]?.text } == ["b", "c"])
      let misses = try await test.misses(3)
      #expect(misses.compactMap { $0["code"]?.text }.sorted() == ["x1", "x2", "x3"])
      #expect(misses.first { $0["code"]?.text == "x1" }?["count"] == .number(2))
      let limited = try await test.exchange("GET", "/v1/misses?limit=2").json["misses"]?.elements
      #expect(limited == Array(misses.prefix(2)))
      let removed = try await test.exchange("DELETE", "/v1/misses").json
      #expect(removed == .object(["removed": .number(3)]))
      _ = try await test.misses(0)
    }
  }

  @Test func `a code that is scanned again at once is a double scan`() async throws {
    try await TestDaemon.run { options, _ in
      options.doubleScanWindow = .seconds(3600)
    } _: { test in
      let first = try await test.exchange("POST", "/v1/scans", #"{"code":"6901234567892","input":"a"}"#).json
      let second = try await test.exchange("POST", "/v1/scans", #"{"code":"6901234567892","input":"a"}"#).json
      #expect(first["repeats"] == nil)
      #expect(second["repeats"] == first["id"])
    }
  }

  @Test func `a thousand scans go at once, and no more`() async throws {
    try await TestDaemon.run { test in
      func body(_ count: Int) -> String {
        #"{"codes":["# + (0..<count).map { "\"miss \($0)\"" }.joined(separator: ",") + "]}"
      }
      let answers = try await test.exchange("POST", "/v1/scans", body(1000)).json["answers"]?.elements ?? []
      #expect(answers.compactMap { $0["code"]?.text } == (0..<1000).map { "miss \($0)" })
      try await test.exchange("POST", "/v1/scans", body(1001), expecting: 400)
      _ = try await test.misses(1000)
    }
  }

  // MARK: The catalogue

  @Test func `products are found by id and by barcode`() async throws {
    try await TestDaemon.run { test in
      let found8 = try await test.exchange("GET", "/v1/products/1001").json["barcode"]?.text
      #expect(found8 == "6901234567892")
      let found9 = try await test.exchange("GET", "/v1/products/a%2Fb").json["name"]?.text
      #expect(found9 == "slash")
      let found10 = try await test.exchange("GET", "/v1/products/9", expecting: 404).errorCode
      #expect(found10 == "notFound")
      let found = try await test.exchange("GET", "/v1/products?barcode=69%2F1").json
      #expect(found["products"]?.elements.compactMap { $0["id"]?.text } == ["a/b"])
      let found11 = try await test.exchange("GET", "/v1/products?barcode=7").json["products"]
      #expect(found11 == .array([]))
      for query in ["?barcode=", "?other=1", "?barcode=7&wher=true"] {
        try await test.exchange("GET", "/v1/products\(query)", expecting: 400)
      }
      let parameters = test.checker.operation("GET", "/v1/products")?["parameters"]?.elements ?? []
      let names = ["barcode", "where", "order", "limit", "offset", "columns", "count", "codes"]
      #expect(parameters.compactMap { $0["name"]?.text } == names)
      #expect(parameters[0]["required"] == nil && parameters[0]["schema"]?["minLength"] == .number(1))
      let components = try await test.exchange("GET", "/v1/products/1000/components").json["components"]
      #expect(components?.elements.compactMap { $0["subProductId"]?.text } == ["1001", "1002"])
      #expect(components?[1]?["product"] == .null)
      let found12 = try await test.exchange("GET", "/v1/products/1001/components").json["components"]
      #expect(found12 == .array([]))
      try await test.exchange("GET", "/v1/products/9/components", expecting: 404)
    }
  }

  @Test func `without a server there is nothing to synchronise with`() async throws {
    try await TestDaemon.run { test in
      let found13 = try await test.exchange("POST", "/v1/sync", expecting: 409).errorCode
      #expect(found13 == "noServer")
      let found14 = try await test.exchange("POST", "/v1/sync", #"{"full":true}"#, expecting: 409).errorCode
      #expect(found14 == "noServer")
      try await test.exchange("POST", "/v1/sync", #"{"full":1}"#, expecting: 400)
      let found15 = try await test.exchange("GET", "/v1/sync").json["configured"]
      #expect(found15 == .bool(false))
    }
  }

  // MARK: Users

  @Test func `users sign in and out`() async throws {
    try await TestDaemon.run { test in
      let found16 = try await test.exchange("GET", "/v1/session").json["user"]?.text
      #expect(found16 == "ana")
      let found17 = try await test.exchange("POST", "/v1/session", #"{"user":"用户 1"}"#).json["user"]?.text
      #expect(found17 == "用户 1")
      let found18 = try await test.exchange("GET", "/v1/products/1001", expecting: 404).errorCode
      #expect(found18 == "notFound")
      let found19 = try await test.exchange("DELETE", "/v1/session").json
      #expect(found19 == .object(["user": .null]))
      let found20 = try await test.exchange("GET", "/v1/session").json["user"]
      #expect(found20 == .null)
      for body in ["{}", #"{"user":1}"#, #"{"user":""}"#, #"{"user":"\#(String(repeating: "u", count: 256))"}"#] {
        try await test.exchange("POST", "/v1/session", body, expecting: 400)
      }
      try await test.exchange("POST", "/v1/session", #"{"user":"ana"}"#)
      try await test.exchange("GET", "/v1/products/1001")
    }
  }

  // MARK: Set sessions

  @Test func `a set is put together`() async throws {
    try await TestDaemon.run { test in
      let opened = try await test.exchange(
        "POST", "/v1/sessions", #"{"name":"order 17","input":"counter"}"#, expecting: 201)
      let id = try #require(opened.json["id"]?.text)
      #expect(opened.headers["location"] == "sessions/\(id)")
      let second = try await test.exchange("POST", "/v1/sessions", expecting: 201).json
      let scanned = try await test.exchange("POST", "/v1/sessions/\(id)/scans", #"{"code":"6901234567892"}"#).json
      #expect(scanned["completion"]?["incomplete"]?["1000"] == .object(["1002": .number(1)]))
      let more = try await test.exchange("POST", "/v1/sessions/\(id)/scans", #"{"codes":["x","6901234567892"]}"#).json
      #expect(more["codes"]?.elements.count == 3)
      #expect(more["completion"]?["unknown"] == .array([.text("x")]))
      let found21 = try await test.exchange("GET", "/v1/sessions/\(id)").json
      #expect(found21 == more)
      let all = try await test.exchange("GET", "/v1/sessions").json
      #expect(all["sessions"]?.elements.compactMap { $0["id"] } == [second["id"], .text(id)].compactMap { $0 })
      #expect(all["truncated"] == .bool(false))
      let found22 = try await test.exchange("GET", "/v1/sessions?limit=1").json["sessions"]?.elements.count
      #expect(found22 == 1)
      let found23 = try await test.exchange("POST", "/v1/sessions/\(id)/close").json["closed"]
      #expect(found23 == .bool(true))
      let refused = try await test.exchange("POST", "/v1/sessions/\(id)/scans", #"{"code":"1"}"#, expecting: 409)
      #expect(refused.errorCode == "sessionClosed")
      try await test.exchange("DELETE", "/v1/sessions/\(id)", expecting: 204)
      for (method, path) in [("GET", ""), ("DELETE", ""), ("POST", "/close")] {
        try await test.exchange(method, "/v1/sessions/\(id)\(path)", expecting: 404)
      }
      for body in ["{}", #"{"code":""}"#, #"{"codes":[]}"#, #"{"code":"1","codes":["2"]}"#] {
        try await test.exchange("POST", "/v1/sessions/\(id)/scans", body, expecting: 400)
      }
      try await test.exchange("POST", "/v1/sessions", #"{"input":"a b"}"#, expecting: 400)
      try await test.exchange(
        "POST", "/v1/sessions", #"{"name":"\#(String(repeating: "n", count: 201))"}"#, expecting: 400)
    }
  }

  // MARK: The queue

  @Test func `uploads are looked at and decided about`() async throws {
    try await TestDaemon.run { options, _ in
      // Nobody listens there; what is not sent waits.
      var webhook = WebhookOptions(name: "hook", url: "http://127.0.0.1:9/")
      webhook.retry.maximumRetries = 0
      webhook.retry.countsOutages = true
      webhook.timeout = .milliseconds(200)
      options.webhooks = [webhook]
    } _: { test in
      let found24 = try await test.exchange("POST", "/v1/queue/pause").json["paused"]
      #expect(found24 == .array([.text("byHand")]))
      let answers = try await test.exchange("POST", "/v1/scans", #"{"codes":["6901234567892","x"]}"#).json["answers"]
      #expect(answers?.elements.map { $0["recorded"] } == [.bool(true), .bool(true)])
      let payloads = try await test.exchange("GET", "/v1/queue/uploads").json["uploads"]?.elements.map { $0["payload"] }
      #expect(payloads == answers?.elements.map { $0 })
      let queue = try await test.exchange("GET", "/v1/queue").json
      #expect(queue["waiting"] == .number(2))
      let uploads = try await test.exchange("GET", "/v1/queue/uploads?state=waiting").json["uploads"]?.elements ?? []
      #expect(uploads.count == 2)
      let found25 = try await test.exchange("GET", "/v1/queue/uploads?state=parked").json["uploads"]
      #expect(found25 == .array([]))
      let found26 = try await test.exchange("GET", "/v1/queue/uploads?limit=1").json["uploads"]?.elements.count
      #expect(found26 == 1)
      try await test.exchange("GET", "/v1/queue/uploads?state=lost", expecting: 400)
      let id = try #require(uploads.first?["id"]?.text)
      let found27 = try await test.exchange("GET", "/v1/queue/uploads/\(id)").json
      #expect(found27 == uploads.first)
      try await test.exchange("POST", "/v1/queue/uploads/\(id)/retry")
      try await test.exchange("DELETE", "/v1/queue/uploads/\(id)", expecting: 204)
      for (method, path) in [("GET", ""), ("DELETE", ""), ("POST", "/retry")] {
        let found28 = try await test.exchange(method, "/v1/queue/uploads/\(id)\(path)", expecting: 404).errorCode
        #expect(found28 == "notFound")
        try await test.exchange(method, "/v1/queue/uploads/nothing\(path)", expecting: 404)
      }
      let found29 = try await test.exchange("POST", "/v1/queue/resume").json["paused"]
      #expect(found29 == .array([]))
      var parked = 0
      for _ in 0..<500 where parked == 0 {
        parked = try await test.exchange("GET", "/v1/queue").json["parked"]?.int ?? 0
        if parked == 0 { try await Task.sleep(for: .milliseconds(20)) }
      }
      #expect(parked == 1)
      try await test.exchange("POST", "/v1/queue/pause")
      let found30 = try await test.exchange("POST", "/v1/queue/retry").json
      #expect(found30 == .object(["retried": .number(1)]))
      for body in [
        #"{"states":[]}"#, #"{"states":["sending"]}"#, #"{"states":["parked","x"]}"#, #"{"states":"parked"}"#,
      ] {
        #expect(test.checker.faults("POST", "/v1/queue/retry", requestBody: Array(body.utf8)) != [])
        try await test.exchange("POST", "/v1/queue/retry", body, expecting: 400)
      }
      try await test.exchange("POST", "/v1/queue/retry", #"{"states":null}"#)
    }
  }

  @Test func `what waits because it failed goes when somebody says so`() async throws {
    try await TestDaemon.run { options, _ in
      // Nobody listens there.
      var webhook = WebhookOptions(name: "hook", url: "http://127.0.0.1:9/")
      webhook.retry.firstPause = .seconds(3600)
      webhook.retry.longestPause = .seconds(3600)
      options.webhooks = [webhook]
    } _: { test in
      func attempts(_ count: Int64) async throws -> String {
        for _ in 0..<1500 {
          let upload = try await test.exchange("GET", "/v1/queue/uploads?state=waiting").json["uploads"]?[0]
          if let upload, upload["attempts"] == .number(count) { return upload["id"]?.text ?? "" }
          try await Task.sleep(for: .milliseconds(20))
        }
        throw TestClient.Failure(words: "there were no \(count) attempts")
      }
      try await test.exchange("POST", "/v1/scans", #"{"code":"6901234567892"}"#)
      let id = try await attempts(1)
      let found31 = try await test.exchange("POST", "/v1/queue/retry").json
      #expect(found31 == .object(["retried": .number(0)]))
      let found32 = try await test.exchange("POST", "/v1/queue/retry", #"{"states":["parked","waiting"]}"#).json
      #expect(found32 == .object(["retried": .number(1)]))
      _ = try await attempts(2)
      try await test.exchange("POST", "/v1/queue/uploads/\(id)/retry")
      _ = try await attempts(3)
    }
  }
}
