import Catalog
import CatalogSync
import DocumentFormat
import Foundation
import JSONFormat
import ScanInputs
import Testing
import UploadQueue
import WaitingTestSupport

@testable import ScanDaemon

@Suite(.timeLimit(.minutes(10))) struct SyncTests {
  let root = TestRoot()
  let server = CatalogueServer()
  let clock = TestClock()

  /// A daemon that synchronises with the server, and whose clock stands.
  private func daemon(
    user: String? = "ana", _ receiver: Receiver = Receiver(), hooks: Bool = false, retry: Duration = .seconds(5)
  ) throws -> Daemon {
    var environment = receiver.environment(clock.environment)
    server.serve(&environment)
    return try root.daemon(user: user, environment) { options in
      options.sync = SyncOptions(url: "http://127.0.0.1:1/catalogue")
      options.sync?.firstRetry = retry
      if hooks { options.hook("shop") }
    }
  }

  /// Runs the synchronisation alone while `body` runs.
  private func running(_ daemon: Daemon, _ body: () async throws -> Void) async throws {
    let task = Task { try await daemon.sync.run() }
    defer { task.cancel() }
    try await body()
    task.cancel()
    try await task.value
  }

  @Test func `it synchronises at once, and then on schedule`() async throws {
    server.change(0..<10)
    let daemon = try daemon()
    var events = daemon.events.events(after: nil).makeAsyncIterator()
    try await running(daemon) {
      let first = try #require(await events.next())
      #expect(first.kind == .sync && first.value["ok"] == .bool(true) && first.value["mode"]?.text == "full")
      #expect(first.value["products"]?["upserted"]?.integer == 10 && first.value["user"]?.text == "ana")
      try await eventually("it sleeps") { clock.sleeperCount == 1 }
      #expect(clock.pauses == [.seconds(300)])
      #expect(try daemon.sync.json.value["next"]?.text == "2096-10-02T07:11:40.123Z")
      server.change(3..<5)
      clock.advance(by: .seconds(299))
      #expect(server.cursors == [""])
      clock.advance(by: .seconds(1))
      #expect(await events.next()?.value["mode"]?.text == "incremental")
      #expect(server.cursors == ["", "2"])
      #expect(try daemon.look("6903").match.products.first?.name == "3 as of 3")
      // A server that has nothing newer leaves no commit, but the catalogue is current.
      try await eventually("it sleeps again") { clock.sleeperCount == 1 }
      clock.advance(by: .seconds(300))
      _ = await events.next()
      let age = try daemon.look("6903").catalogue
      #expect(age.sequence == 2 && age.currentAt == Date(microseconds: clock.now))
    }
  }

  @Test func `what a person may accept is named by the daemon's setting`() async throws {
    let daemon = try daemon()
    for (error, words) in [
      (CatalogError.wouldLose(lost: 9, of: 10, share: 0.5), "accept it with a larger share in sync.maximumLoss"),
      (CatalogError.wouldLoseCodes(lost: 9, of: 10, share: 0.5), "accept it with a larger share in sync.maximumLoss"),
      (CatalogError.wouldCollapse(rows: 9, of: 10, withoutID: 0), "accept it with sync.maximumLoss of 1"),
    ] {
      #expect("\(error)".contains("accept it with --accept-loss"))
      server.error = error
      let failure = await #expect(throws: SyncFailure.self) { try await daemon.sync.syncNow() }
      let message = try #require(failure).description
      #expect(message.contains(words) && !message.contains("--"))
      let problem = try #require(try daemon.status().value["problems"]?.elements?.last)
      #expect(problem["code"]?.text == "sync_failing" && problem["message"]?.text?.contains(words) == true)
    }
  }

  @Test func `after a failure it tries sooner, keeps the old catalogue, and says since when it is old`() async throws {
    server.change(0..<10)
    let daemon = try daemon()
    var events = daemon.events.events(after: nil).makeAsyncIterator()
    try await running(daemon) {
      _ = await events.next()
      let synchronised = Date(microseconds: clock.now)
      server.isDown = true
      for pause in [300, 5, 10, 20, 40, 80, 160, 300, 300] {
        try await eventually("it sleeps") { clock.sleeperCount == 1 }
        #expect(clock.pauses.last == .seconds(pause))
        clock.advance(by: .seconds(pause))
        #expect(await events.next()?.value["ok"] == .bool(false))
      }
      let json = try daemon.sync.json.value
      #expect(json["failures"]?.integer == 9 && json["lastError"]?.text == "Unreachable()")
      #expect(json["lastSuccess"]?.text == synchronised.precise && json["oldSince"]?.text == synchronised.precise)
      #expect(try daemon.status().value["problems"]?.elements?.first?["code"]?.text == "sync_failing")
      #expect(try daemon.look("6901").match.kind == .exact)
      server.isDown = false
      try await eventually("it sleeps") { clock.sleeperCount == 1 }
      clock.advance(by: .seconds(300))
      #expect(await events.next()?.value["ok"] == .bool(true))
      let after = try daemon.sync.json.value
      #expect(after["failures"]?.integer == 0 && after["lastError"] == .null && after["oldSince"] == .null)
      #expect(try daemon.status().value["problems"]?.elements == [])
    }
    // What it knew is known after a restart.
    let again = try self.daemon()
    #expect(try again.sync.json.value["lastSuccess"]?.text == Date(microseconds: clock.now).precise)
  }

  @Test func `a sign-in is synchronised at once, and nobody's catalogue never`() async throws {
    server.change(0..<10)
    let daemon = try daemon(user: nil)
    var events = daemon.events.events(after: nil).makeAsyncIterator()
    try await running(daemon) {
      await #expect(throws: SyncUnavailable.notSignedIn) { try await daemon.sync.syncNow() }
      #expect(server.cursors.isEmpty && clock.pauses.isEmpty)
      try await daemon.signIn("bob")
      #expect(await events.next()?.kind == .user)
      let event = try #require(await events.next())
      #expect(event.kind == .sync && event.value["user"]?.text == "bob")
    }
    let alone = try root.daemon()
    await #expect(throws: SyncUnavailable.noServer) { try await alone.sync.syncNow() }
    #expect(try alone.sync.json.value["configured"] == .bool(false))
  }

  @Test func `callers who come while one runs share the next one, and scans are answered meanwhile`() async throws {
    server.change(0..<10)
    let daemon = try daemon()
    _ = try await daemon.sync.syncNow()
    server.change(0..<2)
    let isOpen = Switch()
    server.hold { while !isOpen.isOn { await Task.yield() } }
    let first = Task { try await daemon.sync.syncNow() }
    try await eventually("it asks") { server.cursors.count == 2 }
    let others = (0..<5).map { number in Task { try await daemon.sync.syncNow(full: number == 3) } }
    #expect(await daemon.scan(Reading(input: "a", code: "6901")).match.products.first?.name == "1 as of 2")
    #expect(try daemon.sync.json.value["running"] == .bool(true))
    isOpen.isOn = true
    #expect(try await first.value.update.mode == .incremental)
    for other in others { #expect(try await other.value.update.mode == .full) }
    #expect(server.cursors == ["", "2", ""])
    #expect(try daemon.sync.json.value["running"] == .bool(false))
  }

  @Test func `who is signed out while a synchronisation runs still gets what it brings`() async throws {
    server.change(0..<10)
    let daemon = try daemon()
    server.hold { try? daemon.workspace.signIn("bob") }
    do { _ = try await daemon.sync.syncNow() } catch { Issue.record(error) }
    server.hold(nil)
    #expect(try daemon.look("6901").match.isEmpty)
    try await daemon.signIn("ana")
    #expect(try daemon.look("6901").match.kind == .exact)
  }

  @Test func `an upload that passes after failures brings the next synchronisation`() async throws {
    server.change(0..<10)
    server.isDown = true
    let receiver = Receiver()
    receiver.answer(0)
    let daemon = try daemon(receiver, hooks: true, retry: .seconds(200))
    try await withServices(daemon) {
      try await eventually("the first one fails") { server.cursors.count == 1 }
      _ = await daemon.scan(Reading(input: "a", code: "6901"))
      try await eventually("the upload fails") {
        try daemon.problemNames().contains("webhook_failing shop")
      }
      server.isDown = false
      receiver.answer(200)
      // The upload's pause is over long before that of the synchronisation.
      let start = clock.now
      try await eventually("the upload arrives") {
        if clock.now < start + 100_000_000 { clock.advance(by: .milliseconds(100)) }
        return receiver.log.count == 1
      }
      try await eventually("the catalogue arrives") { try daemon.look("6901").match.kind == .exact }
    }
  }
}
