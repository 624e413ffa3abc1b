import Foundation
import StoreTestSupport
import Testing
import Workspace

@testable import DaemonHTTP
@testable import ScanDaemon

/// Requests about a user whose stores are sealed.
@Suite(.timeLimit(.minutes(10))) struct SealedRequestTests {
  private func ask(_ test: TestDaemon, _ target: String) async throws -> TestAnswer {
    try await test.client.send(test.client.request("GET", target))
  }

  @Test
  func `the studio and the API show a sealed user with the key, and say without it that there is none`() async throws {
    let folder = try TemporaryDirectory()
    let path = folder.path + "/key"
    let hexadecimal = String(repeating: "01", count: 32)
    try (hexadecimal + "\n").write(toFile: path, atomically: true, encoding: .utf8)
    let key = KeySource.command("cat '\(path)'")
    try await TestDaemon.run({ options, _ in options.key = key }) { test in
      _ = try test.daemon.directory.seal("ana")
      #expect(try await ask(test, "/studio/api/scan?code=6901234567892").text.contains(#""match":"exact""#))
      #expect(try await ask(test, "/studio/api/products.ndjson").status == 200)
      try await test.exchange("GET", "/v1/scan/6901234567892")
    }
    try await TestDaemon.run { test in
      var directory = WorkspaceDirectory(root: test.daemon.root)
      directory.key = key
      _ = try directory.seal("ana")
      for answer in [
        try await ask(test, "/studio/api/scan?code=6901234567892"),
        try await ask(test, "/v1/scan/6901234567892"),
      ] {
        #expect(answer.status == 503 && answer.text.contains("no key was given"), "\(answer.text)")
      }
      let status = try await ask(test, "/v1/status").text
      #expect(status.contains("key_unavailable"))
    }
  }
}
