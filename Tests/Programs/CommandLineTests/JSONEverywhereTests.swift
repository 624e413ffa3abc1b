import Foundation
import Testing

/// `--json` with every command: JSON and nothing else on standard output, with keys in camelCase.
@Suite struct JSONEverywhereTests {
  /// A run for each command, in an order in which each has something to tell. Names in capitals stand for files.
  private static let runs: [(words: [String], code: Int32)] = [
    (["login", "u"], 0), (["whoami"], 0), (["apply", "FILE"], 0), (["decode", "FILE"], 0),
    (["sync", "--from", "NEXT"], 0), (["users"], 0),
    (["config", "set", "a", "1"], 0), (["config", "get", "a"], 0), (["config", "list"], 0),
    (["config", "unset", "a"], 0), (["fields", "set", "price", "--type", "decimal", "--order"], 0),
    (["fields", "list"], 0), (["fields", "unset", "price"], 0),
    (["scan", "c0", "x"], 1), (["explain", "c0"], 0), (["get", "--id", "p0"], 0), (["find", "product"], 0),
    (["search", "product"], 0),
    (["products", "--where", "name hasprefix 'product'"], 0), (["products", "--columns", "id,weight"], 0),
    (["products", "--count"], 0), (["products", "--group-by", "unit", "--sum", "weight"], 0),
    (["products", "--explain"], 0),
    (["codes", "p0"], 0), (["components", "p0"], 0), (["sets-with", "p1"], 0), (["complete", "c0", "c1", "x"], 0),
    (["stat"], 0),
    (["log"], 0),
    (["diff", "1", "2"], 0), (["rollback", "1"], 0), (["dump"], 0), (["export", "ROWS"], 0), (["import", "ROWS"], 0),
    (["init", "--from", "ROWS", "--user", "u", "--yes"], 0),
    (["publish", "keys", "new", "KEY"], 0), (["publish", "--to", "SITE", "--key", "KEY"], 0),
    (["publish", "run", "--to", "SITE", "--key", "KEY"], 0), (["publish", "keys", "list", "--to", "SITE"], 0),
    (["publish", "keys", "rotate", "--to", "SITE", "--root-key", "KEY", "PUBLIC"], 0),
    (["publish", "ring", "100", "1", "--to", "SITE", "--key", "KEY"], 0),
    (["verify"], 0), (["compact"], 0), (["documents", "put", "members", "--from", "DOCUMENT"], 0),
    (["documents", "list"], 0), (["documents", "list", "members"], 0), (["documents", "get", "members", "d"], 0),
    (["documents", "query", "members"], 0), (["documents", "query", "members", "--explain"], 0),
    (["documents", "query", "members", "--group-by", "id", "--max", "id"], 0), (["documents", "count", "members"], 0),
    (["documents", "update", "members", "--all", "--set", "a = 1"], 0),
    (["documents", "index", "add", "members", "a"], 0), (["documents", "index", "list"], 0),
    (["documents", "index", "drop", "members", "a"], 0), (["documents", "compact"], 0),
    (["documents", "delete", "members", "d"], 0), (["queue", "add", "{\"a\":1}"], 0), (["queue", "list"], 0),
    (["queue", "show", "ID"], 0), (["queue", "pause"], 0), (["queue", "stat"], 0), (["queue", "resume"], 0),
    (["queue", "retry", "--waiting"], 0), (["queue", "drop", "ID"], 0), (["queue", "clear"], 0),
    (["forget", "--uploads", "--misses", "--yes"], 0),
    (["queue", "run", "--url", "http://127.0.0.1:1/{id}", "--until-empty"], 0), (["cache", "list"], 0),
    (["cache", "show", "x"], 1), (["cache", "clear"], 0), (["backup", "BACKUP"], 0),
    (["restore", "BACKUP", "--force"], 0), (["seal", "--key-file", "SECRET"], 0),
    (["keys", "add", "--key-file", "SECRET", "--new-key-file", "OTHER"], 0), (["keys", "list"], 0),
    (["keys", "accept", "--key-file", "SECRET"], 0), (["keys", "remove", "ID"], 0),
    (["rekey", "--key-file", "SECRET", "--new-passphrase-file", "PHRASE"], 0),
    (["unseal", "--passphrase-file", "PHRASE"], 0), (["users", "remove", "u", "--yes"], 0), (["logout"], 0),
    (["serve", "--port", "0", "--products", "MISSING"], 66), (["studio", "--port", "BUSY", "--user", "ana"], 69),
    (["fleet", "collect", "--port", "BUSY", "--to", "REPORTS"], 69), (["fleet", "status", "--from", "MISSING"], 66),
  ]

  @Test func `every command takes it`() throws {
    let root = try TestRoot()
    var next = Payload(cursor: "later")
    next.product("p9")
    let busy = try HTTPServer([])
    var names = [
      "FILE": try root.payload(Self.payload, "1").path, "NEXT": try root.payload(next, "2").path,
      "DOCUMENT": try root.folder.file("document", Data(#"{"id":"d"}"#.utf8)).path,
      "ROWS": root.folder.path + "/rows.ndjson", "MISSING": root.folder.path + "/missing", "BUSY": "\(busy.port)",
      "BACKUP": root.folder.path + "/backup", "SITE": root.folder.path + "/site", "KEY": root.folder.path + "/key",
      "PUBLIC": root.folder.path + "/key.pub", "REPORTS": root.folder.path + "/reports",
      "SECRET": try root.folder.secret("secret", Data(repeating: 1, count: 32)),
      "OTHER": try root.folder.secret("other", Data(repeating: 2, count: 32)),
      "PHRASE": try root.folder.secret("phrase", Data("correct horse".utf8)),
    ]
    var ran: Set<[String]> = []
    let commands = try HelpTests.everyCommand()
    for (words, code) in Self.runs {
      let run = try root.run(words.map { names[$0] ?? $0 } + ["--json"])
      #expect(run.code == code, "\(words): \(run.words)")
      // Lists that are empty print nothing.
      let isEmpty = run.output.isEmpty
      #expect(!isEmpty || code > 1 || words[0] == "cache", "\(words)")
      #expect(isEmpty || run.output.last == UInt8(ascii: "\n"), "\(words)")
      for object in try run.objects() { checkKeys(object, words) }
      if words == ["queue", "add", "{\"a\":1}"] { names["ID"] = try run.object().text("id") }
      if words == ["keys", "list"] { names["ID"] = try run.objects().last?.text("id") }
      if let path = commands.map(\.path).filter({ words.starts(with: $0) }).max(by: { $0.count < $1.count }) {
        ran.insert(path)
      }
    }
    for (path, command) in commands where command.objects("subcommands").isEmpty || path == ["users"] {
      #expect(ran.contains(path), "no run of \(path)")
      let options = command.objects("arguments").flatMap { $0.objects("names").compactMap { $0.text("name") } }
      #expect(options.contains("json"), "\(path)")
    }
  }

  private static var payload: Payload {
    var payload = Payload.products(3)
    payload.relation("p0", "p1", 2)
    return payload
  }

  /// Ids and element numbers are keys of objects too; those of this suite have no capital letters or marks.
  private func checkKeys(_ value: Any, _ words: [String]) {
    switch value {
    case let object as [String: Any]:
      for (key, value) in object {
        let isCamelCase = key.first?.isLowercase == true && key.allSatisfy { $0.isLetter || $0.isNumber }
        #expect(isCamelCase, "\(words): \(key)")
        checkKeys(value, words)
      }
    case let list as [Any]: for value in list { checkKeys(value, words) }
    default: break
    }
  }

  @Test func `apply tells each step as an object`() throws {
    let root = try TestRoot(answers: [])
    let steps = try root.run("apply", "--json", root.payload(.products(2)).path).objects()
    #expect(steps.map { $0.text("event") } == ["begin", "committed"])
    #expect(steps.map { $0.number("sequence") } == [1, 1])
    #expect(steps[1].sortedKeys == ["cursor", "event", "mode", "sequence"])
  }

  @Test func `a sign-in tells whether the user is new`() throws {
    let root = try TestRoot()
    #expect(try root.run("login", "ana").words.contains("new user"))
    #expect(try root.run("login", "ana", "--json").object()["new"] as? Bool == true)
    _ = try root.apply([root.payload(.products(1))])
    #expect(try root.run("login", "ana", "--json").object()["new"] as? Bool == false)
    #expect(try !root.run("login", "ana").words.contains("new user"))
    #expect(try root.run("login", "anna").words.contains("new user"))
  }

  @Test func `what is explained has the fields of a scan, and how it was read`() throws {
    let root = try TestRoot(answers: [])
    _ = try root.apply([root.payload(Self.payload)])
    let explained = try root.run("explain", "c0", "--json").object()
    let scanned = try root.run("scan", "c0", "--json").object()
    #expect(explained.sortedKeys == (scanned.sortedKeys + ["attempts", "reading"]).sorted())
    #expect(explained.objects("attempts").contains { $0.number("products") == 1 })
    #expect(try root.run("explain", "x", "--json").code == 1)
  }

  @Test func `a batch of verifications answers in objects`() throws {
    let root = try TestRoot(answers: [])
    let answers = try root.run("verify", "--batch", "--json", input: Data("\(root.path)\n\n".utf8)).objects()
    #expect(answers.count == 2 && answers.allSatisfy { $0.sortedKeys == ["digest", "error", "root"] })
    #expect(answers[0].text("digest") != nil && answers[1].text("error") != nil)
  }
}
