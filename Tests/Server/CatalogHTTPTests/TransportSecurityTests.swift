import CatalogHTTP
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(10))) struct TransportSecurityTests {
  func fetch(_ url: String, change: (inout TransportOptions) -> Void) async throws -> FetchInfo {
    var options = TransportOptions()
    options.retry.maximumAttempts = 2
    change(&options)
    return try await HTTPTransport(url: url, options: options, environment: FakeTime().environment)
      .fetch(cursor: "") { _ in }
  }

  func withAuthorityFile<Result>(_ text: String, _ body: (String) async throws -> Result) async throws
    -> Result
  {
    let file = FileManager.default.temporaryDirectory.appending(path: "authority-\(UUID()).pem")
    try Data(text.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    return try await body(file.path)
  }

  @Test func `a certificate that nobody vouches for is refused and not tried again`() async throws {
    try await ScriptedServer.run(tls: true) { _, _ in
      [.answer(body: "hello")]
    } _: { server in
      let error = await #expect(throws: TransportError.self) {
        try await fetch(server.url(host: "localhost", scheme: "https")) { _ in }
      }
      guard case .insecure(_, let reason) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(server.requests.isEmpty)
      #expect(reason == "the server's certificate is signed by an authority that is not trusted here")
      #expect("\(error!)".contains("the file of the company's authority"), "\(error!)")
    }
  }

  @Test func `a company's own authority is trusted when it is named`() async throws {
    try await ScriptedServer.run(tls: true) { _, _ in
      [.answer(body: "hello")]
    } _: { server in
      let info = try await withAuthorityFile(TestCertificate.certificate) { path in
        try await fetch(server.url(host: "localhost", scheme: "https")) { $0.certificateAuthorityFile = path }
      }
      #expect(info.byteCount == 5)
    }
  }

  @Test func `a certificate for another name is refused`() async throws {
    try await ScriptedServer.run(tls: true) { _, _ in
      [.answer(body: "hello")]
    } _: { server in
      let error = try await withAuthorityFile(TestCertificate.certificate) { path in
        await #expect(throws: TransportError.self) {
          try await fetch(server.url(host: "127.0.0.1", scheme: "https")) {
            $0.certificateAuthorityFile = path
          }
        }
      }
      guard case .insecure(_, let reason) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(reason == "the server's certificate is for another host name than 127.0.0.1")
    }
  }

  @Test func `a port that speaks no TLS is told in a sentence`() async throws {
    try await ScriptedServer.run { _, _ in
      [.answer(body: "hello")]
    } _: { server in
      // What it says to bytes that are no request.
      let error = await #expect(throws: TransportError.self) {
        try await fetch(server.url(host: "localhost", scheme: "https")) {
          $0.idleTimeout = .milliseconds(200)
          $0.connectTimeout = .milliseconds(300)
        }
      }
      switch error {
      case .timedOut, .unreachable, .insecure: #expect(!"\(error!)".contains("BoringSSL"))
      default: Issue.record("\(String(describing: error))")
      }
    }
  }

  @Test func `a certificate that is no longer valid is told with its last day`() async throws {
    try await ScriptedServer.run(tls: true, isExpired: true) { _, _ in
      [.answer(body: "hello")]
    } _: { server in
      for authority in [TestCertificate.expired, TestCertificate.certificate] {
        let error = try await withAuthorityFile(authority) { path in
          await #expect(throws: TransportError.self) {
            try await fetch(server.url(host: "localhost", scheme: "https")) { $0.certificateAuthorityFile = path }
          }
        }
        guard case .insecure(_, let reason) = error else {
          Issue.record("\(String(describing: error))")
          return
        }
        #expect(reason == "the server's certificate expired on 2021-01-01")
      }
    }
  }

  @Test func `verification can be turned off`() async throws {
    try await ScriptedServer.run(tls: true) { _, _ in
      [.answer(body: "hello")]
    } _: { server in
      let info = try await fetch(server.url(scheme: "https")) { $0.verifiesCertificates = false }
      #expect(info.byteCount == 5)
    }
  }

  @Test func `an authority file that is missing or no PEM is named`() async throws {
    for (path, words) in [
      ("/nonexistent/authority.pem", "no such file"), ("/dev/null", "holds no certificate"), ("/etc/passwd", "PEM"),
    ] {
      let error = await #expect(throws: TransportError.self) {
        try await fetch("https://localhost:1/") { $0.certificateAuthorityFile = path }
      }
      guard case .certificateFile(path, let reason) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(reason.contains(words), "\(reason)")
    }
  }
}
