import DocumentFormat
import Essentials
import Testing

@testable import Publisher

/// What a device reports, and which of two reports is the later one.
@Suite struct FleetReportTests {
  private static let now = Date(timeIntervalSince1970: 1_800_000_000)

  private func report(_ json: String) throws -> FleetReport {
    try FleetReport(DocumentValue(json: json), received: Self.now)
  }

  @Test func `a report is read with all that it says`() throws {
    let report = try report(
      """
      {"device":"5f1c","sequence":7,"digest":"9a0b","since":"2026-01-31T08:00:00Z","age":61,"mirror":"http://m/",
      "problem":"sync_failing: no answer","version":"0.1.0","catalogue":"c","ring":2.5,"target":8,"number":12,
      "time":"2026-01-31T08:01:01.25Z","later":{"a":[1]}}
      """)
    #expect(report.id == "5f1c" && report.sequence == 7 && report.digest == "9a0b" && report.age == 61)
    #expect(report.since == DateText.date("2026-01-31T08:00:00Z") && report.mirror == "http://m/")
    #expect(report.problem == "sync_failing: no answer" && report.problemCode == "sync_failing")
    #expect(report.version == "0.1.0" && report.catalogue == "c" && report.ring == 2.5 && report.target == 8)
    #expect(report.number == 12 && report.time == DateText.date("2026-01-31T08:01:01.25Z"))
    #expect(report.received == Self.now)
  }

  @Test func `all but the device and its state may be missing or null`() throws {
    let sparse = try report(#"{"device":"a","sequence":1}"#)
    let null = try report(
      #"{"device":"a","sequence":1,"digest":null,"since":null,"age":null,"problem":null,"ring":null,"target":null}"#)
    #expect(sparse == null && sparse.number == 0 && sparse.problemCode == nil)
  }

  @Test(arguments: [
    ("[]", "is a JSON object"), (#""text""#, "is a JSON object"), ("{}", "\"device\" is missing"),
    (#"{"device":null,"sequence":1}"#, "\"device\" is missing"),
    (#"{"device":7,"sequence":1}"#, "\"device\" has to be a text"),
    (#"{"device":"","sequence":1}"#, "\"device\" has to be 1 to 128"),
    (#"{"device":"a/b","sequence":1}"#, "\"device\" has to be 1 to 128"),
    (#"{"device":"a\u0000","sequence":1}"#, "\"device\" has to be 1 to 128"),
    (#"{"device":"\#(String(repeating: "a", count: 129))","sequence":1}"#, "\"device\" has to be 1 to 128"),
    (#"{"device":"a"}"#, "\"sequence\" is missing"), (#"{"device":"a","sequence":0}"#, "\"sequence\" is missing or 0"),
    (#"{"device":"a","sequence":-1}"#, "\"sequence\" has to be a whole number"),
    (#"{"device":"a","sequence":1.5}"#, "\"sequence\" has to be a whole number"),
    (#"{"device":"a","sequence":18446744073709551615}"#, "\"sequence\" has to be a whole number"),
    (#"{"device":"a","sequence":"7"}"#, "\"sequence\" has to be a whole number"),
    (#"{"device":"a","sequence":1,"age":"old"}"#, "\"age\" has to be a number"),
    (#"{"device":"a","sequence":1,"since":"yesterday"}"#, "\"since\" has to be a time"),
    (#"{"device":"a","sequence":1,"problem":{"code":"x"}}"#, "\"problem\" has to be a text"),
    (#"{"device":"a","sequence":1,"ring":101}"#, "\"ring\" has to be a number from 0 to 100"),
    (#"{"device":"a","sequence":1,"ring":"10"}"#, "\"ring\" has to be a number from 0 to 100"),
    (#"{"device":"a","sequence":1,"digest":"\#(String(repeating: "a", count: 129))"}"#, "at most 128 bytes"),
    (#"{"device":"a","sequence":1,"catalogue":"\#(String(repeating: "a", count: 256))"}"#, "at most 255 bytes"),
  ])
  func `what is no report is refused with the field`(json: String, words: String) throws {
    let error = try #require(throws: FleetReportError.self) { try report(json) }
    #expect(error.description.contains(words), "\(error)")
  }

  @Test func `a long text is cut, since the report still counts`() throws {
    let text = String(repeating: "é", count: 5000)
    let report = try report(#"{"device":"a","sequence":1,"problem":"sync_failing: \#(text)","mirror":"\#(text)"}"#)
    #expect(report.problem?.unicodeScalars.count == 1001 && report.problem?.hasSuffix("é…") == true)
    #expect(report.mirror?.unicodeScalars.count == 1001 && report.problemCode == "sync_failing")
  }

  @Test(arguments: [
    ("publication_refused: why", "publication_refused"), ("disk_full", "disk_full"), ("Something else", "other"),
    ("", "other"), (": x", "other"), (String(repeating: "a", count: 65), "other"), ("a\"b: x", "other"),
  ])
  func `the code of a problem is fit for a label`(problem: String, code: String) throws {
    var report = try report(#"{"device":"a","sequence":1}"#)
    report.problem = problem
    #expect(report.problemCode == code)
  }

  /// A number and a time, in seconds from the arrival of the new report.
  struct Order: Sendable, CustomTestStringConvertible {
    var known: (number: UInt64, time: Double?)
    var new: (number: UInt64, time: Double?)
    var isOlder: Bool
    var testDescription: String
  }

  @Test(arguments: [
    Order(known: (3, -50), new: (4, -10), isOlder: false, testDescription: "the next one"),
    Order(known: (3, -50), new: (3, -50), isOlder: true, testDescription: "the same once more"),
    Order(known: (4, -50), new: (3, -90), isOlder: true, testDescription: "late"),
    Order(known: (4, -50), new: (1, -10), isOlder: false, testDescription: "the stores were lost"),
    Order(known: (4, -50), new: (5, -1e9), isOlder: false, testDescription: "the clock was set back"),
    Order(known: (4, 1e7), new: (5, -10), isOlder: false, testDescription: "the clock was ahead"),
    Order(known: (4, 1e7), new: (1, -10), isOlder: false, testDescription: "ahead, and the stores were lost"),
    Order(known: (4, 1e7), new: (3, 1e6), isOlder: true, testDescription: "ahead and late"),
    Order(known: (0, -50), new: (0, -90), isOlder: true, testDescription: "late, without numbers"),
    Order(known: (0, -50), new: (0, -50), isOlder: false, testDescription: "without numbers, at the same time"),
    Order(known: (0, nil), new: (0, nil), isOlder: false, testDescription: "with nothing to tell by"),
    Order(known: (4, nil), new: (3, nil), isOlder: true, testDescription: "late, without times"),
  ])
  func `a report is older by number and time`(order: Order) throws {
    func report(_ order: (number: UInt64, time: Double?)) throws -> FleetReport {
      var report = try self.report(#"{"device":"a","sequence":1}"#)
      report.number = order.number
      report.time = order.time.map { Self.now.addingTimeInterval($0) }
      return report
    }
    #expect(try report(order.new).isOlder(than: report(order.known)) == order.isOlder)
  }
}
