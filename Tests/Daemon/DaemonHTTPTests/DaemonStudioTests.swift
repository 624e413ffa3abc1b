import ScanDaemon
import Testing

@testable import DaemonHTTP

@Suite(.timeLimit(.minutes(10))) struct DaemonStudioTests {
  /// Asks the studio, whose paths the OpenAPI document does not describe.
  private func ask(
    _ test: TestDaemon, _ target: String, method: String = "GET", body: String? = nil,
    headers: [(name: String, value: String)] = []
  ) async throws -> TestAnswer {
    try await test.client.send(
      test.client.request(method, target, body: body.map { Array($0.utf8) }, headers: headers), isHead: method == "HEAD"
    )
  }

  @Test func `without a token, pages and their data come to everybody on this machine`() async throws {
    try await TestDaemon.run { test in
      #expect(try await ask(test, "/studio").headers["location"] == "studio/")
      let page = try await ask(test, "/studio/live")
      #expect(page.status == 200 && page.headers["content-type"] == "text/html; charset=utf-8")
      #expect(page.headers["content-security-policy"]?.contains("default-src 'none'") == true)
      #expect(page.headers["date"] != nil)
      let script = try await ask(test, "/studio/assets/app.js")
      #expect(script.headers["content-type"]?.hasPrefix("text/javascript") == true)
      let store = try await ask(test, "/studio/api/store").json
      #expect(store["program"]?.text == "catalogd" && store["user"]?.text == "ana")
      #expect(try await ask(test, "/studio/api/store").text.contains(#""live":true"#))
      let found = try await ask(test, "/studio/api/scan?code=6901234567892")
      #expect(found.text.contains(#""match":"exact""#))
      let head = try await ask(test, "/studio/", method: "HEAD")
      #expect(head.status == 200 && head.headers["content-length"] != "0")
      // What only begins with the same letters is something else.
      #expect(try await ask(test, "/studios").status == 404)
    }
  }

  @Test func `where the daemon needs its token, so do the data, and the pages do not`() async throws {
    try await TestDaemon.run({ $1.token = "s3cret" }) { test in
      for path in ["store", "events", "live", "products.ndjson", "misses"] {
        let refused = try await ask(test, "/studio/api/" + path)
        #expect(refused.status == 401 && refused.errorCode == "unauthorized")
        #expect(refused.text.contains("the daemon's token"))
      }
      #expect(try await ask(test, "/studio/products").status == 200)
      let allowed = [(name: "Authorization", value: "Bearer s3cret")]
      #expect(try await ask(test, "/studio/api/store", headers: allowed).text.contains(#""decidesUploads":true"#))
    }
  }

  @Test func `other names and pages of other origins are refused`() async throws {
    try await TestDaemon.run({ $1.allowedOrigins = ["https://till.example.org"] }) { test in
      for path in ["/studio/", "/studio/assets/app.js", "/studio/api/store"] {
        let named = try await ask(test, path, headers: [("Host", "evil.example")])
        #expect(named.status == 403 && named.errorCode == "foreignHost")
        // Also those that may ask the daemon.
        for origin in ["https://evil.example", "https://till.example.org", "null"] {
          let asked = try await ask(test, path, headers: [("Origin", origin)])
          #expect(asked.status == 403 && asked.errorCode == "foreignOrigin")
        }
        #expect(try await ask(test, path, headers: [("Origin", "http://localhost")]).status == 200)
      }
    }
  }

  @Test func `it answers to the names of the daemon, and a refusal names the setting`() async throws {
    try await TestDaemon.run({ $1.names = ["shop.example.org"] }) { test in
      for path in ["/studio/", "/studio/api/store", "/v1/status"] {
        #expect(try await ask(test, path, headers: [("Host", "shop.example.org:8443")]).status == 200)
        #expect(try await ask(test, path, headers: [("Origin", "https://shop.example.org")]).status == 200)
        let host = try await ask(test, path, headers: [("Host", "evil.example:80")])
        #expect(host.status == 403 && host.errorCode == "foreignHost")
        #expect(host.text.contains(#"and not to \"evil.example\""#) && host.text.contains("http.names"), "\(host.text)")
        let origin = try await ask(test, path, headers: [("Origin", "https://evil.example")])
        #expect(origin.status == 403 && origin.errorCode == "foreignOrigin")
        #expect(origin.text.contains("http.names"), "\(origin.text)")
        if path.hasPrefix("/v1") { #expect(origin.text.contains("http.allowedOrigins")) }
      }
    }
  }

  @Test func `it is off if configured so, and beyond this machine unless configured otherwise`() async throws {
    try await TestDaemon.run({ $1.servesStudio = false }) { test in
      let page = try await ask(test, "/studio/")
      #expect(page.status == 404)
    }
    var options = DaemonServer.Options()
    #expect(options.hasStudio)
    options.address = .socket(path: "/run/x")
    #expect(options.hasStudio)
    options.address = .host("0.0.0.0", port: 0)
    #expect(!options.hasStudio)
    options.servesStudio = true
    #expect(options.hasStudio)
    let open: @Sendable (inout DaemonServer.Options) -> Void = {
      $0.address = .host("0.0.0.0", port: 0)
      $0.token = "s3cret"
    }
    try await TestDaemon.run({ open(&$1) }) { test in
      #expect(try await ask(test, "/studio/").status == 401)
      let page = try await ask(test, "/studio/", headers: [("Authorization", "Bearer s3cret")])
      #expect(page.status == 404)
    }
    try await TestDaemon.run({
      open(&$1)
      $1.servesStudio = true
    }) { test in
      // It has names of its own there, and the token keeps pages of others out.
      let host = (name: "Host", value: "warehouse.example:8765")
      let page = try await ask(test, "/studio/", headers: [host])
      let data = try await ask(test, "/studio/api/store", headers: [host])
      let foreign = try await ask(test, "/studio/", headers: [host, ("Origin", "http://evil.example")])
      #expect([page.status, data.status, foreign.status] == [200, 401, 403])
    }
  }

  @Test func `it shows problems, misses and targets, and changes nothing unless configured`() async throws {
    try await TestDaemon.run { test in
      test.daemon.problems.report(.reloadRefused, "a mistyped name")
      #expect(try await ask(test, "/studio/api/store").text.contains("a mistyped name"))
      _ = try await test.exchange("POST", "/v1/scans", #"{"code":"no such code"}"#)
      _ = try await test.misses(1)
      #expect(try await ask(test, "/studio/api/misses").text.contains("no such code"))
      #expect(try await ask(test, "/studio/api/live").text == #"{"targets":[],"complete":true}"#)
      for (method, path) in [
        ("PUT", "settings/user/a"), ("POST", "rollback"), ("POST", "queue/x/retry"), ("DELETE", "collections/a/b"),
      ] {
        let refused = try await ask(
          test, "/studio/api/" + path, method: method, body: #"{"value":1,"sequence":1,"confirmation":"1"}"#)
        #expect(refused.status == 403 && refused.errorCode == "notEditable", "\(path)")
        #expect(refused.text.contains("studio.edit"))
      }
    }
    try await TestDaemon.run({ $1.studioEdits = true }) { test in
      let set = try await ask(test, "/studio/api/settings/user/keepPreviousDays", method: "PUT", body: #"{"value":3}"#)
      #expect(set.status == 200)
      #expect(try await ask(test, "/studio/api/settings").text.contains("how many days"))
    }
  }

  @Test func `uploads are counted by target, and those who have the token decide on them`() async throws {
    try await TestDaemon.run({ daemon, options in
      daemon.webhooks = [WebhookOptions(name: "stock", url: "http://127.0.0.1:9/")]
      options.token = "s3cret"
    }) { test in
      let token = [(name: "Authorization", value: "Bearer s3cret")]
      _ = try await ask(test, "/v1/scans", method: "POST", body: #"{"code":"6901234567892"}"#, headers: token)
      let live = try await ask(test, "/studio/api/live", headers: token).json
      let target = try #require(live["targets"]?.elements.first)
      #expect(target["name"]?.text == "stock")
      let queue = try await ask(test, "/studio/api/queue", headers: token).json
      let id = try #require(queue["uploads"]?.elements.first?["id"]?.text)
      let lines = try await ask(test, "/studio/api/queue.ndjson", method: "HEAD", headers: token)
      #expect(lines.headers["content-type"] == "application/x-ndjson")
      let dropped = try await ask(test, "/studio/api/queue/\(id)/drop", method: "POST", headers: token)
      #expect(dropped.status == 200 || dropped.errorCode == "isBeingSent", "\(dropped.text)")
    }
  }

  @Test func `the studio shows a user that signs in while the daemon runs`() async throws {
    try await TestDaemon.run { test in
      try await test.daemon.signIn("bob")
      #expect(try await ask(test, "/studio/api/store").json["user"]?.text == "bob")
      try await test.daemon.signOut()
      let nobody = try await ask(test, "/studio/api/store")
      #expect(nobody.status == 409 && nobody.errorCode == "nobodySignedIn")
    }
  }

  @Test func `a listener of the daemon hears how long a scan took, if it asks for that`() async throws {
    try await TestDaemon.run { test in
      try await test.client.listen("/v1/events?latency=true") { listener in
        let answer = try await test.exchange("POST", "/v1/scans", #"{"code":"6901234567892"}"#)
        let data = try #require(try await listener.nextEvent()?.data.first)
        #expect(data.hasPrefix(answer.text.dropLast() + #","latencySeconds":"#))
      }
    }
  }

  @Test func `pages that listen for commits are counted with all other listeners`() async throws {
    try await TestDaemon.run({ $1.maximumEventStreams = 1 }) { test in
      try await test.client.listen("/studio/api/events") { listener in
        #expect(listener.head.contains("text/event-stream"))
        let other = try await test.exchange("GET", "/v1/events", expecting: 503)
        let another = try await ask(test, "/studio/api/events")
        #expect([other.errorCode, another.errorCode] == ["tooManyListeners", "tooManyListeners"])
      }
      // A place is free again soon after a listener has gone.
      var isFree = false
      for _ in 0..<200 where !isFree {
        isFree = try await test.client.listen("/studio/api/events") { $0.head.contains("200 OK") }
        if !isFree { try await Task.sleep(for: .milliseconds(20)) }
      }
      #expect(isFree)
    }
  }

  @Test func `requests are limited as all others are`() async throws {
    try await TestDaemon.run({
      $1.requestsPerSecond = 0.01
      $1.requestBurst = 1
    }) { test in
      let first = try await ask(test, "/studio/")
      let second = try await ask(test, "/studio/api/store")
      #expect(first.status == 200 && second.errorCode == "tooManyRequests")
    }
  }
}
