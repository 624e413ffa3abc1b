import Bytes
import Catalog
import CatalogHTTP
import Cryptography
import DocumentFormat
import Foundation
import PublicationFormat
import PublicationSync
import PublicationTestSupport
import ScanInputs
import Testing
import UploadQueue
import WaitingTestSupport

@testable import ScanDaemon

/// A daemon that follows a publication.
@Suite(.timeLimit(.minutes(10))) struct PublicationTests {
  let root = TestRoot()
  /// It is ahead of the clock of the commits, which goes on.
  let clock = TestClock(start: Int64(Date().timeIntervalSince1970 + 1000) * 1_000_000, moves: false)
  let server: PublicationServer

  init() throws { server = try PublicationServer() }

  private var environment: DaemonEnvironment {
    var environment = DaemonEnvironment()
    environment.time = clock.environment
    return environment
  }

  private func daemon(
    _ root: TestRoot? = nil, mirrors: [String] = [], change: (inout SyncOptions) -> Void = { _ in }
  ) throws -> Daemon {
    try (root ?? self.root).daemon(user: "ana", environment) { options in
      var publication = PublicationOptions(url: server.url)
      publication.rootKey = server.key.publicKey
      publication.mirrors = mirrors
      var sync = SyncOptions(publication: publication)
      sync.jitter = 0
      sync.transport.retry.maximumAttempts = 1
      change(&sync)
      options.sync = sync
    }
  }

  private func publication(_ daemon: Daemon) throws -> DocumentValue {
    try #require(try daemon.sync.json.value["publication"])
  }

  private func name(_ daemon: Daemon, _ code: String) throws -> String? {
    try daemon.look(code).match.products.first?.name
  }

  @Test func `it takes all rows, then what changed, and a poll without news is one request`() async throws {
    try await server.publish(0..<2000, "monday")
    try await server.serving {
      let daemon = try daemon()
      let first = try await daemon.sync.syncNow()
      #expect(first.update.mode == .full && first.update.counts.productsUpserted == 2000)
      #expect(try name(daemon, "6907") == "7 monday")
      let state = try publication(daemon)
      #expect(state["url"]?.text == server.url && state["sequence"]?.integer == 1 && state["newest"]?.integer == 1)
      #expect(try state["digest"]?.text == server.head().state.digest)
      #expect(state["stale"] == .bool(false) && state["refusal"] == .null && state["mirror"] == .null)
      _ = server.requests()
      #expect(try await daemon.sync.syncNow().update.sequence == first.update.sequence)
      #expect(server.requests() == [.init(name: "catalogue.json", status: 304)])
      try await server.publish(1..<2000, "tuesday")
      _ = try await daemon.sync.syncNow()
      #expect(try name(daemon, "6907") == "7 tuesday" && name(daemon, "6900") == nil)
      #expect(try publication(daemon)["sequence"]?.integer == 2)
      #expect(try daemon.problemNames() == [])
    }
  }

  @Test func `before the rows have arrived, scans are answered from the publication`() async throws {
    try await server.publish(0..<3000, "monday")
    try await server.serving {
      let daemon = try daemon()
      let found = await daemon.scan(Reading(input: "a", code: "6901234"))
      #expect(found.match.products.map(\.name) == ["1234 monday"] && found.lookup == .done)
      #expect(try found.asOf == PublishedRows(catalogue: server.head().catalogue, sequence: 1))
      let json = try DocumentValue(json: found.json.bytes.span)
      #expect(json["asOf"]?["sequence"]?.integer == 1 && json["catalogue"]?["sequence"]?.integer == 0)
      // A head with a serial number, and one that is certainly not there.
      let head = try await daemon.lookAlsoInPublication("6901234SN5")
      #expect(head.match.kind == .head && head.match.rest == "SN5" && head.asOf != nil)
      let missing = await daemon.scan(Reading(input: "b", code: "nothing"))
      #expect(missing.isMiss && missing.asOf != nil)
      #expect(try publication(daemon)["firstAnswers"]?.integer == 3)
      // What all rows may tell, and these do not, is as without a catalogue.
      let unknown = await daemon.scan(Reading(input: "b", code: "[)>\u{1E}06\u{1D}1PPART-77\u{1E}\u{4}"))
      #expect(unknown.lookup == .noCatalogue && unknown.asOf == nil)
      // With rows, nothing is asked.
      _ = try await daemon.sync.syncNow()
      _ = server.requests()
      let own = await daemon.scan(Reading(input: "c", code: "6901234"))
      #expect(own.match.products.map(\.name) == ["1234 monday"] && own.asOf == nil)
      #expect(try await daemon.lookAlsoInPublication("nothing").asOf == nil)
      #expect(server.requests().isEmpty)
    }
  }

  @Test func `before the rows have arrived, a failing publication changes nothing and is not asked again at once`()
    async throws
  {
    try await server.publish(0..<10, "monday")
    try await server.serving {
      let daemon = try daemon()
      server.isDown = true
      let first = await daemon.scan(Reading(input: "a", code: "6907"))
      #expect(first.lookup == .noCatalogue && first.asOf == nil && !first.isMiss)
      #expect(!server.requests().isEmpty)
      server.isDown = false
      #expect(await daemon.scan(Reading(input: "b", code: "6907")).lookup == .noCatalogue)
      #expect(server.requests().isEmpty)
      // A forged head is no answer either.
      let other = try self.daemon(TestRoot())
      server.replace("catalogue.json.sig", Array("untrusted comment: x\nRWQ=\n".utf8))
      #expect(await other.scan(Reading(input: "a", code: "6907")).lookup == .noCatalogue)
    }
  }

  @Test func `a head that is refused is a problem, and the catalogue that is there goes on`() async throws {
    try await server.publish(0..<10, "monday")
    try await server.serving {
      let daemon = try daemon()
      _ = try await daemon.sync.syncNow()
      let old = (try server.file("catalogue.json"), try server.file("catalogue.json.sig"))
      try await server.publish(0..<10, "tuesday")
      // It is not what its signature signs.
      server.replace("catalogue.json", try server.file("catalogue.json") + [0x20])
      server.replace("catalogue.json.sig", old.1)
      await #expect(throws: PublicationFailure.self) { _ = try await daemon.sync.syncNow() }
      #expect(try daemon.problemNames() == ["publication_refused"])
      let refusal = try #require(try publication(daemon)["refusal"])
      #expect(refusal["reason"]?.text?.contains("signature") == true, "\(refusal)")
      #expect(try name(daemon, "6907") == "7 monday")
      // The publisher is right again.
      server.replace("catalogue.json", nil)
      server.replace("catalogue.json.sig", nil)
      _ = try await daemon.sync.syncNow()
      #expect(try name(daemon, "6907") == "7 tuesday" && daemon.problemNames() == [])
      // An older head.
      server.replace("catalogue.json", old.0)
      server.replace("catalogue.json.sig", old.1)
      await #expect(throws: PublicationFailure.self) { _ = try await daemon.sync.syncNow() }
      #expect(try daemon.problemNames() == ["publication_refused"])
      #expect(try name(daemon, "6907") == "7 tuesday")
      // A failure of the network does not end it.
      server.isDown = true
      await #expect(throws: PublicationFailure.self) { _ = try await daemon.sync.syncNow() }
      #expect(try daemon.problemNames() == ["publication_refused", "sync_failing"])
    }
  }

  @Test func `a head that has expired is stale, and no news for three intervals is a problem`() async throws {
    try await server.publish(0..<10, "monday") { $0.lifetime = 3600 }
    try await server.serving {
      let daemon = try daemon()
      _ = try await daemon.sync.syncNow()
      #expect(try daemon.problemNames() == [])
      clock.advance(by: .seconds(901))
      #expect(try daemon.problemNames() == ["publication_overdue"])
      clock.advance(by: .seconds(2800))
      #expect(try publication(daemon)["stale"] == .bool(true))
      #expect(try daemon.problemNames() == ["publication_overdue", "publication_stale"])
      _ = try await daemon.sync.syncNow()
      #expect(try daemon.problemNames() == ["publication_stale"])
      #expect(try name(daemon, "6907") == "7 monday")
    }
  }

  @Test func `a device asks once in each interval at a moment of its own, also after a restart`() async throws {
    try await server.publish(0..<10, "monday") { $0.poll = 1000 }
    try await server.serving {
      var daemon: Daemon? = try daemon()
      let phase = PublicationClient.pollPhase(of: PublicationClient.deviceID(ofUser: "ana")) * 1000
      func isMoment() -> Bool { abs((Double(clock.now) / 1e6).truncatingRemainder(dividingBy: 1000) - phase) < 1 }
      let task = Task { [daemon] in try await daemon?.sync.run() }
      try await eventually("it sleeps") { clock.sleeperCount == 1 }
      #expect(server.requests().contains { $0.name.hasSuffix(".base") })
      let pause = try #require(clock.pauses.last)
      #expect(pause >= .seconds(500) && pause <= .seconds(1500))
      clock.advance(by: pause)
      #expect(isMoment())
      try await eventually("it has asked") { server.requests().count == 1 }
      try await eventually("it sleeps again") { clock.sleeperCount == 1 }
      #expect(clock.pauses.last.map { abs($0 / .seconds(1) - 1000) < 1 } == true)
      task.cancel()
      try await task.value
      daemon = nil
      clock.advance(by: .seconds(300))
      // It has a catalogue, so it waits for its moment.
      let next = try self.daemon()
      let again = Task { try await next.sync.run() }
      try await eventually("it sleeps") { clock.sleeperCount == 1 }
      #expect(server.requests() == [])
      let rest = try #require(clock.pauses.last)
      #expect(abs(rest / .seconds(1) - 700) < 1)
      #expect(try !next.problemNames().contains("sync_never_ran"))
      again.cancel()
      try await again.value
    }
  }

  @Test func `an address without a publication is left alone for an hour, and then longer`() async throws {
    try await server.serving {
      let daemon = try daemon()
      let task = Task { try await daemon.sync.run() }
      for (count, hours) in [1, 2, 4, 8, 16, 24, 24].enumerated() {
        try await eventually("it sleeps") { clock.sleeperCount == 1 && clock.pauses.count == count + 1 }
        let pause = try #require(clock.pauses.last)
        #expect(pause >= .seconds(hours * 3600) && pause <= .seconds(hours * 4500))
        clock.advance(by: pause)
      }
      try await eventually("it sleeps") { clock.sleeperCount == 1 }
      #expect(try daemon.problemNames().contains("sync_failing"))
      task.cancel()
      try await task.value
    }
  }

  @Test func `a delta without which nothing leads to the newest state is waited for`() async throws {
    try await server.publish(0..<500, "monday")
    try await server.serving {
      let daemon = try daemon()
      _ = try await daemon.sync.syncNow()
      try await server.publish(1..<500, "monday")
      let delta = try #require(server.head().state.deltas.last).name
      server.replace(delta, Array("<html>".utf8))
      _ = server.requests()
      await #expect(throws: PublicationFailure.self) { _ = try await daemon.sync.syncNow() }
      // The base is of the state before, so it would not help.
      #expect(!server.requests().contains { $0.name.hasSuffix(".base") })
      #expect(try name(daemon, "6900") == "0 monday" && daemon.problemNames() == ["sync_failing"])
      server.replace(delta, nil)
      _ = try await daemon.sync.syncNow()
      #expect(try name(daemon, "6900") == nil && publication(daemon)["sequence"]?.integer == 2)
    }
  }

  @Test func `a mirror that answers with other bytes changes nothing, and is a problem`() async throws {
    try await server.publish(0..<10, "monday")
    let liar = try PublicationServer()
    try await liar.publish(0..<10, "forged")
    try await server.serving {
      try await liar.serving {
        let daemon = try daemon(mirrors: [liar.url])
        _ = try await daemon.sync.syncNow()
        #expect(try name(daemon, "6907") == "7 monday")
        #expect(try daemon.problemNames() == ["publication_mirror \(liar.url)"])
        liar.isDown = true
        _ = try await daemon.sync.syncNow()
        #expect(try daemon.problemNames() == [])
      }
    }
  }

  @Test func `a mirror that fetches a file itself is waited for, but not for ever`() async throws {
    try await server.publish(0..<10, "monday")
    try await server.serving {
      let clock = TestClock(moves: true)
      var options = TransportOptions()
      options.retry.maximumAttempts = 1
      let mirror = MirrorOrigin(try FileTransport(url: server.url, options: options), clock.environment)
      let base = try server.head().state.base
      let bytes = try server.file(base.name)
      server.beBusy(3)
      let range = 0..<bytes.count
      var got: [UInt8] = []
      let isWhole = try await mirror.read(base.name, range, isFresh: false) { got.append(copying: $0) }
      #expect(isWhole && got == bytes && clock.pauses.count == 3)
      server.beBusy(1000)
      await #expect(throws: PublicationFailure.self) {
        _ = try await mirror.contents(of: base.name, limit: bytes.count, validators: nil, isFresh: false)
      }
      #expect(clock.pauses.count == 24 && clock.pauses.allSatisfy { $0 >= .seconds(5) && $0 < .seconds(7) })
      // It is not waited for again.
      await #expect(throws: PublicationFailure.self) {
        _ = try await mirror.contents(of: base.name, limit: bytes.count, validators: nil, isFresh: false)
      }
      #expect(clock.pauses.count == 24)
    }
  }

  @Test func `it reports what it has when that changes and once a day, and only the last report waits`() async throws {
    try await server.publish(0..<10, "monday") { $0.lifetime = 30 * 86_400 }
    try await server.serving {
      let daemon = try daemon { $0.publication?.reportsURL = "http://127.0.0.1:1/reports" }
      func report() throws -> DocumentValue? {
        let uploads = try root.uploads()
        #expect(uploads.count <= 1 && uploads.allSatisfy { $0.kind == "publication-reports" })
        return uploads.first?.document
      }
      _ = try await daemon.sync.syncNow()
      let first = try #require(try report())
      #expect(first["sequence"]?.integer == 1 && first["problem"] == .null && first["mirror"] == .null)
      #expect(try first["digest"]?.text == server.head().state.digest)
      #expect(first["version"]?.text == Daemon.version && first["device"]?.text?.utf8.count == 32)
      #expect(try first["catalogue"]?.text == server.head().catalogue)
      #expect(first["target"]?.integer == 1 && first["ring"] == .null && first["number"]?.integer == 1)
      #expect(first["time"]?.text.flatMap(DateText.date) != nil)
      // Nothing has changed: nothing is written.
      let commits = try root.documentCommitCount()
      clock.advance(by: .seconds(86_000))
      _ = try await daemon.sync.syncNow()
      #expect(try root.documentCommitCount() == commits)
      clock.advance(by: .seconds(400))
      _ = try await daemon.sync.syncNow()
      #expect(try root.documentCommitCount() > commits)
      try await server.publish(0..<10, "tuesday")
      _ = try await daemon.sync.syncNow()
      #expect(try report()?["sequence"]?.integer == 2 && report()?["number"]?.integer == 3)
      // The first half has another state: that is told, although this device keeps what it has.
      try await server.publish(0..<10, "tuesday") {
        $0.rings = [PublicationHead.Ring(percent: 50, sequence: 1), PublicationHead.Ring(percent: 100, sequence: 1)]
      }
      _ = try await daemon.sync.syncNow()
      let ringed = try #require(try report())
      #expect(ringed["sequence"]?.integer == 2 && ringed["target"]?.integer == 1)
      #expect(ringed["ring"]?.integer == 50 || ringed["ring"]?.integer == 100)
      server.isDown = true
      await #expect(throws: PublicationFailure.self) { _ = try await daemon.sync.syncNow() }
      let failing = try #require(try report())
      #expect(failing["problem"]?.text?.hasPrefix("sync_failing: ") == true && failing["sequence"]?.integer == 2)
      // Another reason for the same problem is no news.
      let failed = try root.documentCommitCount()
      await #expect(throws: PublicationFailure.self) { _ = try await daemon.sync.syncNow() }
      #expect(try root.documentCommitCount() == failed)
      // Scans do not go where reports go.
      #expect(!(await daemon.scan(Reading(input: "a", code: "6907")).isFailed))
      #expect(try root.uploads().count == 1)
    }
  }
}
