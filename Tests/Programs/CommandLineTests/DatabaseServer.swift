import Foundation
import Testing

/// A PostgreSQL server of its own for a test, which listens on a socket in a temporary directory.
///
/// It refuses to run as root, so a test that root runs gives it to the user nobody.
final class DatabaseServer {
  /// The directory of the newest server program; `nil` if there is none.
  static let programs: String? = {
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
    let folders = versions.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map { "/usr/lib/postgresql/\($0)/bin" }
    return folders.first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }
  }()

  private let folder: String
  private var server: Process?

  /// The address of its database.
  var url: String { "postgresql://shop@/shop?host=\(folder)" }

  /// Makes and starts a server with a database `shop`, and runs `statements` in it.
  init(_ statements: String) throws {
    folder = FileManager.default.temporaryDirectory.path + "/shelfmark-database-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    if getuid() == 0 { try run(["chown", "nobody", folder]) }
    try run(
      asUser("initdb", ["-D", folder + "/data", "-U", "shop", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]))
    try start()
    try run([Self.program("createdb"), "-h", folder, "-U", "shop", "shop"])
    try execute(statements)
  }

  deinit {
    stop()
    try? FileManager.default.removeItem(atPath: folder)
  }

  func start() throws {
    let server = Process()
    let words = asUser(
      "postgres", ["-D", folder + "/data", "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"])
    server.executableURL = URL(filePath: "/usr/bin/env")
    server.arguments = words
    server.currentDirectoryURL = URL(filePath: "/")
    server.standardOutput = FileHandle.nullDevice
    server.standardError = FileHandle.nullDevice
    try server.run()
    self.server = server
    let deadline = ContinuousClock.now + .seconds(300)
    while (try? run([Self.program("pg_isready"), "-q", "-h", folder])) == nil {
      try #require(server.isRunning && ContinuousClock.now < deadline, "PostgreSQL does not start")
      Thread.sleep(forTimeInterval: 0.05)
    }
  }

  func stop() {
    guard let server, server.isRunning else { return }
    // A fast shutdown, which ends connections.
    kill(server.processIdentifier, SIGINT)
    server.waitUntilExit()
  }

  /// Runs statements; returns what they print, without heads.
  @discardableResult
  func execute(_ statements: String) throws -> String {
    try run([
      Self.program("psql"), "-qtA", "-v", "ON_ERROR_STOP=1", "-h", folder, "-U", "shop", "-d", "shop", "-c", statements,
    ])
  }

  private static func program(_ name: String) -> String { (programs ?? "") + "/" + name }

  private func asUser(_ program: String, _ arguments: [String]) -> [String] {
    let words = [Self.program(program)] + arguments
    return getuid() == 0 ? ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] + words : words
  }

  @discardableResult
  private func run(_ words: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = words
    process.currentDirectoryURL = URL(filePath: "/")
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let reason = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw CocoaError(.fileWriteUnknown, userInfo: [NSLocalizedDescriptionKey: "\(words.first ?? ""): \(reason)"])
    }
    return text.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
