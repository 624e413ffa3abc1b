import Catalog
import Foundation
import LogStore
import Logging
import MetricsTestKit
import Synchronization
import Testing
import WaitingTestSupport

@testable import ScanDaemon

/// Problems, with a clock that the test moves.
@Suite struct ProblemsTests {
  private let clock = TestClock()
  private let lines = LineLog()
  private let metrics = TestMetrics()
  private let problems: Problems

  init() {
    let (clock, lines) = (clock, lines)
    problems = Problems(Logger(label: "test") { _ in lines }, metrics) { clock.now }
  }

  private func gauge(_ code: ProblemCode) throws -> Double? {
    try metrics.expectRecorder("shelfmark_problem", [("code", code.rawValue)]).lastValue
  }

  private func fields() throws -> [String] {
    try problems.json.value.elements?.map { problem in
      "\(problem["code"]?.text ?? "") \(problem["about"]?.text ?? "-") \(problem["count"]?.integer ?? 0)"
        + " \(problem["message"]?.text ?? "")"
    } ?? []
  }

  @Test func `codes are snake case, and each has a remedy of its own or a shared one`() {
    for code in ProblemCode.allCases {
      #expect(code.rawValue.allSatisfy { $0.isLowercase || $0 == "_" })
      #expect(code.remedy.count > 20 && !code.remedy.hasSuffix("."))
    }
  }

  @Test func `the documentation lists each code`() throws {
    let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let page = package.appendingPathComponent("Sources/Daemon/ScanDaemon/ScanDaemon.docc/ScanDaemon.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    for code in ProblemCode.allCases { #expect(text.contains("`\(code.rawValue)`"), "\(code.rawValue)") }
  }

  @Test(arguments: [ProblemCode.catalogueUnreadable, .documentsUnreadable, .recordingFailing, .uploadsStopped])
  func `a file of a newer version is no damage, whatever it is the file of`(code: ProblemCode) throws {
    let error = StoreError.newer(path: "/a/b.log", reason: "format version 2, this program reads version 1")
    #expect(!CatalogueHealth.isDamage(error) && !CatalogueHealth.isDamage(CatalogError.store(error)))
    problems.report(code, "it cannot be read: \(error)")
    let remedy = try #require(try problems.json.value.elements?[0]["remedy"]?.text)
    #expect(remedy.contains("install the newer version") && !remedy.contains("repair") && !remedy.contains("replace"))
    problems.report(code, "it cannot be read: it is damaged")
    #expect(try problems.json.value.elements?[0]["remedy"]?.text == code.remedy)
  }

  @Test func `a problem lasts from its first occurrence until it is cleared, and each webhook has its own`() throws {
    problems.report(.webhookFailing, "one", about: "a")
    let since = try #require(try problems.json.value.elements?[0]["since"]?.text)
    clock.advance(by: .seconds(5))
    problems.report(.webhookFailing, "two", about: "a")
    problems.report(.webhookFailing, "three", about: "b")
    problems.report(.syncFailing, "four")
    #expect(try fields() == ["sync_failing - 1 four", "webhook_failing a 2 two", "webhook_failing b 1 three"])
    #expect(try problems.json.value.elements?[1]["since"]?.text == since)
    #expect(try problems.json.value.elements?[1]["remedy"]?.text == ProblemCode.webhookFailing.remedy)
    #expect(try gauge(.webhookFailing) == 2 && gauge(.syncFailing) == 1 && gauge(.keysHeld) == 0)
    problems.clear(.webhookFailing, about: "a")
    problems.clear(.syncFailing)
    problems.clear(.syncFailing)
    #expect(try fields() == ["webhook_failing b 1 three"])
    #expect(try gauge(.webhookFailing) == 1 && gauge(.syncFailing) == 0)
    #expect(
      lines.all == [
        "warning problem webhook_failing a", "warning problem webhook_failing b", "warning problem sync_failing",
        "notice problem ended webhook_failing a", "notice problem ended sync_failing",
      ])
  }

  @Test func `a look at the causes sets all problems of a kind`() throws {
    problems.set(.inputClosed, ["a": "no device", "b": "port taken"])
    problems.set(.inputClosed, ["b": "still taken", "c": "no device"])
    #expect(try fields() == ["input_closed b 1 still taken", "input_closed c 1 no device"])
    problems.set(.syncNoUser, "nobody")
    problems.set(.syncNoUser, "nobody is signed in")
    #expect(try fields().last == "sync_no_user - 1 nobody is signed in")
    problems.set(.inputClosed, [:])
    problems.set(.syncNoUser, nil)
    #expect(try fields() == [])
  }

  @Test func `a problem whose end nobody sees ends after its time`() throws {
    problems.report(.connectionsRefused, "full", about: "http", endsAfter: .seconds(60))
    clock.advance(by: .seconds(50))
    problems.report(.connectionsRefused, "full", about: "http", endsAfter: .seconds(60))
    clock.advance(by: .seconds(50))
    problems.tick()
    #expect(try fields() == ["connections_refused http 2 full"])
    clock.advance(by: .seconds(10))
    problems.tick()
    #expect(try fields() == [])
    #expect(try gauge(.connectionsRefused) == 0)
  }

  @Test func `a flapping problem is a line when it begins, one when it ends, and one a minute between`() throws {
    // Ten minutes, in which it comes and goes each second; a look each five.
    for second in 0..<600 {
      problems.report(.webhookFailing, "refused", about: "a")
      clock.advance(by: .milliseconds(500))
      problems.clear(.webhookFailing, about: "a")
      clock.advance(by: .milliseconds(500))
      if second % 5 == 4 { problems.tick() }
    }
    let flapping = lines.all.count { $0 == "warning problem comes and goes webhook_failing a" }
    #expect((9...10).contains(flapping))
    #expect(lines.all.prefix(2) == ["warning problem webhook_failing a", "notice problem ended webhook_failing a"])
    #expect(lines.all.count == flapping + 2)
    for _ in 0..<30 {
      clock.advance(by: .seconds(5))
      problems.tick()
    }
    #expect(lines.all.last == "notice problem ended webhook_failing a")
    #expect(lines.all.count <= flapping + 4)
    // After a quiet minute it is a problem like any other.
    let count = lines.all.count
    problems.report(.webhookFailing, "refused", about: "a")
    #expect(lines.all.count == count + 1 && lines.all.last == "warning problem webhook_failing a")
  }

  @Test func `another reason of a problem is reported, each ten seconds at most, and another number is not`() throws {
    problems.report(.syncFailing, "line 3 has no id")
    problems.report(.syncFailing, "line 4 has no id")
    clock.advance(by: .seconds(61))
    problems.tick()
    #expect(lines.all.count == 1)
    for _ in 0..<9 {
      problems.report(.syncFailing, "line 4 has no price")
      problems.report(.syncFailing, "no such file")
      problems.tick()
      clock.advance(by: .seconds(1))
    }
    #expect(lines.all == ["warning problem sync_failing", "warning problem has another reason sync_failing"])
    problems.report(.syncFailing, "line 4 has no price")
    clock.advance(by: .seconds(61))
    problems.tick()
    #expect(lines.all.count == 3)
    problems.clear(.syncFailing)
    #expect(lines.all.last == "notice problem ended sync_failing")
  }

  @Test func `a flapping problem that stays is reported once more, and when it ends`() throws {
    for _ in 0..<3 {
      problems.report(.webhookFailing, "refused", about: "a")
      clock.advance(by: .seconds(1))
      problems.clear(.webhookFailing, about: "a")
      clock.advance(by: .seconds(1))
    }
    problems.report(.webhookFailing, "refused", about: "a")
    for _ in 0..<600 {
      clock.advance(by: .seconds(5))
      problems.tick()
    }
    #expect(try fields().count == 1)
    problems.clear(.webhookFailing, about: "a")
    #expect(lines.all.first == "warning problem webhook_failing a")
    #expect(lines.all.last == "notice problem ended webhook_failing a")
    #expect(lines.all.count <= 5, "\(lines.all)")
  }

  @Test func `beyond the bound, problems of a code share one`() throws {
    for number in 0..<(Problems.maximumCount + 50) { problems.report(.inputClosed, "closed", about: "\(number)") }
    problems.report(.webhookFailing, "refused", about: "a")
    #expect(try fields().contains("webhook_failing other 1 refused"))
    #expect(problems.current.count <= Problems.maximumCount + ProblemCode.allCases.count)
    problems.clear(.webhookFailing, about: "a")
    #expect(try !fields().contains { $0.hasPrefix("webhook_failing") })
    for _ in 0..<2 {
      problems.set(.uploadsParked, ["b": "1 upload", "c": "2 uploads"])
      #expect(try fields().count { $0.hasPrefix("uploads_parked other 1 ") } == 1)
    }
  }
}

/// Writes down log lines as `LEVEL MESSAGE CODE ABOUT`.
final class LineLog: LogHandler, Sendable {
  private let state = Mutex<[String]>([])
  var all: [String] { state.withLock { $0 } }

  var metadata: Logger.Metadata {
    get { [:] }
    set {}
  }
  var logLevel: Logger.Level {
    get { .trace }
    set {}
  }
  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { nil }
    set {}
  }

  func log(event: LogEvent) {
    var words = ["\(event.level)", "\(event.message)"]
    for key in ["problem", "about"] { if let value = event.metadata?[key] { words.append("\(value)") } }
    state.withLock { $0.append(words.joined(separator: " ")) }
  }
}
