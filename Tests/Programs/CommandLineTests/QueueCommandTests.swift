import Foundation
import Testing

/// `catalogctl queue` as another program drives it.
@Suite struct QueueCommandTests {
  @Test func `an upload is added, shown, sent under its id, and gone`() throws {
    let root = try TestRoot(answers: [])
    let first = try root.run("queue", "add", #"{"code":"1"}"#, "--kind", "scan", "--key", "k")
    #expect(first.code == 0 && first.isOrderly, "\(first.words)")
    let id = try #require(first.lines.first)
    let second = try root.run("queue", "add", "--json", "--priority", "high", "--ttl", "60", input: Data("[1, 2]".utf8))
    #expect(try second.object()["id"] as? String != nil, "\(second.words)")
    let shown = try root.run("queue", "show", id).object()
    #expect(shown["kind"] as? String == "scan" && shown["state"] as? String == "waiting")
    #expect((shown["payload"] as? [String: Any])?["code"] as? String == "1")
    #expect(try root.run("queue", "list", "--json").objects().count == 2)
    let refusal = HTTPServer.Answer(status: "422 Unprocessable Content")
    let server = try HTTPServer([HTTPServer.Answer(), refusal, refusal, refusal])
    let url = "http://127.0.0.1:\(server.port)/{kind}/{id}"
    let run = try root.run(
      "queue", "run", "--json", "--url", url, "--until-empty", "--concurrency", "1", "--pause", "0.01")
    #expect(run.code == 69, "\(run.words)")
    let report = try run.object()
    #expect(report["delivered"] as? Int == 1 && report["parked"] as? Int == 1 && report["waiting"] as? Int == 0)
    // The one with the high priority first.
    #expect(server.requests.count == 4)
    #expect(server.requests.last == "POST /scan/\(id) HTTP/1.1")
    let parked = try root.run("queue", "list", "--json", "--state", "parked").objects()
    #expect(parked.count == 1 && (parked[0]["lastError"] as? [String: Any])?["status"] as? Int == 422)
    #expect(try root.run("queue", "retry", "--parked", "--json").object()["retried"] as? Int == 1)
    #expect(try root.run("queue", "drop", id).code == 0)
    #expect(try root.run("queue", "drop", id).code == 1)
    #expect(try root.run("queue", "show", id).code == 1)
    let stat = try root.run("queue", "stat", "--json").object()
    #expect(stat["delivered"] as? Int == 1 && stat["removed"] as? Int == 1 && stat["waiting"] as? Int == 0)
  }

  @Test func `documents know nothing of a queue, and verify reads it`() throws {
    let root = try TestRoot(answers: [])
    #expect(try root.run("documents", "put", "notes", input: Data(#"{"id":1}"#.utf8)).code == 0)
    let digest = try root.run("verify").lines
    #expect(digest.count == 1)
    for number in 0..<3 { #expect(try root.run("queue", "add", "\(number)", "--replace", "r").code == 0) }
    let withUpload = try root.run("verify")
    #expect(withUpload.code == 0 && withUpload.lines != digest)
    #expect(try root.run("documents", "list", "--json").objects().compactMap { $0["name"] as? String } == ["notes"])
    for arguments in [["list"], ["query"], ["put"], ["get", "uploads"], ["delete", "uploads"]] {
      let command = [arguments[0], "shelfmark.queue/uploads/state"] + arguments.dropFirst()
      let run = try root.run(["documents"] + command, input: Data(#"{"id":"queue"}"#.utf8))
      #expect(run.code == 64 && run.isOrderly, "\(command): \(run.code) \(run.words)")
    }
    #expect(try root.run("queue", "stat", "--json").object()["superseded"] as? Int == 2)
    #expect(try root.run("queue", "clear").code == 0)
    #expect(try root.run("verify").lines == digest)
  }

  @Test func `a repair that loses a queue's numbers counts them anew, and the next upload takes nobody's place`() throws
  {
    let root = try TestRoot(answers: [])
    var ids: [String] = []
    for number in 0..<4 { ids += try root.run("queue", "add", "\(number)").lines }
    let log = URL(fileURLWithPath: root.path + "/users/u/documents.log")
    var bytes = try Data(contentsOf: log)
    // Each commit has the numbers once: all of them are damaged.
    var end = bytes.endIndex
    while let range = bytes.range(of: Data("nextOrdinal".utf8), options: .backwards, in: bytes.startIndex..<end) {
      bytes[range.lowerBound] ^= 1
      end = range.lowerBound
    }
    try #require(end < bytes.endIndex)
    try bytes.write(to: log)
    #expect(try root.run("verify").code == 65)
    let repair = try root.run("verify", "--repair")
    #expect(repair.code == 0 && repair.words.contains("repaired: the queue uploads"), "\(repair.words)")
    #expect(try root.run("queue", "stat", "--json").object()["waiting"] as? Int == 4)
    ids += try root.run("queue", "add", "4").lines
    let listed = try root.run("queue", "list", "--json").objects().compactMap { $0["id"] as? String }
    #expect(ids.count == 5 && listed == ids)
    #expect(try root.run("verify", "--repair").words.contains("clean"))
  }

  @Test func `a paused queue sends nothing, in whatever process, until it is resumed`() throws {
    let root = try TestRoot(answers: [])
    #expect(try root.run("queue", "add", "1").code == 0)
    #expect(try root.run("queue", "pause").code == 0)
    #expect(try root.run("queue", "stat", "--json").object()["paused"] as? [String] == ["byHand"])
    let run = try root.run("queue", "run", "--url", "http://127.0.0.1:1/", "--until-empty")
    #expect(run.code == 75 && run.words.contains("queue resume"), "\(run.words)")
    #expect(try root.run("queue", "resume").code == 0)
    // Nobody listens: it is tried again, and parked.
    let failed = try root.run("queue", "run", "--url", "http://127.0.0.1:1/", "--until-empty", "--pause", "0.01")
    #expect(failed.code == 69, "\(failed.words)")
    #expect(try root.run("queue", "clear", "--json").object()["removed"] as? Int == 1)
  }

  @Test func `what waits because it failed is let go by hand`() throws {
    let root = try TestRoot(answers: [])
    let id = try #require(try root.run("queue", "add", "1").lines.first)
    let later = try root.run("queue", "add", "2", "--not-before", "2100-01-01T00:00:00Z")
    #expect(later.code == 0)
    let busy = HTTPServer.Answer(status: "429 Too Many Requests\r\nRetry-After: 3600")
    let server = try HTTPServer([busy, busy, HTTPServer.Answer()])
    for (attempt, retry) in [[], [id], ["--waiting"]].enumerated() {
      if attempt > 0 {
        let run = try root.run(["queue", "retry", "--json"] + retry)
        #expect(run.code == 0 && run.isOrderly, "\(run.words)")
        if retry == ["--waiting"] { #expect(try run.object()["retried"] as? Int == 1) }
      }
      let sending = try Conversation(["queue", "run", "--url", "http://127.0.0.1:\(server.port)/"], root: root.path)
      let deadline = ContinuousClock.now + .seconds(300)
      while ContinuousClock.now < deadline {
        let shown = try root.run("queue", "show", id)
        if shown.code == 1 { break }
        let upload = try shown.object()
        if attempt < 2, upload["state"] as? String == "waiting", upload["attempts"] as? Int == attempt + 1 { break }
      }
      sending.process.terminate()
      #expect(sending.end() == 0)
    }
    #expect(server.requests.count == 3)
    let stat = try root.run("queue", "stat", "--json").object()
    #expect(stat["delivered"] as? Int == 1 && stat["waiting"] as? Int == 1)
  }

  @Test func `until-empty does not wait for what is for later, and says how much that is`() throws {
    let root = try TestRoot(answers: [])
    let later = ["--not-before", "2100-01-01T00:00:00Z"]
    for arguments in [["1"], ["2"] + later, ["3", "--key", "k"] + later, ["4", "--key", "k"], ["5", "--key", "l"]] {
      #expect(try root.run(["queue", "add"] + arguments).code == 0)
    }
    let server = try HTTPServer([HTTPServer.Answer(), HTTPServer.Answer()])
    let run = try root.run("queue", "run", "--url", "http://127.0.0.1:\(server.port)/", "--until-empty", "--json")
    #expect(run.code == 0 && run.words.contains("3 uploads wait until 2100-01-01T00:00:00Z or later"), "\(run.words)")
    #expect(try run.object().number("delivered") == 2 && run.object().number("waiting") == 3)
    #expect(server.requests.count == 2)
    let again = try root.run("queue", "run", "--url", "http://127.0.0.1:1/", "--until-empty")
    #expect(again.code == 0 && again.words.contains("3 uploads wait"), "\(again.words)")
  }

  @Test func `the help of add names the default priority`() throws {
    let help = try TestRoot().run("queue", "add", "--help").text.replacing(/\s+/, with: " ")
    #expect(help.contains("Which uploads go first (default: normal). (values: low, normal, high)"), "\(help)")
  }

  @Test func `an answer about the server parks nothing, and says so`() throws {
    let root = try TestRoot(answers: [])
    for number in 0..<3 { #expect(try root.run("queue", "add", "\(number)").code == 0) }
    let server = try HTTPServer(
      [HTTPServer.Answer(status: "401 Unauthorized")]
        + [HTTPServer.Answer](repeating: HTTPServer.Answer(status: "404 Not Found"), count: 3))
    let url = "http://127.0.0.1:\(server.port)/"
    let run = try root.run("queue", "run", "--json", "--url", url, "--until-empty", "--concurrency", "1")
    #expect(run.code == 69 && run.words.contains("401") && run.words.contains("nothing was parked"), "\(run.words)")
    let report = try run.object()
    #expect(report["parked"] as? Int == 0 && report["waiting"] as? Int == 3)
    #expect((report["pausedBy"] as? String)?.contains("401") == true && server.requests.count == 1)
    // With another list the same status parks.
    let parking = try root.run(
      "queue", "run", "--json", "--url", url, "--until-empty", "--concurrency", "1", "--retries", "0", "--park-on",
      "404",
      "--pause-on", "401")
    #expect(parking.code == 69 && server.requests.count == 4, "\(parking.words)")
    #expect(try parking.object()["parked"] as? Int == 3)
  }

  @Test func `a success rule decides, and with hold later uploads of a key wait`() throws {
    let root = try TestRoot(answers: [])
    for text in ["1", "2"] { #expect(try root.run("queue", "add", text, "--key", "till\u{1B}-1").code == 0) }
    let refusal = HTTPServer.Answer(body: Data(#"{"status":{"code":500}}"#.utf8))
    let success = HTTPServer.Answer(body: Data(#"{"status":{"code":200}}"#.utf8))
    let server = try HTTPServer([refusal, refusal, success, success])
    let command = [
      "queue", "run", "--json", "--url", "http://127.0.0.1:\(server.port)/", "--until-empty", "--success",
      "status.code == 200", "--on-parked", "hold", "--retries", "1", "--pause", "0.01",
    ]
    let run = try root.run(command)
    #expect(run.code == 69 && run.words.contains("wait for a decision"), "\(run.words)")
    let report = try run.object()
    #expect(report["parked"] as? Int == 1 && report["waiting"] as? Int == 1 && report["heldKeys"] as? Int == 1)
    let stat = try root.run("queue", "stat", "--json").object()
    let key = try #require((stat["heldKeys"] as? [[String: Any]])?.first)
    #expect(
      key["orderKey"] as? String == "till\u{1B}-1" && key["parked"] as? Int == 1 && key["since"] as? String != nil)
    let words = try root.run("queue", "stat")
    #expect(words.lines.contains { $0.hasPrefix("held key: ") } && words.isOrderly)
    let listed = try root.run("queue", "list", "--json").objects()
    #expect(listed.map { $0["holdsKey"] as? Bool } == [true, false])
    #expect(try root.run("queue", "list").lines.contains { $0.contains("parked, holds its key") })
    #expect(try root.run("queue", "retry", "--parked").code == 0)
    let again = try root.run(command)
    #expect(again.code == 0, "\(again.words)")
    #expect(try again.object()["delivered"] as? Int == 2)
  }

  @Test(arguments: [
    ["--success", "status.code =="], ["--pause-on", "200"], ["--park-on", "4x"], ["--on-parked", "stop"],
    ["--pause-on", "404", "--park-on", "404"], ["--batch", "0"], ["--batch", "10001"], ["--batch-linger-ms", "5"],
    ["--batch-format", "array"], ["--batch", "2", "--batch-linger-ms", "60001"],
    ["--batch", "2", "--batch-format", "csv"], ["--batch", "2", "--multipart"],
  ])
  func `a rule or a list that cannot be is refused`(options: [String]) throws {
    let root = try TestRoot(answers: [])
    let run = try root.run(["queue", "run", "--url", "http://127.0.0.1:1/", "--until-empty"] + options)
    #expect(run.code == 64 && run.isOrderly, "\(options): \(run.words)")
  }

  @Test(arguments: [
    ([], "application/x-ndjson", ["{\"id\":\"a\"}\n{\"id\":\"b\"}\n", "{\"id\":\"b\"}\n", "{\"id\":\"c\"}\n"]),
    (
      ["--batch-format", "array", "--batch-linger-ms", "1"], "application/json",
      [#"[{"id":"a"},{"id":"b"}]"#, #"[{"id":"b"}]"#, #"[{"id":"c"}]"#]
    ),
  ])
  func `uploads of one kind and key go in batches, and of each batch only what failed goes again`(
    options: [String], type: String, bodies: [String]
  ) throws {
    let root = try TestRoot(answers: [])
    let lines = Data((["a", "b", "c"].map { "{\"id\":\"\($0)\"}\n" }.joined()).utf8)
    #expect(try root.run("queue", "add", "--ndjson", "--key", "till-1", "--kind", "scan", input: lines).code == 0)
    let server = try HTTPServer([
      HTTPServer.Answer(
        status: "207 Multi-Status", body: Data(#"{"failed":[{"id":"b","status":503}]}"#.utf8)), HTTPServer.Answer(),
      HTTPServer.Answer(),
    ])
    let run = try root.run(
      [
        "queue", "run", "--json", "--url", "http://127.0.0.1:\(server.port)/", "--until-empty", "--pause", "0.01",
        "--batch", "2", "--timeout", "5",
      ] + options)
    #expect(run.code == 0, "\(run.words)")
    #expect(try run.object()["delivered"] as? Int == 3)
    #expect(server.bodies.map { String(decoding: $0, as: UTF8.self) } == bodies)
    #expect(server.heads.allSatisfy { $0.lowercased().contains("content-type: \(type)\r\n") })
    #expect(server.heads.allSatisfy { $0.contains("Idempotency-Key: batch-") })
  }

  @Test func `looking creates nothing, and mistakes have their codes`() throws {
    let root = try TestRoot()
    for command in [["list"], ["stat", "--json"], ["list", "--json"]] {
      let run = try root.run(["queue"] + command + ["--user", "u"])
      #expect(run.code == 0 && run.isOrderly, "\(command): \(run.words)")
    }
    #expect(!root.exists)
    #expect(try root.run("queue", "add", "1").code == 64)
    for (arguments, code) in [
      (["add", "{", "--user", "u"], 65), (["add", "1", "--kind", "", "--user", "u"], 64),
      (["add", "1", "--ttl", "0", "--user", "u"], 64), (["add", "--file", "/none", "--user", "u"], 66),
      (["add", "1", "--queue", "a/b", "--user", "u"], 64), (["retry", "--user", "u"], 64),
      (["retry", "019c1a2b-3c4d-7e5f-8a9b-0c1d2e3f4a5b", "--waiting", "--user", "u"], 64),
      (["show", "x", "--user", "u"], 64),
      (["run", "--url", "ftp://x/{id}", "--user", "u"], 64), (["run", "--url", "http://x/{no}", "--user", "u"], 64),
    ] as [([String], Int32)] {
      let run = try root.run(["queue"] + arguments)
      #expect(run.code == code && run.isOrderly, "\(arguments): \(run.code) \(run.words)")
    }
  }

  @Test func `each line of standard input is an upload, and all of them or none are added`() throws {
    let root = try TestRoot(answers: [])
    let lines = "{\"code\":\"1\"}\r\n\n  \n[2]\n\"3\""
    let added = try root.run("queue", "add", "--ndjson", "--kind", "scan", "--key", "k", input: Data(lines.utf8))
    #expect(added.code == 0 && added.isOrderly && added.lines.count == 3, "\(added.words)")
    let listed = try root.run("queue", "list", "--json").objects()
    #expect(listed.compactMap { $0["id"] as? String } == added.lines)
    #expect(listed.allSatisfy { $0["kind"] as? String == "scan" && $0["orderKey"] as? String == "k" })
    #expect(listed[2]["payload"] as? String == "3")
    let more = try root.run("queue", "add", "--ndjson", "--json", "-", input: Data("1\n2\n".utf8))
    #expect(try more.objects().compactMap { $0["id"] as? String }.count == 2)
    for (input, line) in [
      (Data("1\n2\n\n{\"a\":\n5".utf8), "line 4"), (Data("1\n".utf8) + Data([0x22, 0xFF, 0x22, 0x0A]), "line 2"),
      (Data("1\n2 3\n".utf8), "line 2"),
      (Data(("1\n\"" + String(repeating: "x", count: 17 << 20) + "\"\n").utf8), "line 2"),
    ] {
      let refused = try root.run("queue", "add", "--ndjson", input: input)
      #expect(refused.code == 65 && refused.isOrderly && refused.output.isEmpty, "\(refused.words)")
      #expect(refused.words.contains("standard input, \(line): ") && refused.words.contains("nothing was added"))
    }
    #expect(try root.run("queue", "stat", "--json").object()["waiting"] as? Int == 5)
    let none = try root.run("queue", "add", "--ndjson", input: Data("\n\n".utf8))
    #expect(none.code == 0 && none.output.isEmpty)
    for arguments in [["1"], ["--file", "/etc/hostname"], ["--replace", "r"]] {
      #expect(try root.run(["queue", "add", "--ndjson"] + arguments, input: Data("1".utf8)).code == 64)
    }
  }

  @Test func `a document and files are one upload, and one request`() throws {
    let root = try TestRoot(answers: [])
    let files = [try root.folder.file("a.jpg", Data("picture".utf8)), try root.folder.file("b.txt", Data("text".utf8))]
    let options = files.flatMap { ["--file", $0.path] }
    let add = try root.run(["queue", "add", #"{"code":"1"}"#] + options)
    #expect(add.code == 0 && add.isOrderly, "\(add.words)")
    let shown = try root.run(["queue", "show"] + add.lines).object()
    #expect((shown["payload"] as? [String: Any])?["code"] as? String == "1")
    let listed = try #require(shown["files"] as? [[String: Any]])
    #expect(listed.map { $0["file"] as? String } == files.map(\.path))
    #expect(listed.map { $0["bytes"] as? Int } == [7, 4] && listed[0]["name"] as? String == "file")
    #expect(try root.run(["queue", "add", "-"] + options, input: Data("[2]".utf8)).code == 0)
    #expect(try root.run(["queue", "add"] + options).code == 64)
    #expect(try root.run("queue", "add", "--file", files[0].path).code == 0)
    #expect(try root.run("queue", "add", "1", "--file", "/none").code == 66)
    let server = try HTTPServer([HTTPServer.Answer(), HTTPServer.Answer(), HTTPServer.Answer()])
    let run = try root.run(
      "queue", "run", "--url", "http://127.0.0.1:\(server.port)/", "--until-empty", "--concurrency", "1")
    #expect(run.code == 0, "\(run.words)")
    let types = server.heads.map { $0.contains("multipart/form-data") }
    #expect(types == [true, true, false])
    #expect(try root.run("verify").code == 0)
  }

  @Test func `requests are signed with secrets that nobody else may read`() throws {
    let root = try TestRoot(answers: [])
    func file(_ name: String, _ text: String, mode: Int = 0o600) throws -> String {
      let file = try root.folder.file(name, Data(text.utf8))
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
      return file.path
    }
    let secret = try file("new", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")
    let former = try file("old", "0123456789abcdefghijklmnopqrstuv")
    let server = try HTTPServer([HTTPServer.Answer()])
    let url = "http://127.0.0.1:\(server.port)/"
    #expect(try root.run("queue", "add", "1").code == 0)
    for (arguments, code) in [
      (["--secret-file", try file("open", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", mode: 0o640)], 77),
      (["--secret-file", try file("short", "whsec_AAAA")], 65), (["--secret-file", "/none"], 66),
      (["--previous-secret-file", former], 64),
    ] as [([String], Int32)] {
      let run = try root.run(["queue", "run", "--url", url, "--until-empty"] + arguments)
      #expect(run.code == code && run.isOrderly, "\(arguments): \(run.code) \(run.words)")
      #expect(!run.words.contains("MfKQ"))
    }
    let run = try root.run(
      "queue", "run", "--url", url, "--until-empty", "--secret-file", secret, "--previous-secret-file", former)
    #expect(run.code == 0, "\(run.words)")
    let head = try #require(server.heads.first)
    #expect(head.contains("webhook-id: ") && head.contains("webhook-timestamp: "))
    #expect(head.split(separator: "\r\n").contains { $0.contains("webhook-signature: v1,") && $0.contains("= v1,") })
    #expect(head.contains("shelfmark-catalogctl/"))
  }
}
