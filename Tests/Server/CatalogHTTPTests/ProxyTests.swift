import CatalogHTTP
import Foundation
import Testing

/// Fetches through a proxy on loopback, of servers that only the proxy can find.
@Suite(.timeLimit(.minutes(10))) struct ProxyTests {
  private func fetch(
    _ url: String, _ environment: [String: String], change: (inout TransportOptions) -> Void = { _ in }
  ) async throws -> FetchInfo {
    var options = TransportOptions()
    options.retry.maximumAttempts = 1
    options.proxies = ProxyRules(environment: environment)
    change(&options)
    return try await HTTPTransport(url: url, options: options, environment: FakeTime().environment)
      .fetch(cursor: "day 1") { _ in }
  }

  @Test func `a request for http names the whole URL to the proxy`() async throws {
    try await ScriptedServer.run { _, _ in
      [.answer(body: "hello")]
    } _: { proxy in
      let info = try await fetch(
        "http://catalogue.invalid:8080/c?site=7", ["http_proxy": "http://ann:secret@127.0.0.1:\(proxy.port)"]
      ) { $0.authorization = "Bearer abc" }
      #expect(info.byteCount == 5)
      let head = try #require(proxy.requests.first).lowercased()
      #expect(head.hasPrefix("get http://catalogue.invalid:8080/c?site=7&updatetime=day%201 http/1.1\r\n"))
      #expect(head.contains("\r\nhost: catalogue.invalid:8080\r\n"))
      #expect(head.contains("\r\nproxy-authorization: basic yw5uonnly3jlda=="))
      #expect(head.contains("\r\nauthorization: bearer abc\r\n"))
      #expect(head.components(separatedBy: "host:").count == 2)
    }
  }

  @Test func `a server that no_proxy names is asked directly`() async throws {
    try await ScriptedServer.run { _, _ in
      [.answer(body: "hello")]
    } _: { server in
      let info = try await fetch(
        server.url("/c"), ["HTTP_PROXY": "http://127.0.0.1:1", "NO_PROXY": "localhost,127.0.0.0/8"])
      #expect(info.url == server.url("/c"))
      #expect(try #require(server.requests.first).hasPrefix("GET /c?updateTime="))
    }
  }

  @Test func `a request for https goes through a tunnel, and the proxy sees nothing of it`() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "authority-\(UUID()).pem")
    try Data(TestCertificate.certificate.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    try await ScriptedServer.run(tls: true) { _, _ in
      [.answer(body: "hello")]
    } _: { server in
      try await Tunnel.run(to: server.port) { tunnel in
        let info = try await fetch(
          "https://localhost:7/c", ["https_proxy": "http://ann:secret@127.0.0.1:\(tunnel.port)"]
        ) {
          $0.certificateAuthorityFile = file.path
          $0.authorization = "Bearer abc"
        }
        #expect(info.byteCount == 5)
        let head = try #require(tunnel.requests.first).lowercased()
        #expect(head.hasPrefix("connect localhost:7 http/1.1\r\n") && !head.contains("bearer"))
        #expect(head.contains("proxy-authorization: basic yw5uonnly3jlda=="))
        #expect(try #require(server.requests.first).contains("Authorization: Bearer abc"))
      }
    }
  }

  @Test(arguments: [("407 Authentication Required", "user and password"), ("403 Forbidden", "refused to connect")])
  func `what a proxy says against a tunnel is told as the proxy's`(status: String, words: String) async throws {
    try await Tunnel.run(to: 1, answer: "HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n") { tunnel in
      let error = await #expect(throws: TransportError.self) {
        try await fetch("https://localhost:7/c", ["https_proxy": "127.0.0.1:\(tunnel.port)"])
      }
      let text = String(describing: error!)
      #expect(text.contains(words) && text.contains("through the proxy 127.0.0.1:\(tunnel.port)"), "\(text)")
    }
  }

  @Test func `what is wrong with the encryption to a proxy is told as the proxy's`() async throws {
    try await ScriptedServer.run(tls: true) { _, _ in
      [.answer(body: "hello")]
    } _: { proxy in
      let error = await #expect(throws: TransportError.self) {
        try await fetch("http://localhost:7/c", ["http_proxy": "https://localhost:\(proxy.port)"])
      }
      let text = String(describing: error!)
      #expect(text.contains("no secure connection: the proxy's certificate is signed by"), "\(text)")
    }
  }

  @Test func `a proxy that is not there is told with its address`() async throws {
    let error = await #expect(throws: TransportError.self) {
      try await fetch("http://catalogue.invalid/c", ["http_proxy": "127.0.0.1:1"])
    }
    guard case .unreachable(let url, _, _)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(url == "http://catalogue.invalid/c (through the proxy 127.0.0.1:1)")
  }

  @Test func `a redirect to https takes the proxy for https`() async throws {
    try await ScriptedServer.run { _, _ in
      [.answer("301 Moved", headers: ["Location: https://catalogue.invalid/c"])]
    } _: { proxy in
      try await Tunnel.run(to: 1, answer: "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n") { tunnel in
        await #expect(throws: TransportError.self) {
          try await fetch(
            "http://catalogue.invalid/c",
            ["http_proxy": "127.0.0.1:\(proxy.port)", "https_proxy": "127.0.0.1:\(tunnel.port)"])
        }
        #expect(tunnel.requests.count == 1)
      }
    }
  }
}
