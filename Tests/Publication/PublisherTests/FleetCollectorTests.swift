import Essentials
import Gzip
import HTTPServer
import HTTPTypes
import Logging
import RandomTestSupport
import Synchronization
import Testing

@testable import Publisher

/// The receiver of reports, without a connection.
@Suite struct FleetCollectorTests {
  private let folder = FleetFolder()
  private let store: FleetStore
  private let clock = Clock()

  private final class Clock: Sendable {
    private let time = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
    var now: Date { time.withLock { $0 } }
    func advance(by seconds: Double) { time.withLock { $0.addTimeInterval(seconds) } }
  }

  init() throws { store = try FleetStore.collecting(folder.path, deviceLimit: 100) }

  private func collector(authorization: String? = nil) -> FleetCollector {
    var options = FleetCollector.Options()
    options.authorization = authorization
    return FleetCollector(store, options, logger: Logger(label: "test"), now: { [clock] in clock.now })
  }

  private func ask(
    _ method: HTTPRequest.Method, _ path: String, _ body: [UInt8] = [], _ fields: HTTPFields = [:],
    of collector: FleetCollector? = nil
  ) async throws -> (status: Int, text: String, fields: HTTPFields) {
    let request = HTTPRequest(method: method, scheme: "http", authority: "here", path: path, headerFields: fields)
    let response = try await (collector ?? self.collector()).respond(to: request, RequestBody(body))
    return (response.status.code, String(decoding: response.bytes, as: UTF8.self), response.headers)
  }

  private func post(_ text: String, _ fields: HTTPFields = [:]) async throws -> (status: Int, text: String) {
    let answer = try await ask(.post, "/reports", Array(text.utf8), fields)
    return (answer.status, answer.text)
  }

  private func devices() throws -> [String] {
    var devices: [String] = []
    try store.snapshot().forEach(isOrdered: true) { devices.append("\($0.id) \($0.sequence)") }
    return devices
  }

  @Test func `a report is kept, and one that comes twice or late changes nothing`() async throws {
    let report = #"{"device":"a","sequence":7,"number":2,"time":"2027-01-15T08:00:00Z"}"#
    #expect(try await post(report) == (200, #"{"kept":1,"older":0}"#))
    #expect(try await post(report) == (200, #"{"kept":0,"older":1}"#))
    let late = #"{"device":"a","sequence":6,"number":1,"time":"2027-01-15T07:00:00Z"}"#
    #expect(try await post(late) == (200, #"{"kept":0,"older":1}"#))
    #expect(try devices() == ["a 7"])
  }

  @Test func `all forms that an upload queue sends are understood`() async throws {
    let report = #"{"device":"a","sequence":1}"#
    #expect(try await post("\n " + report + "\n").status == 200)
    #expect(try await post("{\n\"device\":\n\"b\",\"sequence\":1\n}").status == 200)
    let array = try await post(#"[{"device":"c","sequence":1},{"device":"d","sequence":1}]"#)
    #expect(array == (200, #"{"kept":2,"older":0,"failed":[]}"#))
    let lines = "{\"device\":\"e\",\"sequence\":1}\r\n\n{\"device\":\"f\",\"sequence\":1}\n"
    #expect(try await post(lines, [.contentType: "application/x-ndjson"]).text == #"{"kept":2,"older":0,"failed":[]}"#)
    #expect(try await post(lines).text == #"{"kept":2,"older":0,"failed":[]}"#)
    var packed: [UInt8] = []
    GzipDeflater(level: 6).consume(Array(#"{"device":"g","sequence":1}"#.utf8).span, isLast: true) { piece in
      for index in piece.indices { packed.append(piece[index]) }
    }
    #expect(try await ask(.post, "/", packed, [.contentEncoding: "gzip"]).status == 200)
    #expect(try devices() == ["a 1", "b 1", "c 1", "d 1", "e 1", "f 1", "g 1"])
    packed.removeLast(3)
    #expect(try await ask(.post, "/", packed, [.contentEncoding: "gzip"]).status == 400)
  }

  @Test func `a batch is answered with what is no report, and refused if nothing in it is one`() async throws {
    let type: HTTPFields = [.contentType: "application/x-ndjson"]
    let mixed = try await post("{\"device\":\"a\",\"sequence\":1}\n{\"device\":\"b\"}\nnonsense\n", type)
    #expect(mixed.status == 200)
    #expect(mixed.text.hasPrefix(#"{"kept":1,"older":0,"failed":[{"index":1,"status":422,"message":"#), "\(mixed)")
    #expect(mixed.text.contains(#"},{"index":2,"status":400,"message":"#), "\(mixed)")
    #expect(try await post("{\"device\":\"b\"}\n{}\n", type).status == 422)
    #expect(try await post("no\nno\n", type).status == 400)
    #expect(try devices() == ["a 1"])
  }

  @Test(arguments: [
    ("", 400, "empty"), (" \n\r\n\t", 400, "empty"), ("hello", 400, "no JSON"),
    ("{\"device\":\"a\",\"sequence\":NaN}", 400, "no JSON"),
    ("[]", 400, "the array is empty"), ("{}", 422, "\\\"device\\\" is missing"), ("7", 422, "is a JSON object"),
    ("[[[]]]", 422, "is a JSON object"), (String(repeating: "[", count: 100_000), 400, "nesting"),
    (#"{"device":"a","device":"b","sequence":1}"#, 400, "in its object already"),
    (#"{"device":"a","sequence":1}{"device":"b","sequence":1}"#, 400, "no JSON"),
    (String(repeating: "0\n", count: 5000), 413, "has 5000 reports"),
    ("[" + String(repeating: "0,", count: 5000) + "0]", 413, "has 5001 reports"),
    (String(repeating: "x", count: 300_000), 413, "more than 262144 bytes"),
  ])
  func `what is no report is refused with a reason`(body: String, status: Int, words: String) async throws {
    let fields: HTTPFields = body.hasPrefix("0\n") ? [.contentType: "application/x-ndjson"] : [:]
    let answer = try await post(body, fields)
    #expect(answer.status == status && answer.text.contains(words), "\(answer)")
    #expect(try devices().isEmpty)
  }

  @Test func `a small body that decompresses to a large one is refused`() async throws {
    var packed: [UInt8] = []
    let zeros = [UInt8](repeating: 0x20, count: 10 << 20)
    GzipDeflater(level: 9).consume(zeros.span, isLast: true) { piece in
      for index in piece.indices { packed.append(piece[index]) }
    }
    #expect(packed.count < 20_000)
    #expect(try await ask(.post, "/reports", packed, [.contentEncoding: "gzip"]).status == 413)
    #expect(try await ask(.post, "/reports", packed, [.contentEncoding: "br"]).status == 415)
  }

  @Test func `other paths, methods and senders are refused`() async throws {
    #expect(try await ask(.post, "/other").status == 404)
    let get = try await ask(.get, "/reports")
    #expect(get.status == 405 && get.fields[.allow] == "POST")
    let post = try await ask(.post, "/metrics")
    #expect(post.status == 405 && post.fields[.allow] == "GET, HEAD")
    let report = Array(#"{"device":"a","sequence":1}"#.utf8)
    #expect(try await ask(.post, "/reports", report, [.origin: "http://evil.example"]).status == 403)
    #expect(try await ask(.post, "/reports", report, [.contentType: "multipart/form-data; boundary=x"]).status == 415)
    #expect(try await ask(.get, "/healthz").status == 200)
    #expect(try devices().isEmpty)
  }

  @Test func `a secret is asked for, except of health checks`() async throws {
    let collector = collector(authorization: "Bearer secret")
    let report = Array(#"{"device":"a","sequence":1}"#.utf8)
    for wrong in [nil, "Bearer secre", "Bearer secret2", "secret", ""] {
      var fields = HTTPFields()
      fields[.authorization] = wrong
      #expect(try await ask(.post, "/reports", report, fields, of: collector).status == 401)
      #expect(try await ask(.get, "/metrics", [], fields, of: collector).status == 401)
    }
    #expect(try await ask(.get, "/healthz", of: collector).status == 200)
    #expect(try await ask(.post, "/reports", report, [.authorization: "Bearer secret"], of: collector).status == 200)
    #expect(try devices() == ["a 1"])
  }

  @Test func `a device too many is told to try again later, and the others are kept`() async throws {
    let reports = (0..<101).map { #"{"device":"d\#($0)","sequence":1}"# }.joined(separator: "\n")
    let batch = try await post(reports, [.contentType: "application/x-ndjson"])
    #expect(batch.status == 200 && batch.text.contains(#""kept":100"#) && batch.text.contains(#""status":503"#))
    let answer = try await ask(.post, "/reports", Array(#"{"device":"more","sequence":1}"#.utf8))
    #expect(answer.status == 503 && answer.fields[.retryAfter] != nil)
    #expect(try await post(#"{"device":"d1","sequence":2}"#).status == 200)
  }

  @Test func `Prometheus is told how the fleet is`() async throws {
    for json in [
      #"{"device":"a","sequence":7,"catalogue":"c","ring":10,"target":7}"#,
      #"{"device":"b","sequence":6,"catalogue":"c","ring":10,"target":7,"problem":"publication_refused: x"}"#,
      #"{"device":"c","sequence":6,"catalogue":"c","ring":100,"target":6,"problem":"Odd \"}"}"#,
    ] { #expect(try await post(json).status == 200) }
    clock.advance(by: 3 * 86_400)
    #expect(try await post(#"{"device":"d","sequence":6,"catalogue":"c","ring":10,"target":6}"#).status == 200)
    #expect(try await post("{}").status == 422)
    let answer = try await ask(.get, "/metrics")
    #expect(answer.status == 200 && answer.fields[.contentType]?.hasPrefix("text/plain; version=0.0.4") == true)
    let lines = Set(answer.text.split(separator: "\n").map(String.init))
    for line in [
      #"shelfmark_fleet_devices{catalogue="c",ring="10",condition="silent"} 2"#,
      #"shelfmark_fleet_devices{catalogue="c",ring="100",condition="silent"} 1"#,
      #"shelfmark_fleet_devices{catalogue="c",ring="10",condition="behind"} 1"#,
      #"shelfmark_fleet_problem_devices{code="publication_refused"} 1"#,
      #"shelfmark_fleet_problem_devices{code="other"} 1"#, "shelfmark_fleet_silent_devices 3",
      #"shelfmark_fleet_newest_sequence{catalogue="c"} 7"#, #"shelfmark_fleet_newest_devices{catalogue="c"} 2"#,
      #"shelfmark_fleet_newest_problem_devices{catalogue="c"} 1"#,
    ] { #expect(lines.contains(line), "\(line)") }
  }

  @Test func `the reports that came are counted`() async throws {
    let collector = collector()
    for json in [#"{"device":"a","sequence":1,"number":1}"#, #"{"device":"a","sequence":1,"number":1}"#, "{}", "no"] {
      _ = try await ask(.post, "/reports", Array(json.utf8), of: collector)
    }
    let text = try await ask(.get, "/metrics", of: collector).text
    for (outcome, count) in [("kept", 1), ("older", 1), ("refused", 2)] {
      #expect(text.contains("shelfmark_fleet_reports_total{outcome=\"\(outcome)\"} \(count)\n"), "\(text)")
    }
  }

  @Test func `whatever comes is answered, and what is kept can be read`() async throws {
    var random = SeededGenerator(for: "reports of a hostile device")
    let collector = collector()
    let report =
      #"{"device":"d1","sequence":7,"digest":"ab","since":"2026-01-31T08:00:00Z","age":61,"mirror":null,"#
      + #""problem":"a: b","version":"1","catalogue":"c","ring":2.5,"target":8,"number":3,"time":"@1.5e9"}"#
    let pieces = [
      "null", "-1", "1e999", "NaN", "9223372036854775807", "0.5", "\"\"", "\"\\u0000\"", "{}", "[[]]", "\n", ",", "\\",
      "\u{202E}", "\"@1e300\"", "\"9999-12-31T23:59:59Z\"", "true", ":", "é",
    ]
    for _ in 0..<400 {
      var bytes = Array(report.utf8)
      if Bool.random(using: &random) { bytes = Array("[".utf8) + bytes + Array(",".utf8) + bytes + Array("]".utf8) }
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        let start = Int.random(in: 0..<bytes.count, using: &random)
        let end = min(bytes.count, start + Int.random(in: 0...12, using: &random))
        bytes.replaceSubrange(start..<end, with: Array((pieces.randomElement(using: &random) ?? "").utf8))
      }
      // A whole value, which leaves the rest a report.
      if Bool.random(using: &random) {
        let value = pieces.randomElement(using: &random) ?? ""
        let text = String(decoding: bytes, as: UTF8.self).replacing(/:("[^"]*"|[0-9.]+|null)/, maxReplacements: 1) {
          _ in
          ":" + value
        }
        bytes = Array(text.utf8)
      }
      let fields: HTTPFields =
        [[:], [.contentType: "application/x-ndjson"], [.contentEncoding: "gzip"]].randomElement(using: &random) ?? [:]
      let answer = try await ask(.post, "/reports", bytes, fields, of: collector)
      #expect([200, 400, 422].contains(answer.status), "\(answer)")
    }
    #expect(try devices().count <= 100)
    let metrics = try await ask(.get, "/metrics", of: collector)
    #expect(metrics.status == 200)
  }

  @Test func `the number of series does not grow with what devices invent`() async throws {
    let reports = (0..<100).map { number in
      #"{"device":"d\#(number)","sequence":1,"catalogue":"c\#(number)\n\"","ring":\#(Double(number) / 2),"problem":"p\#(number): x"}"#
    }
    #expect(try await post("[\(reports.joined(separator: ","))]").status == 200)
    let lines = try await ask(.get, "/metrics").text.split(separator: "\n")
    #expect(lines.count < 300)
    #expect(lines.allSatisfy { $0.hasPrefix("#") || $0.wholeMatch(of: /[a-z_]+(\{.*\})? [0-9]+/) != nil })
    let codes = lines.filter { $0.hasPrefix("shelfmark_fleet_problem_devices{") }
    #expect(codes.count == 49)
  }
}
