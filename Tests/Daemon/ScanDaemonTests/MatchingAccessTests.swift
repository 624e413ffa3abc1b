import Catalog
import CatalogRows
import DocumentFormat
import Foundation
import JSONFormat
import Logging
import MetricsTestKit
import ScanInputs
import Synchronization
import Testing
import UploadQueue
import WaitingTestSupport
import Workspace

@testable import ScanDaemon

/// How a daemon follows the settings `matching.…` of its configuration and of the stores.
@Suite(.timeLimit(.minutes(10))) struct MatchingAccessTests {
  private let root = TestRoot()
  private let element = "010690123456789210A1|17261231"

  init() throws { try root.stock("ana") }

  private func store(_ name: MatchingSettings.Name, _ value: DocumentValue, of id: String? = "ana") throws {
    try root.directory.settings(of: id).change { try $0.set(named: name.rawValue, to: value) }
  }

  private func unset(_ name: MatchingSettings.Name, of id: String? = "ana") throws {
    try root.directory.settings(of: id).change { try $0.unset(named: name.rawValue) }
  }

  private static let cheese = DocumentValue.array([
    .object([
      .init("name", .text("cheese")), .init("prefix", .text("21")), .init("pattern", .text("PPIIIIIVVVVVC")),
      .init("measure", .text("weight")), .init("decimals", .integer(3)), .init("unit", .text("kg")),
    ])
  ])

  /// A scan or a look, until it is answered as expected: a change has an effect within a tenth of a second.
  private func expect(_ daemon: Daemon, _ code: String, _ kind: MatchKind) async throws {
    try await eventually("\(code) is \(kind)") { try daemon.look(code).match.kind == kind }
    #expect(await daemon.scan(Reading(input: "http", code: code)).match.kind == kind)
  }

  @Test func `a setting that changes while it runs has an effect, of any store`() async throws {
    let daemon = try root.daemon()
    #expect(try daemon.look("2112345012506").match.isEmpty)
    try store(.measures, Self.cheese)
    try await expect(daemon, "2112345012506", .measure)
    try store(.measures, .array([]))
    try await expect(daemon, "2112345012506", .none)
    try unset(.measures)
    try store(.measures, Self.cheese, of: nil)
    try await expect(daemon, "2112345012506", .measure)
    #expect(try daemon.look("KFR-35/1").match.kind == .head)
    try store(.areHeadsEnabled, .bool(false))
    try await expect(daemon, "KFR-35/1", .none)
  }

  @Test func `another user has other settings, at once`() async throws {
    try root.stock("bob")
    try store(.areHeadsEnabled, .bool(false))
    let daemon = try root.daemon()
    #expect(try daemon.look("KFR-35/1").match.kind == .none)
    try daemon.workspace.signIn("bob")
    #expect(try daemon.look("KFR-35/1").match.kind == .head)
    try daemon.workspace.signIn("ana")
    #expect(try daemon.look("KFR-35/1").match.kind == .none)
    try daemon.workspace.signOut()
    #expect(try daemon.look("KFR-35/1").match.kind == .none, "nobody has no catalogue")
  }

  @Test func `scans read no settings until the interval is over`() throws {
    let passed = Mutex(Duration.zero)
    var environment = DaemonEnvironment()
    environment.uptime = { passed.withLock { $0 } }
    let daemon = try root.daemon(environment)
    let stores = try daemon.context.access.stores()
    let table = try daemon.context.access.matching.table(of: stores)
    try store(.areHeadsEnabled, .bool(false))
    #expect(try daemon.context.access.matching.table(of: stores) === table)
    passed.withLock { $0 += MatchingAccess.interval }
    let changed = try daemon.context.access.matching.table(of: stores)
    #expect(changed !== table && !changed.options(for: "").heads.isEnabled)
    // Without a commit nothing is read anew.
    passed.withLock { $0 += MatchingAccess.interval }
    #expect(try daemon.context.access.matching.table(of: stores) === changed)
    // A commit of another setting has the same options.
    try stores.settings.set(.lastSynchronization, to: 1)
    passed.withLock { $0 += MatchingAccess.interval }
    #expect(try !daemon.context.access.matching.table(of: stores).options(for: "").heads.isEnabled)
  }

  @Test func `the configuration counts more than the stores`() async throws {
    try store(.areHeadsEnabled, .bool(true))
    try store(.measures, .text("nowhere"))
    try store(.minimumHeadLength, .integer(5))
    let daemon = try root.daemon {
      try? $0.matching.set(.areHeadsEnabled, to: .bool(false))
      try? $0.matching.set(.measures, to: Self.cheese)
    }
    #expect(try daemon.look("2112345012506").match.kind == .measure)
    #expect(try daemon.look("KFR-35/1").match.isEmpty)
    let options = try daemon.context.access.matching.table(of: daemon.context.access.stores()).options(for: "")
    #expect(options.heads.minimumLength == 5)
    #expect(try daemon.problemNames() == [], "what is overridden is not read")
  }

  @Test func `an input has separators of its own`() async throws {
    try store(.separators, .text("|"))
    let daemon = try root.daemon { $0.inputSeparators = ["gun": ["{GS}"], "plain": []] }
    func lot(_ input: String, _ separator: String) async throws -> String? {
      let code = element.replacing("|", with: separator)
      return try await daemon.scan(Reading(input: input, code: code)).json.value["data"]?["lot"]?.text
    }
    #expect(try await lot("http", "|") == "A1")
    #expect(try await lot("gun", "{GS}") == "A1")
    #expect(try await lot("gun", "|") != "A1")
    #expect(try await lot("plain", "|") != "A1")
    #expect(try await lot("plain", "\u{1D}") == "A1", "GS always counts")
    // What the input says also holds for the lookup that is repeated, and for its sets.
    let session = try await daemon.sessions.open(name: nil, input: "gun")
    // Another lot: the same code again would be a double scan.
    let other = element.replacing("|", with: "{GS}").replacing("A1", with: "B2")
    _ = await daemon.scan(Reading(input: "gun", code: other))
    #expect(try daemon.sessions.session(session.id).completion.products == [ProductID("tea"): 1])
  }

  @Test func `a stored value that cannot be used stops no scan, is a problem, and ends with its cause`() async throws {
    let metrics = TestMetrics()
    let log = LineLog()
    try store(.minimumHeadLength, .integer(0))
    try store(.measures, .text("nowhere"), of: nil)
    try store(.separators, .text("|"))
    var environment = DaemonEnvironment()
    environment.metrics = metrics
    var options = DaemonOptions(root: root.path)
    options.user = "ana"
    options.watchesNetwork = false
    let logger = Logger(label: "test") { _ in log }
    let daemon = try Daemon(options, logger: logger, environment: environment)
    let answer = await daemon.scan(Reading(input: "a", code: "KFR-35/1"))
    #expect(answer.match.kind == .head, "the default holds")
    #expect(try daemon.look(element).json.value["data"]?["lot"]?.text == "A1", "other settings count")
    let names = ["settings_faulty matching.heads.minimum", "settings_faulty matching.measures"]
    #expect(try daemon.problemNames() == names)
    let problems = try #require(try daemon.status().value["problems"]?.elements)
    #expect(problems[0]["message"]?.text?.contains("config unset matching.heads.minimum --user ana") == true)
    #expect(problems[1]["message"]?.text?.contains("config unset matching.measures --default") == true)
    let gauge = try metrics.expectRecorder("shelfmark_problem", [("code", "settings_faulty")])
    #expect(gauge.lastValue == 2)
    #expect(log.all.contains("warning problem settings_faulty matching.measures"))
    #expect(problems.allSatisfy { $0["count"]?.integer == 1 }, "a scan is no new occurrence")
    try unset(.measures, of: nil)
    try store(.minimumHeadLength, .integer(5))
    #expect(try daemon.problemNames() == [], "the status looks itself")
    #expect(gauge.lastValue == 0)
  }

  @Test func `settings that are damaged stop no scan`() async throws {
    let daemon = try root.daemon { try? $0.matching.set(.measures, to: Self.cheese) }
    try Data(repeating: 7, count: 20_000).write(to: URL(fileURLWithPath: root.path + "/users/ana/settings.log"))
    daemon.context.access.matching.check(try daemon.context.access.stores())
    let answer = await daemon.scan(Reading(input: "a", code: "2112345012506"))
    #expect(answer.match.kind == .measure && answer.lookup == .done, "the configuration counts")
    #expect(try daemon.look("KFR-35/1").match.kind == .head)
    #expect(try daemon.problemNames() == ["settings_faulty matching.*"])
    try FileManager.default.removeItem(atPath: root.path + "/users/ana/settings.log")
    #expect(try daemon.problemNames() == [])
  }

  @Test func `sets are completed by the settings`() async throws {
    let daemon = try root.daemon()
    let session = try await daemon.sessions.open(name: nil, input: nil)
    let added = try await daemon.sessions.add(["2112345012506", "KFR-35/1"], to: session.id)
    #expect(added.completion.unknown == ["2112345012506"])
    try store(.measures, Self.cheese)
    try store(.areHeadsEnabled, .bool(false))
    try await eventually("the sessions are read anew") {
      let completion = try daemon.sessions.session(session.id).completion
      return completion.unknown == ["KFR-35/1"] && completion.products == [ProductID("cheese"): 1]
    }
    #expect(try daemon.sessions.list()[0].completion.unknown == ["KFR-35/1"])
  }

  // MARK: The symbology beside the code

  @Test func `the symbology decides how a code is read, and one that is not known changes nothing`() async throws {
    try store(.excludedSymbologies, .array([.text("CODE128")]))
    let daemon = try root.daemon()
    for (symbology, kind, identifier) in [
      (nil, .head, nil), ("LABEL-TYPE-CODE128", .none, "]C0"), ("Code 39", .head, "]A0"), ("]C0", .none, "]C0"),
      ("LABEL-TYPE-UNDEFINED", .head, nil), ("", .head, nil), ("\u{1B}[31m\u{0}", .head, nil),
      (String(repeating: "]C0", count: 30_000), .head, nil),
    ] as [(String?, MatchKind, String?)] {
      let answer = await daemon.scan(Reading(input: "http", code: "KFR-35/1", symbology: symbology))
      #expect(answer.match.kind == kind, "\(symbology ?? "none")")
      #expect(try answer.json.value["symbology"] == identifier.map { .text($0) } ?? .null)
      #expect(try daemon.look("KFR-35/1", symbology: symbology).match.kind == kind)
    }
  }

  @Test func `a set counts what the answer to a scan counted`() async throws {
    try store(.excludedSymbologies, .array([.text("CODE128")]))
    let daemon = try root.daemon()
    let session = try await daemon.sessions.open(name: nil, input: "app")
    for symbology in ["CODE128", nil, "]A0", "unknown"] {
      let code = "KFR-35/\(symbology ?? "none")"
      _ = await daemon.scan(Reading(input: "app", code: code, symbology: symbology))
    }
    let read = try daemon.sessions.session(session.id)
    #expect(read.completion.unknown == ["KFR-35/CODE128"] && read.completion.products == [ProductID("fan"): 3])
    #expect(read.codes == ["KFR-35/CODE128", "KFR-35/none", "KFR-35/]A0", "KFR-35/unknown"])
  }

  @Test func `webhooks, events and a repeated lookup know the symbology and the separators of the input`() async throws
  {
    let receiver = Receiver()
    let path = root.path + "/users/ana/catalogue.log"
    let good = try Data(contentsOf: URL(fileURLWithPath: path))
    try Data(repeating: 7, count: 20_000).write(to: URL(fileURLWithPath: path))
    let daemon = try root.daemon(receiver.environment()) {
      $0.hook("shop")
      $0.rematches = true
      $0.inputSeparators = ["gun": ["|"]]
    }
    var events = daemon.events.events(after: nil).makeAsyncIterator()
    let code = String(element.dropFirst(2))
    let answer = await daemon.scan(Reading(input: "gun", code: "01" + code, symbology: "LABEL-TYPE-EAN128"))
    #expect(answer.recording == .durable && answer.kind == "unreadable")
    let documents = try #require(try daemon.userDocuments())
    #expect(try documents.pending.query().fetch().map(\.symbology) == ["LABEL-TYPE-EAN128"])
    // As it is stored without a symbology, by a former version as well.
    #expect(
      try JSONDecoder().decode(PendingScan.self, from: Data(#"{"id":"a","code":"b","input":"c","time":0}"#.utf8))
        .reading.symbology == nil)
    try good.write(to: URL(fileURLWithPath: path))
    await daemon.rematcher.lookUpAll()
    var answered: [DocumentValue] = []
    while answered.count < 2, let event = await events.next() {
      if event.kind == .scan { answered.append(event.value) }
    }
    let uploads = try root.uploads().map(\.document)
    #expect(uploads.count == 2 && answered.count == 2)
    for answers in [answered, uploads] {
      #expect(answers.map { $0["match"]?.text } == ["unreadable", "gs1"])
      #expect(answers[1]["rematches"]?.text == answer.id)
      for value in answers {
        #expect(value["symbology"]?.text == "]C1" && value["kind"]?.text == "gs1")
        #expect(value["data"]?["lot"]?.text == "A1" && value["data"]?["expiry"]?.text == "2026-12-31")
      }
    }
  }
}

extension TestRoot {
  /// Gives a user a catalogue for settings of matching.
  fileprivate func stock(_ id: String?) throws {
    let writer = try CatalogWriter(directory.makeStore("catalogue", of: id), lockTimeout: .seconds(5))
    defer { writer.close() }
    var update = try writer.beginFullUpdate(.open)
    var row = ProductRow()
    for (id, barcode) in [("cheese", "2112345000008"), ("tea", "6901234567892"), ("fan", "KFR-35")] {
      var product = Product()
      (product.id, product.barcode, product.name) = (id, barcode, id)
      product.fill(&row)
      try update.product(row)
    }
    _ = try update.commit(cursor: "monday")
  }
}
