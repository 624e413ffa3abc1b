import Catalog
import Foundation
import MetricsTestKit
import ScanInputs
import Testing
import UploadQueue
import WaitingTestSupport
import Workspace

@testable import ScanDaemon

/// Users whose stores are sealed.
@Suite(.timeLimit(.minutes(5))) struct SealedUserTests {
  private let root = TestRoot()
  private let receiver = Receiver()
  private let server = CatalogueServer()
  private let clock = TestClock()
  private let metrics = TestMetrics()

  init() throws {
    try FileManager.default.createDirectory(atPath: root.path, withIntermediateDirectories: true)
    try root.fill("ana")
  }

  private var keyPath: String { root.path + "/the.key" }

  /// Puts a key into the file of the key.
  private func putKey(_ byte: UInt8) throws -> KeySource {
    try Data([UInt8](repeating: byte, count: 32)).write(to: URL(fileURLWithPath: keyPath))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keyPath)
    return .keyFile(keyPath)
  }

  private func removeKey() throws { try FileManager.default.removeItem(atPath: keyPath) }

  /// The stores, as another process opens them.
  private func other(_ key: KeySource?) -> WorkspaceDirectory {
    var directory = root.directory
    directory.key = key
    return directory
  }

  private func daemon(
    _ key: KeySource?, hooks: Bool = false, syncs: Bool = false, user: String = "ana"
  ) throws -> Daemon {
    var environment = receiver.environment(clock.environment)
    environment.metrics = metrics
    server.serve(&environment)
    return try root.daemon(user: user, environment) { options in
      options.key = key
      if hooks { options.hook("shop") }
      if syncs { options.sync = SyncOptions(url: "http://127.0.0.1:1/catalogue") }
    }
  }

  private func scan(_ code: String, _ daemon: Daemon) async -> ScanAnswer {
    await daemon.scan(Reading(input: "till", code: code))
  }

  private func answers(_ daemon: Daemon) throws -> Bool { try !daemon.look("6901").match.products.isEmpty }

  /// The value of the metric of a problem.
  private func problemGauge(_ code: ProblemCode) throws -> Double? {
    try metrics.expectRecorder("shelfmark_problem", [("code", code.rawValue)]).lastValue
  }

  /// The files of a user that have a text in clear.
  private func files(with text: String, _ id: String = "ana") throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: root.path).filter { $0.hasPrefix("users/\(id)/") }.filter {
      let data = FileManager.default.contents(atPath: root.path + "/" + $0) ?? Data()
      return data.range(of: Data(text.utf8)) != nil
    }
  }

  private func message(_ code: ProblemCode, _ daemon: Daemon) throws -> (message: String, remedy: String)? {
    let problem = try daemon.status().value["problems"]?.elements?.first { $0["code"]?.text == code.rawValue }
    return problem.map { ($0["message"]?.text ?? "", $0["remedy"]?.text ?? "") }
  }

  // MARK: Sealing while it runs

  @Test
  func `a user that is sealed while the daemon runs is answered on, and all that follows is sealed`() async throws {
    let key = try putKey(1)
    let daemon = try daemon(key, hooks: true)
    #expect(await !scan("6901", daemon).isFailed)
    #expect(await !scan("secret-1", daemon).isFailed)
    await daemon.recorder.flush()
    try daemon.workspace.stores().settings.set(.lastSynchronization, to: 1)
    #expect(try !files(with: "secret-1").isEmpty)
    _ = try other(key).seal("ana")
    #expect(try files(with: "secret-1").isEmpty)
    #expect(try root.directory.isSealed("ana"))
    for code in ["6902", "secret-2"] {
      let answer = await scan(code, daemon)
      #expect(!answer.isFailed && answer.lookup == .done)
    }
    await daemon.recorder.flush()
    #expect(try answers(daemon) && daemon.misses(limit: 10).count == 2 && daemon.queue().uploads().count == 4)
    #expect(try daemon.workspace.stores().settings.get(.lastSynchronization) == 1)
    #expect(try daemon.problemNames().isEmpty)
    #expect(try files(with: "secret-").isEmpty && root.directory.isSealed("ana"))
  }

  @Test func `a store that a daemon makes after its user was sealed is sealed`() async throws {
    let key = try putKey(1)
    let daemon = try daemon(key, hooks: true)
    // The documents are open, and have no file yet.
    #expect(try daemon.queue().uploads().isEmpty)
    let documents = root.path + "/users/ana/documents.log"
    #expect(!FileManager.default.fileExists(atPath: documents))
    _ = try other(key).seal("ana")
    #expect(await !scan("secret-1", daemon).isFailed)
    #expect(FileManager.default.fileExists(atPath: documents))
    #expect(try root.directory.isSealed("ana") && files(with: "secret-1").isEmpty)
  }

  @Test func `another data key is followed, and nothing is written with the former one`() async throws {
    let key = try putKey(1)
    _ = try other(key).seal("ana")
    let daemon = try daemon(key, hooks: true)
    #expect(await !scan("6901", daemon).isFailed)
    let newPath = root.path + "/new.key"
    try Data([UInt8](repeating: 2, count: 32)).write(to: URL(fileURLWithPath: newPath))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: newPath)
    _ = try other(key).rekey("ana", to: .keyFile(newPath), replacesDataKey: true)
    // The daemon has the former key only.
    let answer = await scan("6902", daemon)
    #expect(answer.isFailed)
    #expect(try daemon.problemNames() == ["key_wrong ana"])
    _ = try putKey(2)
    await daemon.renewKey()
    #expect(await !scan("6902", daemon).isFailed)
    #expect(try daemon.problemNames().isEmpty)
    _ = try other(key).keys(of: "ana")
    let stores = try other(.keyFile(newPath)).catalogue(of: "ana")
    #expect(try CatalogReader.open(#require(stores)) != nil)
  }

  @Test func `a user that is sealed while a daemon without a key runs is told of`() async throws {
    let key = try putKey(1)
    let daemon = try daemon(nil)
    #expect(try answers(daemon))
    _ = try other(key).seal("ana")
    let answer = await scan("6901", daemon)
    guard case .unreadable(let words) = answer.lookup else {
      Issue.record("\(answer.lookup)")
      return
    }
    #expect(words.contains("no key was given"))
    #expect(try daemon.problemNames() == ["key_unavailable ana"])
  }

  // MARK: Missing and wrong keys

  @Test func `a missing key is told of, and found when it is there`() async throws {
    let key = try putKey(1)
    _ = try other(key).seal("ana")
    try removeKey()
    let daemon = try daemon(key, hooks: true)
    let answer = await scan("6901", daemon)
    #expect(answer.isFailed)
    guard case .unreadable(let words) = answer.lookup else {
      Issue.record("\(answer.lookup)")
      return
    }
    #expect(words.contains("key") && words.contains(keyPath))
    #expect(throws: WorkspaceError.self) { try daemon.look("6901") }
    #expect(daemon.unreadiness?.contains("key") == true)
    #expect(try daemon.problemNames() == ["key_unavailable ana"])
    #expect(try message(.keyUnavailable, daemon)?.message.contains("no such file") == true)
    #expect(try message(.keyUnavailable, daemon)?.remedy.contains("sealing.keyFile") == true)
    #expect(try problemGauge(.keyUnavailable) == 1)
    // Who is signed in is known without a key, and another user is answered.
    try root.fill("bo")
    try await daemon.signIn("bo")
    #expect(try answers(daemon))
    try await daemon.signIn("ana")
    _ = try putKey(1)
    try await withServices(daemon) {
      // It is read again by itself.
      try await eventually("the key is read") {
        clock.advance(by: .seconds(5))
        return try daemon.problemNames().isEmpty
      }
      #expect(try answers(daemon))
      #expect(await !scan("6901", daemon).isFailed)
      try await eventually("the metric says so") { try problemGauge(.keyUnavailable) == 0 }
    }
  }

  @Test func `a wrong key is told from a missing one, and SIGHUP takes the right one`() async throws {
    let key = try putKey(1)
    _ = try other(key).seal("ana")
    _ = try putKey(9)
    let daemon = try daemon(key)
    #expect(throws: WorkspaceError.self) { try daemon.look("6901") }
    #expect(try daemon.problemNames() == ["key_wrong ana"])
    #expect(try message(.keyWrong, daemon)?.message.contains("another key") == true)
    #expect(try problemGauge(.keyWrong) == 1 && problemGauge(.catalogueUnreadable) == 0)
    _ = try putKey(1)
    #expect(throws: WorkspaceError.self) { try daemon.look("6901") }
    await daemon.renewKey()
    #expect(try answers(daemon) && daemon.problemNames().isEmpty)
    #expect(try problemGauge(.keyWrong) == 0)
  }

  @Test func `a key that opens goes on while the one that is read again does not`() async throws {
    let key = try putKey(1)
    _ = try other(key).seal("ana")
    let daemon = try daemon(key)
    #expect(try answers(daemon))
    for (isWrong, name) in [(true, "key_wrong ana"), (false, "key_unavailable ana")] {
      if isWrong { _ = try putKey(9) } else { try removeKey() }
      await daemon.renewKey()
      #expect(try answers(daemon))
      #expect(await !scan("6901", daemon).isFailed)
      #expect(try daemon.problemNames() == [name])
      #expect(try message(isWrong ? .keyWrong : .keyUnavailable, daemon)?.message.contains("goes on") == true)
    }
    _ = try putKey(1)
    await daemon.renewKey()
    #expect(try answers(daemon) && daemon.problemNames().isEmpty)
  }

  @Test func `a lost file of keys is told of`() async throws {
    let key = try putKey(1)
    _ = try other(key).seal("ana")
    try FileManager.default.removeItem(atPath: root.path + "/users/ana/user.keys")
    let daemon = try daemon(key)
    #expect(throws: (any Error).self) { try daemon.look("6901") }
    #expect(try daemon.problemNames() == ["key_unavailable ana"])
    #expect(try message(.keyUnavailable, daemon)?.message.contains("from a backup") == true)
  }

  @Test func `a command that fails does not keep scans waiting`() async throws {
    let key = try putKey(1)
    _ = try other(key).seal("ana")
    let daemon = try daemon(.command("sleep 0.2; echo called >>\(root.path)/calls; exit 3"))
    let start = ContinuousClock.now
    for _ in 0..<50 {
      guard case .unreadable = await scan("6901", daemon).lookup else {
        Issue.record("it was answered")
        return
      }
    }
    // The command took longer than that once.
    let calls = try String(contentsOfFile: root.path + "/calls", encoding: .utf8)
    #expect(calls == "called\n" && ContinuousClock.now - start < .seconds(100))
    #expect(try message(.keyUnavailable, daemon)?.message.contains("exit code 3") == true)
  }

  // MARK: What else goes on

  @Test func `a sealed user is synchronised, in full and by increments, and uploads are sent`() async throws {
    let key = try putKey(1)
    _ = try other(key).seal("ana")
    server.change(0..<10)
    let daemon = try daemon(key, hooks: true, syncs: true)
    try await withServices(daemon) {
      #expect(try await daemon.sync.syncNow(full: true).update.mode == .full)
      #expect(try daemon.look("6903").match.products.first?.name == "3 as of 2")
      server.change(3..<5)
      #expect(try await daemon.sync.syncNow().update.mode == .incremental)
      #expect(try daemon.look("6903").match.products.first?.name == "3 as of 3")
      #expect(await !scan("6903", daemon).isFailed)
      try await eventually("it is sent") { receiver.codes == ["6903"] }
    }
    #expect(try root.directory.isSealed("ana") && files(with: " as of ").isEmpty && files(with: "6903").isEmpty)
    #expect(try other(key).store("documents", of: "ana")?.isSealed() == true)
  }

  @Test func `a sealed user who is not signed in has uploads that are sent, or a problem of the key`() async throws {
    let key = try putKey(1)
    do {
      let daemon = try daemon(key, hooks: true)
      #expect(await !scan("6901", daemon).isFailed)
    }
    _ = try other(key).seal("ana")
    try removeKey()
    try root.directory.signIn("bo")
    let daemon = try daemon(key, hooks: true, user: "bo")
    try await withServices(daemon) {
      try await eventually("it is told") { try daemon.problemNames().contains("key_unavailable ana") }
      _ = try putKey(1)
      await daemon.renewKey()
      try await eventually("it is sent") {
        clock.advance(by: .seconds(60))
        return receiver.codes == ["6901"]
      }
      try await eventually("the problem ends") { try !daemon.problemNames().contains("key_unavailable ana") }
    }
  }

  @Test func `a backup of a sealed user is made while the daemon runs, and opens with the key`() async throws {
    let key = try putKey(1)
    _ = try other(key).seal("ana")
    let daemon = try daemon(key, hooks: true)
    #expect(await !scan("6901", daemon).isFailed)
    let copy = root.path + "-backup"
    defer { try? FileManager.default.removeItem(atPath: copy) }
    _ = try other(key).backUp(to: copy, .user("ana"), program: "test")
    #expect(await !scan("6902", daemon).isFailed)
    let restored = other(key).elsewhere(copy)
    let reader = try CatalogReader.open(#require(try restored.catalogue(of: "ana")))
    #expect(try reader?.snapshot().productCount == 10)
    #expect(try restored.isSealed("ana"))
  }
}
