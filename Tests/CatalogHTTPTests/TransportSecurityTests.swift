import CatalogHTTP
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(1))) struct TransportSecurityTests {
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
      guard case .insecure = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(server.requests.isEmpty)
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
      guard case .insecure = error else {
        Issue.record("\(String(describing: error))")
        return
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
    for path in ["/nonexistent/authority.pem", "/dev/null"] {
      let error = await #expect(throws: TransportError.self) {
        try await fetch("https://localhost:1/") { $0.certificateAuthorityFile = path }
      }
      guard case .certificateFile(path, _) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
  }
}
