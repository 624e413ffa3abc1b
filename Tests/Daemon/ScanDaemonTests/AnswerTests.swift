import Catalog
import DocumentFormat
import Foundation
import JSONFormat
import RandomTestSupport
import ScanInputs
import Testing
import WaitingTestSupport

@testable import ScanDaemon

@Suite(.timeLimit(.minutes(10))) struct AnswerTests {
  let root = TestRoot()

  @Test func `an answer is the same to the byte for the same catalogue, time and chance`() async throws {
    try root.fill("ana")
    let clock = TestClock()
    var environment = DaemonEnvironment()
    environment.time = clock.environment
    let daemon = try root.daemon(environment)
    try daemon.context.access.succeeded(daemon.context.access.stores(), at: 4_000_000_000)
    let answer = await daemon.answer(Reading(input: "counter", code: "6901 ", tag: "t\"1"))
    let product = try #require(try daemon.catalogue().product(id: "1"))
    let productText = String(decoding: JSONText.product(product).bytes, as: UTF8.self)
    let expected =
      #"{"id":"03a35294-407b-7000-a000-000000000000","time":"2096-10-02T07:06:40.123Z","input":"counter","#
      + #""tag":"t\"1","code":"6901 ","match":"exact","kind":"text","symbology":null,"#
      + #""key":"6901","gtin":null,"rest":null,"products":["#
      + productText
      + #"],"elements":{},"data":{},"issues":[],"catalogue":{"user":"ana","cursor":"monday","sequence":1,"#
      + #""currentAt":"2096-10-02T07:06:40.000Z","ageSeconds":0.123},"recorded":false}"#
    #expect(String(decoding: answer.line, as: UTF8.self) == expected)
    #expect(!answer.isRepeat)
  }

  @Test func `a code that finds nothing is answered, and so is one without a catalogue`() async throws {
    let daemon = try root.daemon(user: nil)
    let answer = await daemon.scan(Reading(input: "counter", code: "12"))
    let value = try answer.json.value
    #expect(value["match"]?.text == "none" && value["products"]?.elements == [] && value["tag"] == .null)
    #expect(value["catalogue"]?["user"] == .null && value["catalogue"]?["currentAt"] == .null)
    #expect(value["catalogue"]?["ageSeconds"] == .null && value["problem"] == nil)
    #expect(answer.recording == .notNeeded && value["reason"]?.text == "no catalogue")
  }

  @Test func `a code that cannot be decoded is answered and recorded with its bytes, and matches nothing`() async throws
  {
    try root.fill("ana")
    let daemon = try root.daemon {
      $0.hook("shop")
      $0.doubleScanWindow = .seconds(600)
    }
    // Its beginning is a barcode of the catalogue.
    let reading = Reading(input: "counter", undecoded: Array("6901".utf8) + [0xFF, 0x5C])
    let answer = await daemon.scan(reading)
    let value = try answer.json.value
    #expect(value["code"]?.text == #"6901\xFF\x5C"# && value["hex"]?.text == "36393031FF5C")
    #expect(value["match"]?.text == "none" && value["products"]?.elements == [])
    #expect(value["reason"]?.text == "could not be decoded")
    #expect(answer.recording == .durable)
    #expect(try root.uploads().count == 1)
    // Other bytes are another code, and the same ones are the same.
    #expect(await daemon.scan(Reading(input: "counter", undecoded: Array("6901".utf8) + [0xFE, 0x5C])).repeats == nil)
    #expect(await daemon.scan(reading).repeats == answer.id)
    #expect(try daemon.look("6901").json.value["hex"] == nil)
  }

  @Test func `a code that could not be decoded states nothing, and needs no catalogue`() async throws {
    let bytes = Array("010471999900001910AC".utf8) + [0xFF] + Array("21XY".utf8)
    let reading = Reading(
      input: "counter", undecoded: bytes, code: "010471999900001910AC{F8}21XY", reason: "could not be decoded: F8")
    for user in ["ana", nil] {
      if user != nil { try root.fill("ana") }
      let daemon = try root.daemon(user: user)
      let value = try await daemon.scan(reading).json.value
      #expect(value["code"]?.text == "010471999900001910AC{F8}21XY" && value["match"]?.text == "none")
      #expect(value["gtin"] == .null && value["data"] == .object([]) && value["elements"] == .object([]))
      #expect(value["reason"]?.text == "could not be decoded: F8")
      #expect(value["hex"]?.text?.contains("4143FF3231") == true)
    }
  }

  @Test func `secrets of a code go to the one who sent it, and nobody else`() async throws {
    try root.fill("ana")
    let daemon = try root.daemon {
      $0.hook("shop")
      $0.doubleScanWindow = .zero
    }
    let session = try await daemon.sessions.open(name: nil, input: "counter")
    var events = daemon.events.events(after: nil).makeAsyncIterator()
    for reading in [
      Reading(input: "counter", code: "WIFI:T:WPA;S:shop;P:geheim1;;"),
      Reading(input: "counter", undecoded: Array("WIFI:T:WPA;S:shop;P:geheim1".utf8) + [0xFF, 0x3B, 0x3B]),
      Reading(input: "other", code: "otpauth://totp/x?secret=geheim1&issuer=y", tag: "t"),
      Reading(input: "counter", code: "https://ana:geheim1@id.gs1.org/01/04719999000019"),
    ] {
      let answer = await daemon.answer(reading)
      let own = String(decoding: answer.line, as: UTF8.self)
      #expect(own.contains("geheim1"), "\(own)")
      var event = try #require(await events.next())
      while event.kind != .scan { event = try #require(await events.next()) }
      let told = String(decoding: event.data, as: UTF8.self)
      #expect(!told.contains("geheim1") && !told.contains("67656865696D31") && told.contains("***"), "\(told)")
    }
    _ = try await daemon.sessions.add(["WIFI:P:geheim1;;"], to: session.id)
    let all =
      try root.uploads().map { "\($0.payload)" } + daemon.misses(limit: 10).map(\.id)
      + daemon.sessions.session(session.id).codes
    #expect(all.count >= 11)
    for text in all { #expect(!text.contains("geheim1"), "\(text)") }
    #expect(try daemon.misses(limit: 10).contains { $0.id == "WIFI:T:WPA;S:shop;P:***;;" })
    // A product is found all the same.
    let found = await daemon.scan(Reading(input: "http", code: "6901"))
    #expect(found.withoutSecrets.reading == found.reading)
  }

  @Test(arguments: [("6901", "exact"), ("6901\u{1D}", "exact")]) func `a separator at the end is no serial number`(
    code: String, kind: String
  ) async throws {
    try root.fill("ana")
    let match = try root.daemon().look(code).match
    #expect(match.kind.rawValue == kind && match.products.count == 1)
  }

  @Test func `a look has no effect`() async throws {
    try root.fill("ana")
    let daemon = try root.daemon { $0.hook("shop") }
    #expect(try daemon.look("6901").match.kind == .exact)
    #expect(try daemon.look("nothing").match.isEmpty)
    #expect(try root.uploads().isEmpty)
    await daemon.recorder.flush()
    #expect(try daemon.misses(limit: 10).isEmpty)
    #expect(daemon.events.publish(.scan, []).number == 1)
  }

  @Test func `opening a daemon creates its lock and nothing else for nobody`() throws {
    _ = try root.daemon(user: nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: root.path) == [RootLock.name])
  }

  @Test func `the age is that of the last synchronisation, also after a restart`() async throws {
    try root.fill("ana")
    let time = 4_000_000_000.0
    var environment = DaemonEnvironment()
    environment.time.now = { 4_000_000_060_000_000 }
    do {
      let daemon = try root.daemon(environment)
      try daemon.workspace.stores().settings.set(.lastSynchronization, to: time)
    }
    let daemon = try root.daemon(environment)
    #expect(try daemon.look("6901").catalogue.currentAt == Date(timeIntervalSince1970: time))
  }

  @Test func `a damaged catalogue is answered, reported, and forgotten when it can be read again`() async throws {
    try root.fill("ana")
    let place = URL(fileURLWithPath: root.path + "/users/ana/catalogue.log")
    let good = try Data(contentsOf: place)
    try Data(repeating: 7, count: 20_000).write(to: place)
    let daemon = try root.daemon { $0.hook("shop") }
    let answer = await daemon.scan(Reading(input: "counter", code: "6901"))
    #expect(answer.recording == .durable && answer.match.isEmpty && !daemon.isReady)
    #expect(try answer.json.value["match"]?.text == "unreadable")
    #expect(try daemon.status().value["problems"]?.elements?.first?["code"]?.text == "catalogue_unreadable")
    #expect(try root.codes() == ["6901"], "it is sent as it is answered")
    #expect(try daemon.misses(limit: 5).isEmpty, "nobody knows whether it is a miss")
    try good.write(to: place)
    let again = await daemon.scan(Reading(input: "counter", code: "6902"))
    #expect(again.recording == .durable && again.repeats == nil && again.match.kind == .exact)
    #expect(try daemon.status().value["problems"]?.elements == [])
  }

  @Test func `times are those of Foundation`() {
    var generator = SeededGenerator(for: "times")
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true, timeZone: .gmt)
    for _ in 0..<2000 * depth {
      // Before 1583 Foundation has Julian dates; RFC 3339 has none.
      let milliseconds = Int.random(in: -12_212_553_600_000...253_402_300_799_999, using: &generator)
      // Half a millisecond keeps the one formatter and the other from rounding to different sides.
      let date = Date(timeIntervalSince1970: (Double(milliseconds) + 0.5) / 1000)
      #expect(date.precise == date.formatted(style), "\(generator)")
    }
    #expect(Date(timeIntervalSince1970: -62_135_596_800 + 59 * 86_400).precise == "0001-03-01T00:00:00.000Z")
    #expect(Date(timeIntervalSince1970: .nan).precise == "0001-01-01T00:00:00.000Z")
    #expect(Date(timeIntervalSince1970: .infinity).precise == "9999-12-31T23:59:59.999Z")
    #expect(Date(timeIntervalSince1970: -0.001).precise == "1969-12-31T23:59:59.999Z")
  }

  @Test func `ids sort in the order in which they were given, whatever the clock does`() {
    let ids = ScanIDs(random: { 42 })
    var given: [String] = []
    for now: Int64 in [5_000_000, 5_000_000, 3_000_000, 5_001_000, -1, .max] { given.append(ids.next(now: now)) }
    for _ in 0..<5000 { given.append(ids.next(now: 6_000_000)) }
    #expect(given == given.sorted() && Set(given).count == given.count)
    #expect(given.allSatisfy { UUID(uuidString: $0) != nil && $0.count == 36 })
  }
}
