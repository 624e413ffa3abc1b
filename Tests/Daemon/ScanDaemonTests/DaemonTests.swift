import CatalogHTTP
import CoreMetrics
import DocumentFormat
import Foundation
import JSONFormat
import MetricsTestKit
import ScanInputs
import Testing
import Workspace

@testable import ScanDaemon

@Suite(.timeLimit(.minutes(10))) struct DaemonTests {
  let root = TestRoot()

  @Test func `the status is JSON, whatever there is`() async throws {
    let empty = try root.daemon(user: nil)
    let first = try empty.status().value
    #expect(first["user"] == .null && first["catalogue"]?["products"]?.integer == 0 && first["ready"] == .bool(false))
    #expect(first["queue"]?["waiting"]?.integer == 0 && first["problems"]?.elements?.count == 1)
    #expect(try empty.problemNames() == ["catalogue_never_synchronised"])
    try root.fill("ana")
    let daemon = try root.daemon { $0.hook("shop") }
    for _ in 0..<3 { daemon.note(.refused(.notAllowed(peer: "10.0.0.1:9")), input: "wall") }
    daemon.note(.connections(2, limit: 256), input: "wall")
    daemon.note(.opened("/dev/\"tty\n0"), input: "serial")
    daemon.note(.fault(.notText(.utf8, shown: "\\xFF\u{1}")), input: "serial")
    daemon.note(.fault(.tooLong(limit: 9)), input: "serial")
    daemon.note(.fault(.tooLong(limit: 9)), input: "serial")
    _ = await daemon.scan(Reading(input: "serial", code: "6901"))
    _ = await daemon.scan(Reading(input: "serial", code: "\u{1D}\"nothing"))
    let status = try daemon.status().value
    #expect(status["version"]?.text == Daemon.version && status["user"]?.text == "ana")
    #expect(status["catalogue"]?["products"]?.integer == 10 && status["catalogue"]?["cursor"]?.text == "monday")
    #expect(status["queue"]?["waiting"]?.integer == 2 && status["webhooks"]?.elements == [.text("shop")])
    let input = try #require(status["inputs"]?.elements?.first)
    #expect(input["name"]?.text == "serial" && input["state"]?.text == "open")
    #expect(input["message"]?.text == "/dev/\"tty\n0" && input["scans"]?.integer == 2 && input["misses"]?.integer == 1)
    #expect(input["faults"]?["tooLong"]?.integer == 2 && input["faults"]?["notText"]?.integer == 1)
    #expect(input["connections"] == nil)
    let line = try #require(status["inputs"]?.elements?.last)
    #expect(line["connections"]?.integer == 2 && line["maximumConnections"]?.integer == 256)
    #expect(line["refusedConnections"]?.integer == 3)
    daemon.note(.closed(reason: "unplugged", reopens: true), input: "serial")
    let closed = try daemon.status().value["inputs"]?.elements?.first
    #expect(closed?["state"]?.text == "reopening" && closed?["message"]?.text == "unplugged")
  }

  @Test func `what happens to inputs is reported`() async throws {
    let daemon = try root.daemon()
    var events = daemon.events.events(after: nil).makeAsyncIterator()
    daemon.note(.opened("tty"), input: "a")
    daemon.note(.closed(reason: "gone", reopens: false), input: "a")
    daemon.note(.fault(.request("what")), input: "a")
    var reported: [String?] = []
    for _ in 0..<3 {
      let event = try #require(await events.next())
      #expect(event.kind == .input && event.value["input"]?.text == "a")
      reported.append(event.value["event"]?.text)
    }
    #expect(reported == ["opened", "closed", "fault"])
  }

  @Test func `inputs are bounded, whatever names callers invent`() async throws {
    let daemon = try root.daemon()
    for number in 0..<InputTable.maximumCount + 50 {
      _ = await daemon.scan(Reading(input: "in \(number)", code: "x"))
    }
    let inputs = try #require(try daemon.status().value["inputs"]?.elements)
    #expect(inputs.count == InputTable.maximumCount + 1)
    let other = try #require(inputs.first { $0["name"]?.text == "other" })
    #expect(other["scans"]?.integer == 50 && other["repeats"]?.integer == 0)
  }

  @Test func `sign-ins are reported, also those of other processes`() async throws {
    let daemon = try root.daemon()
    var events = daemon.events.events(after: nil).makeAsyncIterator()
    try await withServices(daemon) {
      try await daemon.signIn("bob")
      let first = try #require(await events.next())
      #expect(first.kind == .user && first.value["user"]?.text == "bob" && first.value["previous"]?.text == "ana")
      try root.directory.signIn("carol")
      let second = try #require(await events.next())
      #expect(second.value["user"]?.text == "carol" && second.value["previous"]?.text == "bob")
      #expect(try daemon.user() == "carol")
      try await daemon.signOut()
      #expect(await events.next()?.value["user"] == .null)
    }
    #expect(await events.next() == nil, "the log ends with the services")
  }

  @Test func `who is signed in stays so, and a user is signed in where nobody is`() throws {
    _ = try root.daemon(user: "ana")
    #expect(try root.daemon(user: "bob").user() == "ana")
    #expect(try root.daemon(user: nil).user() == "ana")
  }

  @Test func `addresses that are none are refused`() {
    #expect(throws: (any Error).self) { try root.daemon { $0.webhooks = [WebhookOptions(name: "a", url: "ftp://x")] } }
    #expect(throws: (any Error).self) {
      try root.daemon { options in
        options.webhooks = [WebhookOptions(name: "a", url: "http://x/"), WebhookOptions(name: "b", url: "nothing")]
      }
    }
    #expect(throws: TransportError.self) { try root.daemon { $0.sync = SyncOptions(url: "nothing") } }
  }

  @Test func `a daemon that never ran goes without a trace`() throws {
    weak var gone: Daemon?
    weak var stores: Workspace?
    do {
      let daemon = try root.daemon { options in
        options.webhooks = [WebhookOptions(name: "a", url: "http://127.0.0.1:1/")]
        options.sync = SyncOptions(url: "http://127.0.0.1:1/")
      }
      gone = daemon
      stores = daemon.workspace
      #expect(daemon.services.count == 10)
    }
    #expect(gone == nil && stores == nil)
  }

  @Test func `a daemon that ran goes without a trace`() async throws {
    weak var gone: Daemon?
    try await run { gone = $0 }
    #expect(gone == nil)
  }

  private func run(_ body: (Daemon) -> Void) async throws {
    let daemon = try root.daemon(Receiver().environment()) { $0.hook("shop") }
    body(daemon)
    try await withServices(daemon) { _ = await daemon.scan(Reading(input: "a", code: "6901")) }
  }

  @Test func `metrics are counted by input and match`() throws {
    let kit = TestMetrics()
    let metrics = DaemonMetrics(kit)
    for _ in 0..<3 { metrics.count("shelfmark_scans_total", [("input", "a"), ("match", "exact")]) }
    metrics.count("shelfmark_scans_total", [("input", "a"), ("match", "none")])
    #expect(
      try kit.expectCounter("shelfmark_scans_total", [("input", "a"), ("match", "exact")]).totalValue == 3)
    metrics.waiting.record(7)
    #expect(try kit.expectGauge("shelfmark_queue_waiting").lastValue == 7)
  }

  @Test func `what is read of documents is measured`() async throws {
    let kit = TestMetrics()
    var environment = DaemonEnvironment()
    environment.metrics = kit
    try root.fill("ana")
    let daemon = try root.daemon(environment) { $0.hook("shop") }
    _ = await daemon.scan(Reading(input: "a", code: "unknown"))
    #expect(try daemon.misses(limit: 5).map(\.id) == ["unknown"])
    #expect(try daemon.queue().counts().waiting == 1)
    func timer(_ collection: String, _ operation: String) throws -> TestTimer {
      try kit.expectTimer("documents_operation_seconds", [("collection", collection), ("operation", operation)])
    }
    #expect(try timer("scan.misses", "query").values.count == 1)
    #expect(try timer("shelfmark.queue/uploads/state", "get").values.count > 0)
  }

  @Test func `the rate of scans decays`() {
    let rate = ScanRate()
    for tick in 0..<1000 { rate.count(at: .milliseconds(tick * 10)) }
    let busy = rate.perSecond(at: .seconds(10))
    #expect(busy > 40 && busy <= 100)
    #expect(rate.perSecond(at: .seconds(20)) < busy / 2)
    #expect(rate.perSecond(at: .seconds(500)) == 0)
  }

  @Test func `a compaction waits while there is much to do`() async throws {
    try root.fill("ana")
    let place = root.path + "/users/ana/documents.log"
    func byteCount() throws -> Int {
      try #require(try FileManager.default.attributesOfItem(atPath: place)[.size] as? Int)
    }
    let busy = try root.daemon { $0.compaction.maximumScansPerSecond = 0 }
    let documents = try #require(try busy.userDocuments())
    // More than a quiet hour leaves, less than a commit does.
    for number in 0..<70 {
      let miss = Miss(
        id: "x", count: number, first: 0, last: 0, input: String(repeating: "\(number % 10)", count: 100_000))
      try documents.misses.upsert(miss)
    }
    let before = try byteCount()
    _ = await busy.scan(Reading(input: "http", code: "6901"))
    await busy.compaction.compactIfQuiet()
    #expect(try byteCount() == before && before > 6 << 20)
    try await root.daemon().compaction.compactIfQuiet()
    #expect(try byteCount() < 1 << 20)
    #expect(try documents.misses.get("x")?.count == 69)
    #expect(try busy.status().value["problems"]?.elements == [])
  }
}
