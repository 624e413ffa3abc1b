import Foundation
import Gzip
import HTTPSupport
import StoreTestSupport
import Testing

@testable import DaemonHTTP

/// The daemon behind real proxies, with the configurations that Documentation/Operations/BehindAProxy.md shows.
@Suite(.timeLimit(.minutes(10))) struct BehindAProxyTests {
  private static let noNginx: Comment = "nginx is not installed; 'scripts/prepare proxy' does that"
  private static let noCaddy: Comment = "Caddy is not installed"

  private func run(
    names: [String], token: String? = nil, socket: String? = nil,
    _ body: (_ test: TestDaemon, _ address: String) async throws -> Void
  ) async throws {
    try await TestDaemon.run({ _, options in
      options.names = names
      options.token = token
      // No comment may flush what a proxy has collected.
      options.eventHeartbeat = .seconds(3600)
      if let socket {
        options.address = .socket(path: socket)
        options.servesStudio = true
        options.socketMode = 0o666
      }
    }) { test in
      switch test.client.place {
      case .port(let port): try await body(test, "127.0.0.1:\(port)")
      case .socket(let path): try await body(test, path)
      }
    }
  }

  private func client(_ socket: String, _ host: String, _ more: [(name: String, value: String)] = []) -> TestClient {
    TestClient(place: .socket(socket), headers: [("Host", host)] + more)
  }

  /// What a till and a browser do through a proxy.
  private func checkEverything(_ client: TestClient, prefix: String = "", origin: String) async throws {
    func get(_ path: String, _ headers: [(name: String, value: String)] = []) async throws -> TestAnswer {
      try await client.send(client.request("GET", path, headers: headers))
    }
    // Scans and products, also with a slash in a code and in an id.
    let scan = try await get(prefix + "/v1/scan/6901234567892")
    #expect(scan.status == 200 && scan.text.contains(#""match":"exact""#), "\(scan.text)")
    #expect(try await get(prefix + "/v1/products/a%2Fb").text.contains("slash"))
    #expect(try await get(prefix + "/v1/scan/69%2F1").text.contains(#""match":"exact""#))
    let json = [(name: "Content-Type", value: "application/json"), ("Origin", origin)]
    let session = try await client.send(
      client.request("POST", prefix + "/v1/sessions", body: Array("{}".utf8), headers: json))
    #expect(session.status == 201, "\(session.text)")
    let location = try address(try #require(session.headers["location"]), from: prefix + "/v1/sessions")
    #expect(try await get(location).status == 200, "\(location)")
    let openAPI = try await get(prefix + "/openapi.json")
    let server = try #require(openAPI.json["servers"]?[0]?["url"]?.text)
    #expect(try address(server, from: prefix + "/openapi.json") == prefix + "/")

    // The studio: where its address without the slash leads, its views, and what they refer to.
    let moved = try await get(prefix + "/studio")
    #expect(moved.status == 301)
    let start = try address(try #require(moved.headers["location"]), from: prefix + "/studio")
    #expect(start == prefix + "/studio/")
    for view in ["", "products", "products/1001", "products/a%2Fb", "documents/members/1/"] {
      let page = try await get(prefix + "/studio/" + view)
      #expect(page.status == 200)
      let links = page.text.matches(of: /(?:src|href)="([^"]+)"/).map { String($0.1) }
      #expect(links.count > 10)
      for link in links {
        let asset = try address(link, from: prefix + "/studio/" + view)
        #expect(asset.hasPrefix(prefix + "/studio/assets/"), "\(asset)")
        // All of them once.
        if view.isEmpty || link.contains("app.js") {
          #expect(try await get(asset).status == 200, "\(asset)")
        }
      }
    }
    let store = try await get(prefix + "/studio/api/store", [("Origin", origin)])
    #expect(store.json["program"]?.text == "catalogd", "\(store.text)")

    // Pages of other sites.
    for path in ["/studio/", "/studio/api/store"] {
      let foreign = try await get(prefix + path, [("Origin", "https://evil.example")])
      #expect(foreign.status == 403 && foreign.text.contains("http.names"), "\(foreign.text)")
    }
    let form = try await client.send(
      client.request(
        "POST", prefix + "/v1/scans", body: Array(#"{"code":"1"}"#.utf8),
        headers: [("Content-Type", "text/plain"), ("Origin", "https://evil.example")]))
    #expect(form.status == 403 || form.status == 415, "\(form.text)")
  }

  /// The path that a browser asks for at a link of a page.
  private func address(_ link: String, from path: String) throws -> String {
    let url = try #require(URL(string: link, relativeTo: URL(string: "http://host" + path))).absoluteURL
    // Foundation decodes `path`.
    return String(url.absoluteString.replacing(/^https?:\/\/[^\/]+/, with: ""))
  }

  /// An event arrives although nothing comes after it, packed or not.
  private func checkEvents(
    _ client: TestClient, prefix: String = "", origin: String, packed: Bool
  ) async throws {
    var listener = client
    if packed { listener.headers.append(("Accept-Encoding", "gzip")) }
    for path in ["/v1/events?kinds=scan", "/studio/api/events"] {
      try await listener.connect().executeThenClose { inbound, outbound in
        try await outbound.write(.init(bytes: listener.request("GET", prefix + path)))
        var iterator = inbound.makeAsyncIterator()
        var stream = try StreamedBody()
        // The beginning comes before anything happens.
        while !stream.text.contains("retry: 2000"), let buffer = try await iterator.next() {
          try stream.append(Array(buffer.readableBytesView))
        }
        #expect(stream.head.contains("text/event-stream"), "\(stream.head)")
        #expect(stream.head.lowercased().contains("cache-control: no-store, no-transform"), "\(stream.head)")
        if path.hasPrefix("/studio") { return }
        let headers = [(name: "Content-Type", value: "application/json"), ("Origin", origin)]
        let sent = try await client.send(
          client.request("POST", prefix + "/v1/scans", body: Array(#"{"code":"6901234567892"}"#.utf8), headers: headers)
        )
        #expect(sent.status == 200, "\(sent.text)")
        while !stream.text.contains("6901234567892"), let buffer = try await iterator.next() {
          try stream.append(Array(buffer.readableBytesView))
        }
        #expect(stream.text.contains("event: scan\ndata: {"), "\(stream.text)")
      }
    }
  }

  // MARK: nginx

  @Test(.enabled(if: ProxyProcess.nginx != nil, noNginx), arguments: [false, true])
  func `nginx at the root of a host`(compresses: Bool) async throws {
    let block = try ProxyPage.block("nginx", under: "At the root of a host")
    try await run(names: ["shop.example.org"]) { test, address in
      let proxy = try await ProxyProcess(nginx: block, ["127.0.0.1:8765": address], compresses: compresses)
      let client = client(proxy.socket, "shop.example.org")
      for origin in ["http://shop.example.org", "https://shop.example.org", "http://shop.example.org:8080"] {
        try await checkEvents(client, origin: origin, packed: compresses)
      }
      try await checkEverything(client, origin: "http://shop.example.org")
      // A page that nginx has packed is known by its weak tag.
      var packing = client
      packing.headers.append(("Accept-Encoding", "gzip"))
      let tag = try await tag(of: "/studio/assets/app.js", packing)
      #expect(tag.hasPrefix("W/") == compresses)
      let again = try await client.send(
        client.request("GET", "/studio/assets/app.js", headers: [("If-None-Match", tag)]))
      #expect(again.status == 304)
    }
  }

  private func tag(of path: String, _ client: TestClient) async throws -> String {
    try await client.connect().executeThenClose { inbound, outbound in
      try await outbound.write(.init(bytes: client.request("GET", path)))
      var stream = try StreamedBody()
      for try await buffer in inbound {
        try stream.append(Array(buffer.readableBytesView))
        if !stream.head.isEmpty { break }
      }
      let line = stream.head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("etag:") }
      return String(try #require(line).dropFirst(6))
    }
  }

  @Test(.enabled(if: ProxyProcess.nginx != nil, noNginx), arguments: [false, true])
  func `nginx below a path`(compresses: Bool) async throws {
    let block = try ProxyPage.block("nginx", under: "Below a path")
    try await run(names: ["example.org"]) { test, address in
      let proxy = try await ProxyProcess(nginx: block, ["127.0.0.1:8765": address], compresses: compresses)
      let client = client(proxy.socket, "example.org")
      try await checkEverything(client, prefix: "/shop", origin: "https://example.org")
      try await checkEvents(client, prefix: "/shop", origin: "https://example.org", packed: compresses)
      let moved = try await client.send(client.request("GET", "/shop"))
      #expect(moved.status == 301 && moved.headers["location"]?.hasSuffix("/shop/studio/") == true)
    }
  }

  @Test(.enabled(if: ProxyProcess.nginx != nil, noNginx))
  func `nginx before a Unix domain socket`() async throws {
    let block = try ProxyPage.block("nginx", under: "On a Unix socket")
    let directory = try TemporaryDirectory()
    try await run(names: ["shop.example.org"], socket: directory.path + "/http.sock") { test, path in
      let proxy = try await ProxyProcess(nginx: block, ["/run/catalogd/http.sock": path])
      let client = client(proxy.socket, "shop.example.org")
      try await checkEverything(client, origin: "http://shop.example.org")
      try await checkEvents(client, origin: "http://shop.example.org", packed: false)
    }
  }

  @Test(.enabled(if: ProxyProcess.nginx != nil && ProxyProcess.openssl != nil, noNginx))
  func `nginx with TLS`() async throws {
    let block = try ProxyPage.block("nginx", under: "With TLS")
    let directory = try TemporaryDirectory()
    let (certificate, key) = (directory.path + "/certificate", directory.path + "/key")
    _ = try openssl([
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
      "/CN=shop.example.org", "-addext", "subjectAltName=DNS:shop.example.org", "-keyout", key, "-out", certificate,
    ])
    try await run(names: ["shop.example.org"]) { test, address in
      let proxy = try await ProxyProcess(
        nginx: block,
        [
          "127.0.0.1:8765": address, "/etc/ssl/shop.example.org.pem": certificate,
          "/etc/ssl/shop.example.org.key": key,
        ])
      let client = client(proxy.socket, "shop.example.org", [("Connection", "close")])
      func ask(_ bytes: [UInt8]) throws -> TestAnswer {
        let answer = try openssl(
          [
            "s_client", "-quiet", "-unix", proxy.socket, "-servername", "shop.example.org", "-CAfile", certificate,
            "-verify_return_error", "-verify_hostname", "shop.example.org",
          ], input: bytes)
        return try #require(TestAnswer(answer), "\(String(decoding: answer, as: UTF8.self))")
      }
      let origin = (name: "Origin", value: "https://shop.example.org")
      #expect(try ask(client.request("GET", "/v1/scan/69%2F1")).text.contains(#""match":"exact""#))
      #expect(try ask(client.request("GET", "/studio/")).text.contains(#"src="assets/app.js""#))
      let body = Array(#"{"code":"1"}"#.utf8)
      // A page of another origin would have to say that this is JSON.
      #expect(try ask(client.request("POST", "/v1/scans", body: body, headers: [origin])).status == 200)
      let foreign = try ask(client.request("GET", "/studio/", headers: [("Origin", "https://evil.example")]))
      #expect(foreign.status == 403)
      // nginx passes the name on, and the daemon refuses one that it was not given.
      let other = try ask(client.request("GET", "/v1/status", headers: [("Host", "other.example")]))
      #expect(other.status == 403 && other.text.contains("other.example") && other.text.contains("http.names"))
    }
  }

  @Test(.enabled(if: ProxyProcess.nginx != nil && ProxyProcess.openssl != nil, noNginx))
  func `nginx asks for users and shows the daemon its token`() async throws {
    let block = try ProxyPage.block("nginx", under: "With users")
    let directory = try TemporaryDirectory()
    let users = directory.path + "/users"
    let hash = String(decoding: try openssl(["passwd", "-apr1", "pa:ss"]), as: UTF8.self)
    try "ana:\(hash)".write(toFile: users, atomically: true, encoding: .utf8)
    try await run(names: ["shop.example.org"], token: "s3cret") { test, address in
      let proxy = try await ProxyProcess(
        nginx: block, ["127.0.0.1:8765": address, "/etc/nginx/shelfmark.users": users, "TOKEN": "s3cret"])
      let known = (name: "Authorization", value: "Basic " + Data("ana:pa:ss".utf8).base64EncodedString())
      let client = client(proxy.socket, "shop.example.org", [known])
      try await checkEverything(client, origin: "https://shop.example.org")
      try await checkEvents(client, origin: "https://shop.example.org", packed: false)
      let stranger = self.client(proxy.socket, "shop.example.org")
      for path in ["/v1/status", "/studio/", "/healthz"] {
        #expect(try await stranger.send(stranger.request("GET", path)).status == 401)
      }
      #expect(try await client.send(client.request("GET", "/metrics")).status == 403)
      // Not through the proxy, but under its name: the metrics need the token.
      #expect(try await test.client.send(test.client.request("GET", "/metrics")).status == 401)
    }
  }

  // MARK: Caddy

  @Test(.enabled(if: ProxyProcess.caddy != nil, noCaddy), arguments: [false, true])
  func `Caddy at the root of a host`(compresses: Bool) async throws {
    let site = try ProxyPage.block("caddy", under: "Caddy at the root of a host")
    try await run(names: ["shop.example.org"]) { test, address in
      let proxy = try await ProxyProcess(caddy: site, ["127.0.0.1:8765": address])
      let client = client(proxy.socket, "shop.example.org")
      try await checkEverything(client, origin: "https://shop.example.org")
      try await checkEvents(client, origin: "https://shop.example.org", packed: compresses)
    }
  }

  @Test(.enabled(if: ProxyProcess.caddy != nil, noCaddy))
  func `Caddy below a path`() async throws {
    let site = try ProxyPage.block("caddy", under: "Caddy below a path")
    try await run(names: ["example.org"]) { test, address in
      let proxy = try await ProxyProcess(caddy: site, ["127.0.0.1:8765": address])
      let client = client(proxy.socket, "example.org")
      try await checkEverything(client, prefix: "/shop", origin: "https://example.org")
      try await checkEvents(client, prefix: "/shop", origin: "https://example.org", packed: true)
    }
  }

  @Test(.enabled(if: ProxyProcess.caddy != nil, noCaddy))
  func `Caddy before a Unix domain socket`() async throws {
    let site = try ProxyPage.block("caddy", under: "Caddy on a Unix socket")
    let directory = try TemporaryDirectory()
    try await run(names: ["shop.example.org"], socket: directory.path + "/http.sock") { test, path in
      let proxy = try await ProxyProcess(caddy: site, ["/run/catalogd/http.sock": path])
      let client = client(proxy.socket, "shop.example.org")
      try await checkEverything(client, origin: "https://shop.example.org")
      try await checkEvents(client, origin: "https://shop.example.org", packed: false)
    }
  }

  private func openssl(_ arguments: [String], input: [UInt8] = []) throws -> [UInt8] {
    let process = Process()
    process.executableURL = URL(filePath: try #require(ProxyProcess.openssl))
    process.arguments = arguments
    let (standardInput, output) = (Pipe(), Pipe())
    process.standardInput = standardInput
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    try standardInput.fileHandleForWriting.write(contentsOf: Data(input))
    if input.isEmpty { try standardInput.fileHandleForWriting.close() }
    let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return Array(bytes)
  }
}

/// The body of an answer while it arrives, without chunks and unpacked.
private struct StreamedBody: ~Copyable {
  private(set) var head = ""
  private var received: [UInt8] = []
  private var body: [UInt8] = []
  private var inflater: Inflater

  init() throws { inflater = try Inflater() }

  var text: String { String(decoding: body, as: UTF8.self) }

  mutating func append(_ bytes: [UInt8]) throws {
    received += bytes
    if head.isEmpty {
      guard let end = received.firstRange(of: Array("\r\n\r\n".utf8)) else { return }
      head = String(decoding: received[..<end.lowerBound], as: UTF8.self)
      received.removeSubrange(..<end.upperBound)
    }
    let lowered = head.lowercased()
    var fresh: [UInt8] = []
    if lowered.contains("transfer-encoding: chunked") {
      while let end = received.firstRange(of: Array("\r\n".utf8)) {
        let size = try #require(Int(String(decoding: received[..<end.lowerBound], as: UTF8.self), radix: 16))
        guard received.count >= end.upperBound + size + 2 else { break }
        fresh += received[end.upperBound..<end.upperBound + size]
        received.removeSubrange(..<(end.upperBound + size + 2))
        if size == 0 { break }
      }
    } else {
      (fresh, received) = (received, [])
    }
    guard lowered.contains("content-encoding: gzip") else { return body += fresh }
    var output = [UInt8](repeating: 0, count: 64 << 10)
    var offset = 0
    repeat {
      let step = inflater.run(fresh.span.extracting(offset..<fresh.count), into: &output)
      offset += step.consumed
      body += output[..<step.produced]
      if step.consumed == 0, step.produced == 0 { break }
    } while offset < fresh.count
  }
}
