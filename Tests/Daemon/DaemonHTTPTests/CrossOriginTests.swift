import HTTPSupport
import Testing

@testable import DaemonHTTP

@Suite struct WebOriginTests {
  @Test(arguments: [
    ("https://till.example.org", "https://till.example.org"),
    ("HTTPS://Till.Example.org:443", "https://till.example.org"),
    ("http://localhost:3000", "http://localhost:3000"), ("http://a:80", "http://a"), ("http://a:443", "http://a:443"),
    ("http://[::1]:3000", "http://[::1]:3000"), ("capacitor://localhost", "capacitor://localhost"),
    ("chrome-extension://abcdef", "chrome-extension://abcdef"),
  ])
  func `an origin is written as browsers send it`(text: String, origin: String) {
    #expect(WebOrigin.normalized(text) == origin)
  }

  @Test(arguments: [
    "", "*", "null", "till.example.org", "https://", "https://*.example.org", "https://a/", "https://a/b",
    "https://a?b",
    "https://a b", "https://a@b", "https://a:", "https://a:0", "https://a:65536", "https://a:x", "https://:80", "://a",
    "1a://b", "https://a:1:2", "https://ü.example.org",
  ])
  func `anything else is none`(text: String) { #expect(WebOrigin.normalized(text) == nil) }

  @Test func `a page's own server is known by its host`() {
    #expect(WebOrigin.isSame("http://localhost:8765", host: "localhost:8765"))
    #expect(WebOrigin.isSame("https://scanner.example.org", host: "Scanner.example.org"))
    #expect(WebOrigin.isSame("https://scanner.example.org", host: "scanner.example.org:443"))
    #expect(!WebOrigin.isSame("http://localhost:3000", host: "localhost:8765"))
    #expect(!WebOrigin.isSame("null", host: "localhost"))
  }
}

@Suite(.timeLimit(.minutes(10))) struct CrossOriginTests {
  private let origin = "https://till.example.org"

  @Test func `a browser is told which origins may ask`() async throws {
    try await TestDaemon.run { [origin] _, server in
      server.allowedOrigins = [origin]
    } _: { test in
      for (path, status) in [("/v1/status", 200), ("/v1/products/9", 404), ("/v1/nothing", 404)] {
        let answer = try await test.exchange("GET", path, headers: [("Origin", origin)], expecting: status)
        #expect(answer.headers["access-control-allow-origin"] == origin)
        #expect(answer.headers["access-control-expose-headers"]?.contains("Location") == true)
        #expect(answer.headers["vary"] == "Origin")
      }
      // Also to one who names none, so that no cache mixes them up.
      let plain = try await test.exchange("GET", "/v1/status")
      #expect(plain.headers["vary"] == "Origin" && plain.headers["access-control-allow-origin"] == nil)
      let json = [("Origin", origin), ("Content-Type", "application/json")]
      try await test.exchange("POST", "/v1/scans", #"{"code":"1"}"#, headers: json)
      let events = try await test.client.send(test.client.request("HEAD", "/v1/events", headers: [("Origin", origin)]))
      #expect(events.headers["access-control-allow-origin"] == origin)
    }
  }

  @Test(arguments: [nil, "s3cret"]) func `a browser asks first, without a token`(token: String?) async throws {
    try await TestDaemon.run { [origin] _, server in
      server.allowedOrigins = ["https://other.example.org", origin]
      server.token = token
    } _: { test in
      let ask = [("Origin", origin), ("Access-Control-Request-Method", "POST")]
      let answer = try await test.exchange("OPTIONS", "/v1/scans", headers: ask, expecting: 204)
      #expect(answer.headers["access-control-allow-origin"] == origin)
      #expect(answer.headers["access-control-allow-methods"] == "OPTIONS, POST")
      #expect(answer.headers["access-control-allow-headers"] == "Authorization, Content-Type, Last-Event-ID")
      #expect(answer.headers["access-control-max-age"] == "600")
      #expect(answer.headers["access-control-allow-private-network"] == nil)
      let near = try await test.exchange(
        "OPTIONS", "/v1/scans", headers: ask + [("Access-Control-Request-Private-Network", "true")], expecting: 204)
      #expect(near.headers["access-control-allow-private-network"] == "true")
      let foreign = [("Origin", "https://example.org"), ("Access-Control-Request-Method", "POST")]
      let refused = try await test.client.send(test.client.request("OPTIONS", "/v1/scans", headers: foreign))
      #expect(
        refused.status == 403 && refused.errorCode == "foreignOrigin"
          && refused.headers["access-control-allow-origin"] == nil)
      #expect(refused.text.contains("https://example.org") && refused.text.contains("http.allowedOrigins"))
      // Only the question is free.
      let question = try await test.client.send(test.client.request("OPTIONS", "/v1/scans", headers: [ask[0]]))
      #expect(question.status == (token == nil ? 204 : 401))
    }
  }

  @Test func `without origins that may ask nothing is said of them`() async throws {
    try await TestDaemon.run { test in
      let answer = try await test.exchange("GET", "/v1/status", headers: [("Origin", "http://localhost:3000")])
      #expect(answer.headers["vary"] == nil && answer.headers["access-control-allow-origin"] == nil)
    }
  }

  @Test func `what a form of another page can send is refused`() async throws {
    try await TestDaemon.run { [origin] _, server in
      server.allowedOrigins = [origin]
    } _: { test in
      for origin in [origin, "http://localhost:3000", "http://127.0.0.1"] {
        for type in [nil, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
          let headers = [("Origin", origin)] + (type.map { [("Content-Type", $0)] } ?? [])
          for (path, body) in [("/v1/queue/pause", nil), ("/v1/scans", #"{"code":"1"}"#)] as [(String, String?)] {
            let refused = try await test.exchange("POST", path, body, headers: headers, expecting: 415)
            #expect(refused.errorCode == "unsupportedMediaType")
          }
        }
        try await test.exchange(
          "POST", "/v1/queue/pause", headers: [("Origin", origin), ("Content-Type", "application/json")])
      }
      // A browser's own words count more than what is compared.
      for (site, status) in [("same-origin", 200), ("none", 200), ("same-site", 415), ("cross-site", 415)] {
        try await test.exchange("POST", "/v1/queue/resume", headers: [("Sec-Fetch-Site", site)], expecting: status)
      }
      // The daemon's own pages, if it had any, and callers that are no browsers.
      try await test.exchange("POST", "/v1/queue/resume", headers: [("Origin", "http://localhost")])
      try await test.exchange("POST", "/v1/queue/resume")
    }
  }

  @Test(arguments: ["*", "null", "example.org"]) func `what is no origin is refused at the start`(text: String) {
    var options = DaemonServer.Options()
    options.allowedOrigins = [text]
    #expect(throws: DaemonServerError.originUnusable(text)) { try DaemonServer.accessControl(options) }
  }
}
