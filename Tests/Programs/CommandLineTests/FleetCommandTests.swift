import Foundation
import Testing
import WaitingTestSupport

/// `fleet collect`, `fleet status` and `publish ring --fleet`, with the devices that report.
@Suite(.timeLimit(.minutes(10))) struct FleetCommandTests {
  private let root: TestRoot
  private var reports: String { root.folder.path + "/reports" }

  init() throws {
    root = try TestRoot(answers: [])
    #expect(try root.run("login", "u").code == 0)
  }

  /// A collector, and the address that it prints.
  private func collect(_ options: String...) throws -> (collector: Conversation, url: String) {
    let collector = try Conversation(
      ["fleet", "collect", "--port", "0", "--to", reports] + options, root: root.path)
    let line = try #require(collector.line())
    #expect(line.hasPrefix("listening on http://127.0.0.1:") && line.hasSuffix("/reports"))
    return (collector, String(try #require(line.split(separator: " ").last)))
  }

  /// Sends reports through a queue of uploads, one request each if the options say nothing else.
  private func send(_ reports: [String], to url: String, _ options: [String] = []) throws {
    for report in reports { #expect(try root.run("queue", "add", report).code == 0) }
    let run = try root.run(["queue", "run", "--url", url, "--until-empty"] + options)
    #expect(run.code == 0, "\(run.words)")
    let left = try root.run("queue", "list", "--json")
    #expect(left.output.isEmpty, "\(left.text)")
  }

  private func status(_ options: String...) throws -> ProgramRun {
    try root.run(["fleet", "status", "--from", reports] + options)
  }

  @Test func `what devices send is shown, also while more of it comes`() throws {
    let (collector, url) = try collect()
    #expect(try status().text == "no device has reported yet\n")
    try send(
      [
        #"{"device":"till-1","sequence":7,"digest":"ab","since":"2026-01-31T08:00:00Z","age":61,"mirror":"http://m/","#
          + #""problem":null,"version":"0.1.0","catalogue":"c","ring":10,"target":7,"number":1}"#,
        #"{"device":"till-2","sequence":6,"problem":"publication_refused: a probe fails","ring":10,"target":7,"#
          + #""catalogue":"c","number":1}"#,
        #"{"device":"till-3","sequence":6,"ring":10,"target":6,"catalogue":"c","number":1}"#,
      ], to: url)
    let lines = try status("--json").objects()
    #expect(lines.map { $0.text("device") } == ["till-1", "till-2", "till-3"])
    let first = lines[0]
    #expect(
      first.sortedKeys == [
        "age", "catalogue", "condition", "device", "digest", "mirror", "number", "problem", "received", "ring",
        "sequence", "since", "target", "time", "version",
      ])
    #expect(first.number("sequence") == 7 && first.text("digest") == "ab" && first.number("age") == 61)
    #expect(first.text("since") == "2026-01-31T08:00:00Z" && first.text("mirror") == "http://m/")
    #expect(first["problem"] is NSNull && first.text("version") == "0.1.0" && first.number("ring") == 10)
    #expect(lines.map { $0.text("condition") } == ["current", "problem", "behind"])
    let table = try status().text.split(separator: "\n").map(String.init)
    #expect(table.count == 5 && table[0].hasPrefix("DEVICE"), "\(table)")
    #expect(table[1].hasPrefix("till-2") && table[1].hasSuffix("publication_refused: a probe fails; should have 7"))
    #expect(table[2].hasPrefix("till-3") && table[2].hasSuffix("should have 7"))
    #expect(table[4] == "3 devices: 1 current, 1 behind, 1 with a problem")
    // The next process goes on with what is there.
    collector.process.terminate()
    #expect(collector.end() == 0)
    #expect(try status("--json").objects().count == 3)
    let (next, other) = try collect()
    try send([#"{"device":"till-2","sequence":7,"ring":10,"target":7,"catalogue":"c","number":2}"#], to: other)
    #expect(try status("--json").objects().map { $0.number("sequence") } == [7, 7, 6])
    next.process.interrupt()
    #expect(next.end() == 0)
  }

  @Test func `batches, compressed bodies and a secret come through as the queue sends them`() throws {
    let secret = try root.folder.file("secret", Data("Bearer word\n".utf8))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret.path)
    let (collector, url) = try collect("--authorization-file", secret.path)
    let rows = (0..<7).map { #"{"device":"d\#($0)","sequence":1}"# }
    let header = ["--header", "Authorization: Bearer word"]
    try send(Array(rows[..<3]), to: url, header + ["--batch", "2"])
    try send(Array(rows[3..<6]), to: url, header + ["--batch", "3", "--batch-format", "array", "--gzip"])
    try send(Array(rows[6...]), to: url, header + ["--gzip"])
    #expect(try status("--json").objects().count == 7)
    collector.process.terminate()
    #expect(collector.end() == 0)
  }

  @Test func `what devices invent neither ends a line nor controls the terminal`() throws {
    let (collector, url) = try collect()
    try send(
      [
        #"{"device":"a","sequence":1,"problem":"\u001b[31mred\u0000\nDEVICE  x\u202e","version":"1\n2","#
          + #""catalogue":"c\u001b]0;x\u0007"}"#, #"{"device":"b","sequence":1}"#,
      ], to: url)
    let table = try status()
    #expect(table.text.split(separator: "\n").count == 4, "\(table.text)")
    let isClean = table.text.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 && $0 != "\u{202E}" }
    #expect(isClean, "\(table.text)")
    let json = try status("--json")
    #expect(try json.objects().count == 2)
    #expect(json.output.allSatisfy { $0 == 0x0A || $0 >= 0x20 })
    let halt = try status("--halt", "2%")
    #expect(halt.code == 1 && halt.words.split(separator: "\n").count == 2, "\(halt.words)")
    #expect(halt.words.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 })
    withExtendedLifetime(collector) {}
  }

  @Test func `a ring is withheld while too many devices of the last one fail`() throws {
    let site = root.folder.path + "/site"
    let key = root.folder.path + "/key"
    #expect(try root.run("publish", "keys", "new", key).code == 0)
    for name in ["one", "two"] {
      let rows = try root.folder.file("rows.csv", Data("id,barcode,name\n1,6901,\(name)\n".utf8))
      let run = try root.run("publish", "--from", rows.path, "--to", site, "--key", key)
      #expect(run.code == 0, "\(run.words)")
    }
    func ring(_ words: String...) throws -> ProgramRun {
      try root.run(["publish", "ring"] + words + ["--to", site, "--key", key])
    }
    func head() throws -> String {
      try String(contentsOfFile: site + "/catalogue.json", encoding: .utf8)
    }
    let first = try ring("10", "2", "100", "1")
    #expect(first.text == "the rings are published: up to 10 % the state 2, up to 100 % the state 1\n")
    #expect(try head().contains(#""rings":[{"percent":10,"sequence":2},{"percent":100,"sequence":1}]"#))
    let (collector, url) = try collect()
    let gate = ["--fleet", reports, "--halt", "2%"]
    func wider(_ percent: String = "2%") throws -> ProgramRun {
      try ring("50", "2", "100", "1", "--fleet", reports, "--halt", percent)
    }
    let untried = try wider()
    #expect(untried.code == 1 && untried.words.contains("no device has reported the state 2 yet"), "\(untried.words)")
    let catalogue = try #require(try head().firstMatch(of: /"catalogue":"([^"]+)"/)?.1)
    func report(_ number: Int, _ more: String) -> String {
      #"{"device":"d\#(number)","catalogue":"\#(catalogue)","ring":10,"target":2,\#(more)}"#
    }
    var all = (0..<19).map { report($0, #""sequence":2"#) }
    all.append(report(19, #""sequence":1,"problem":"publication_refused: a probe fails""#))
    try send(all, to: url)
    let words = "1 of 20 devices with the state 2 reports a problem (5.0 %)"
    let withheld = try wider()
    #expect(withheld.code == 1 && withheld.words.contains("\(words), more than 2 %: the next ring is withheld"))
    #expect(withheld.output.isEmpty && withheld.isOrderly)
    #expect(try head().contains(#""rings":[{"percent":10,"#))
    let asked = try status("--halt", "2%", "--json")
    #expect(asked.code == 1 && asked.words.contains(words), "\(asked.words)")
    #expect(try asked.objects().count == 20)
    #expect(try status("--halt", "2%", "--sequence", "1").code == 1)
    #expect(try status("--halt", "2%", "--sequence", "9").code == 1)
    #expect(try status("--halt", "5").code == 0)
    // Back, narrower, and the first devices of another state: never withheld.
    for rings in [["5", "2", "100", "1"], ["100", "1"], ["1", "2", "100", "1"]] {
      let run = try root.run(["publish", "ring"] + rings + ["--to", site, "--key", key] + gate)
      #expect(run.code == 0, "\(rings): \(run.words)")
    }
    let allowed = try wider("5%")
    #expect(allowed.code == 0 && allowed.words.contains("\(words), not more than 5 %"), "\(allowed.words)")
    #expect(try head().contains(#""rings":[{"percent":50,"#))
    withExtendedLifetime(collector) {}
  }

  @Test func `mistakes are told`() throws {
    let missing = root.folder.path + "/missing"
    #expect(try root.run("fleet", "status", "--from", missing).code == 66)
    #expect(!FileManager.default.fileExists(atPath: missing))
    let (collector, url) = try collect()
    let busy = try root.run("fleet", "collect", "--port", "0", "--to", reports)
    #expect(busy.code == 75 && busy.words.contains("another process collects"), "\(busy.words)")
    let port = try #require(URL(string: url)?.port)
    let taken = try root.run("fleet", "collect", "--port", "\(port)", "--to", missing)
    #expect(taken.code == 69 && taken.words.contains("port \(port)"), "\(taken.words)")
    for words in [
      ["status"], ["status", "--from", reports, "--halt", "101%"], ["status", "--from", reports, "--halt", "nan"],
      ["status", "--from", reports, "--halt", "0x2"], ["status", "--from", reports, "--sequence", "1"],
      ["collect", "--to", missing], ["collect", "--port", "70000", "--to", missing],
      ["collect", "--port", "0", "--to", missing, "--max-devices", "0"],
    ] { #expect(try root.run(["fleet"] + words).code == 64, "\(words)") }
    let rings = ["publish", "ring", "100", "1", "--to", missing]
    #expect(try root.run(rings + ["--halt", "2%"]).code == 64)
    #expect(try root.run(rings + ["--fleet", reports]).code == 64)
    withExtendedLifetime(collector) {}
  }

  @Test func `a daemon that follows a publication reports to the collector`() async throws {
    let site = root.folder.path + "/site"
    let key = root.folder.path + "/key"
    #expect(try root.run("publish", "keys", "new", key).code == 0)
    func publish(_ name: String) throws {
      let rows = try root.folder.file("rows.csv", Data("id,barcode,name\n1,6901,\(name)\n".utf8))
      let run = try root.run("publish", "--from", rows.path, "--to", site, "--key", key, "--poll", "1")
      #expect(run.code == 0, "\(run.words)")
    }
    try publish("one")
    let server = try HTTPServer(folder: site)
    let secret = try root.folder.file("secret", Data("Bearer word\n".utf8))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret.path)
    let (collector, url) = try collect("--authorization-file", secret.path)
    let till = try TestRoot()
    #expect(try till.run("login", "till").code == 0)
    let daemon = try DaemonProcess(
      [
        "--sync-published", server.root, "--sync-root-key", key + ".pub", "--sync-reports-url", url,
        "--sync-reports-authorization-file", secret.path, "--http-enabled", "false",
      ], root: till.path, log: till.folder.url("log"))
    defer { daemon.kill() }
    try await eventually("the first state is reported") {
      try status("--json").objects().first?.number("sequence") == 1
    }
    try publish("two")
    try await eventually("the second state is reported") {
      try status("--json").objects().first?.number("sequence") == 2
    }
    let line = try status("--json").object()
    #expect(line.text("condition") == "current" && line["problem"] is NSNull && line.number("target") == 2)
    let head = try String(contentsOfFile: site + "/catalogue.json", encoding: .utf8)
    let digest = try #require(line.text("digest"))
    let catalogue = try #require(line.text("catalogue"))
    #expect(head.contains("\"digest\":\"\(digest)\"") && head.contains("\"catalogue\":\"\(catalogue)\""))
    #expect(try status("--halt", "0%").code == 0)
    #expect(daemon.end() == 0)
    collector.process.terminate()
    #expect(collector.end() == 0)
  }
}
