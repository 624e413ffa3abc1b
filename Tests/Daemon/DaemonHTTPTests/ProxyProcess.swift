import Foundation
import StoreTestSupport
import Testing
import WaitingTestSupport

/// A proxy that runs with a configuration of Documentation/Operations/BehindAProxy.md, and listens on a socket.
final class ProxyProcess {
  static let nginx = program("nginx")
  static let caddy = program("caddy")
  static let openssl = program("openssl")

  /// The socket that it listens on.
  let socket: String
  private let directory: TemporaryDirectory
  private let process = Process()

  /// Starts nginx with one or more `server` and `map` blocks.
  ///
  /// - Parameters:
  ///   - blocks: The configuration.
  ///   - replacements: What stands for what in it, such as the address of the daemon.
  ///   - compresses: Whether it packs everything.
  init(nginx blocks: String, _ replacements: [String: String] = [:], compresses: Bool = false) async throws {
    directory = try TemporaryDirectory()
    socket = directory.path + "/front"
    var text = Self.replacing(blocks, replacements)
    for port in ["80", "443 ssl"] {
      let ssl = port.dropFirst(3)
      text = text.replacing("listen \(port);", with: "listen unix:\(socket)\(ssl);")
    }
    let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
      "\($0)_temp_path \(directory.path)/\($0);"
    }
    let gzip = compresses ? "gzip on; gzip_types *; gzip_min_length 1; gzip_proxied any;" : ""
    let file = directory.path + "/nginx.conf"
    try """
    daemon off;
    worker_processes 1;
    pid \(directory.path)/pid;
    error_log stderr;
    \(getuid() == 0 ? "user root;" : "")
    events {}
    http {
      access_log off;
      \(folders.joined(separator: "\n"))
      \(gzip)
      \(text)
    }
    """.write(toFile: file, atomically: true, encoding: .utf8)
    try await start(try #require(Self.nginx), ["-p", directory.path, "-c", file, "-e", "stderr"])
  }

  /// Starts Caddy with one site.
  init(caddy site: String, _ replacements: [String: String] = [:]) async throws {
    directory = try TemporaryDirectory()
    socket = directory.path + "/front"
    let text = Self.replacing(site, replacements)
      .replacing(/^(\S+) \{/.anchorsMatchLineEndings()) { match in
        "http://\(match.1) {\n\tbind unix/\(socket)"
      }
    let file = directory.path + "/Caddyfile"
    try "{\n\tadmin off\n\tauto_https off\n}\n\(text)\n".write(toFile: file, atomically: true, encoding: .utf8)
    try await start(
      try #require(Self.caddy), ["run", "--config", file, "--adapter", "caddyfile"],
      environment: ["HOME": directory.path, "PATH": "/usr/bin:/bin"])
  }

  deinit {
    process.terminate()
    process.waitUntilExit()
  }

  private func start(_ program: String, _ arguments: [String], environment: [String: String]? = nil) async throws {
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    if let environment { process.environment = environment }
    let log = directory.path + "/log"
    _ = FileManager.default.createFile(atPath: log, contents: nil)
    process.standardInput = FileHandle.nullDevice
    process.standardError = FileHandle(forWritingAtPath: log)
    process.standardOutput = process.standardError
    try process.run()
    let client = TestClient(place: .socket(socket))
    try await eventually("the proxy listens") {
      guard process.isRunning else {
        throw TestClient.Failure(words: (try? String(contentsOfFile: log, encoding: .utf8)) ?? "it ends")
      }
      guard FileManager.default.fileExists(atPath: socket) else { return false }
      do { try await client.connect().executeThenClose { _, _ in } } catch { return false }
      return true
    }
  }

  private static func program(_ name: String) -> String? {
    ["/usr/sbin/", "/usr/bin/", "/usr/local/bin/", "/usr/local/sbin/"].map { $0 + name }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Each text has to occur, so that a change of the page does not go unnoticed.
  private static func replacing(_ text: String, _ replacements: [String: String]) -> String {
    var text = text
    for (old, new) in replacements {
      #expect(text.contains(old), "the configuration has no \(old)")
      text = text.replacing(old, with: new)
    }
    return text
  }
}

/// The configurations of Documentation/Operations/BehindAProxy.md.
enum ProxyPage {
  /// The block of a language under a heading.
  static func block(_ language: String, under heading: String) throws -> String {
    let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appending(
        path: "Documentation/Operations/BehindAProxy.md")
    let page = try String(contentsOf: file, encoding: .utf8)
    let section = try #require(page.firstRange(of: "### \(heading)\n"), "there is no section \(heading)")
    let rest = page[section.upperBound...]
    let fence = try #require(rest.firstRange(of: "```\(language)\n"))
    let body = rest[fence.upperBound...]
    return String(body[..<(try #require(body.firstRange(of: "```"))).lowerBound])
  }
}
