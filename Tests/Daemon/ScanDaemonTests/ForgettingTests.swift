import Documents
import Essentials
import Foundation
import ScanInputs
import Synchronization
import Testing
import UploadQueue
import WaitingTestSupport
import Workspace

@testable import ScanDaemon

@Suite(.timeLimit(.minutes(10))) struct ForgettingTests {
  let root = TestRoot()
  let receiver = Receiver()

  init() throws { try root.fill("ana") }

  /// A wall clock and one that only goes forward, which a test moves.
  private final class Clocks: Sendable {
    private let state = Mutex((now: Int64(1_800_000_000_000_000), uptime: Duration.seconds(100)))
    func advance(days: Double) {
      state.withLock { state in
        state.now += Int64(days * 86_400e6)
        state.uptime += .seconds(days * 86_400)
      }
    }
    func set(byDays days: Double) { state.withLock { $0.now += Int64(days * 86_400e6) } }
    var environment: DaemonEnvironment {
      var environment = DaemonEnvironment()
      environment.time.now = { self.state.withLock { $0.now } }
      environment.uptime = { self.state.withLock { $0.uptime } }
      return environment
    }
  }

  private func daemon(_ clocks: Clocks) throws -> Daemon {
    try root.daemon(clocks.environment) { options in
      options.hook("shop")
      options.forgetting.uploads = .seconds(10 * 86_400)
      options.forgetting.misses = .seconds(5 * 86_400)
      options.forgetting.sessions = .seconds(5 * 86_400)
    }
  }

  private func bytes() throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: root.path + "/users/ana/documents.log"))
  }

  @Test func `what is too old goes, with its bytes, and is counted`() async throws {
    let clocks = Clocks()
    let daemon = try daemon(clocks)
    let session = try await daemon.sessions.open(name: "ANA-SESSION", input: nil)
    try await daemon.sessions.add(["SECRET-CODE"], to: session.id)
    _ = try await daemon.sessions.close(session.id)
    _ = await daemon.scan(Reading(input: "a", code: "SECRET-UPLOAD"))
    await daemon.recorder.flush()
    #expect(try daemon.misses(limit: 10).map(\.id) == ["SECRET-UPLOAD"])
    let forgetting = daemon.forgetting
    await forgetting.check()
    clocks.advance(days: 6)
    await forgetting.check()
    #expect(try daemon.misses(limit: 10).isEmpty && daemon.sessions.list().isEmpty)
    #expect(try root.uploads().count == 1)
    #expect(try bytes().range(of: Data("ANA-SESSION".utf8)) == nil)
    #expect(try bytes().range(of: Data("SECRET-CODE".utf8)) == nil)
    _ = await daemon.scan(Reading(input: "a", code: "young"))
    clocks.advance(days: 5)
    await forgetting.check()
    #expect(try root.uploads().map(\.code) == ["young"])
    #expect(try daemon.queue().counts().expired == 1)
    #expect(try bytes().range(of: Data("SECRET-UPLOAD".utf8)) == nil)
    #expect(try daemon.problemNames().contains("forgetting_failing") == false)
  }

  @Test func `a clock that was set makes nothing old, in either direction`() async throws {
    let clocks = Clocks()
    let daemon = try daemon(clocks)
    _ = await daemon.scan(Reading(input: "a", code: "kept"))
    // Right after the start nothing is known of the clock.
    clocks.set(byDays: 27_000)
    await daemon.forgetting.check()
    #expect(try root.uploads().count == 1)
    clocks.set(byDays: -27_000)
    await daemon.forgetting.check()
    clocks.set(byDays: 27_000)
    await daemon.forgetting.check()
    #expect(try root.uploads().count == 1)
    clocks.set(byDays: -27_000)
    await daemon.forgetting.check()
    clocks.advance(days: 1.0 / 24)
    await daemon.forgetting.check()
    #expect(try root.uploads().count == 1)
    clocks.advance(days: 11)
    await daemon.forgetting.check()
    #expect(try root.uploads().isEmpty)
  }

  @Test func `uploads of users who are not signed in are given up as well`() async throws {
    let clocks = Clocks()
    let daemon = try daemon(clocks)
    _ = await daemon.scan(Reading(input: "a", code: "of ana"))
    try await daemon.signIn("bob")
    await daemon.forgetting.check()
    clocks.advance(days: 11)
    await daemon.forgetting.check()
    #expect(try root.uploads("ana").isEmpty)
  }

  @Test func `a session that another process removed holds its input no longer`() async throws {
    let daemon = try root.daemon(receiver.environment()) { $0.hook("shop") }
    _ = try await daemon.sessions.open(name: nil, input: "a")
    let store = try DocumentStore.inspect(root.directory.makeStore("documents", of: "ana"))
    #expect(try ScanRecords(store).forgetSessions(closedBefore: nil).count == 1)
    let answer = await daemon.scan(Reading(input: "a", code: "6901"))
    #expect(answer.recording == .durable)
    let documents = try #require(try daemon.userDocuments())
    #expect(documents.index.withLock { $0.holders.isEmpty && $0.open.isEmpty })
  }

  @Test func `without a limit everything stays`() async throws {
    let clocks = Clocks()
    let daemon = try root.daemon(clocks.environment) { $0.hook("shop") }
    _ = await daemon.scan(Reading(input: "a", code: "kept"))
    for _ in 0..<3 {
      clocks.advance(days: 4000)
      await daemon.forgetting.check()
    }
    #expect(try root.uploads().count == 1)
  }
}
