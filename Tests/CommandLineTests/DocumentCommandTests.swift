import Foundation
import Testing

/// `documents`, and what `verify` says of them.
@Suite struct DocumentCommandTests {
  private static let members = [
    #"{"id":1,"user":{"name":"Wang","tags":["x","y"],"status":{"isOnline":true},"remark":"boss"},"age":40}"#,
    #"{"id":2,"user":{"name":"Li","tags":[],"status":{"isOnline":false},"remark":null},"age":31.5}"#,
    #"{"id":"three","user":{"name":"王小明","tags":["x"],"status":{"isOnline":true}}}"#,
  ]

  /// A root where `u` is signed in and has three members.
  private func root() throws -> TestRoot {
    let root = try TestRoot(answers: [])
    let run = try put(root, Self.members.joined(separator: "\n"))
    try #require(run.code == 0, "\(run.words)")
    return root
  }

  private func put(_ root: TestRoot, _ text: String, _ options: [String] = []) throws -> ProgramRun {
    try root.run(["documents", "put", "members"] + options, input: Data(text.utf8))
  }

  private func query(_ root: TestRoot, _ options: String...) throws -> ProgramRun {
    try root.run(["documents", "query", "members", "--json"] + options)
  }

  @Test func `documents are put, listed, got, replaced and deleted`() throws {
    let root = try root()
    #expect(try root.run("documents", "list", "members", "--json").lines == Self.members)
    let collections = try root.run("documents", "list", "--json").objects()
    #expect(collections.count == 1 && collections[0].text("name") == "members")
    #expect(collections[0].number("documents") == 3 && collections[0].objects("indexes").isEmpty)
    #expect(try root.run("documents", "get", "members", "three").lines == [Self.members[2]])
    #expect(try root.run("documents", "get", "members", "2", "--json").lines == [Self.members[1]])
    #expect(
      try root.run("documents", "list", "members", "--json", "--offset", "1", "--limit", "1").lines == [Self.members[1]]
    )

    let changed = #"{"id":2,"age":0}"#
    let run = try put(root, changed, ["--json"])
    #expect(try run.code == 0 && run.object().number("documents") == 1)
    #expect(try root.run("documents", "get", "members", "2").lines == [changed])
    #expect(try root.run("documents", "delete", "members", "2").code == 0)
    for arguments in [["get", "members", "2"], ["delete", "members", "2"], ["get", "nobodies", "1"]] {
      let run = try root.run(["documents"] + arguments)
      #expect(run.code == 1 && run.output.isEmpty && run.words.contains("no document"), "\(arguments)")
      #expect(try root.run(["documents"] + arguments + ["--json"]).words.isEmpty)
    }
    #expect(try root.run("documents", "list", "nobodies", "--json").code == 0)
    #expect(try root.run("documents", "list", "nobodies").output.isEmpty)
  }

  @Test func `a number that nothing can hold is refused, with its line, and nothing changes`() throws {
    let root = try root()
    let digits = String(repeating: "9", count: 1700)
    for number in [digits, "-" + digits, "1e309", "1.5e+400"] {
      let run = try put(root, "{\"id\":8}\n{\"id\":9,\"n\":\(number)}")
      #expect(run.code == 65 && run.isOrderly && run.words.contains("line 2"), "\(run.words)")
      #expect(run.words.contains("too large"), "\(run.words)")
      let add = try root.run("queue", "add", "[\(number)]")
      #expect(add.code == 65 && add.isOrderly && add.words.contains("too large"), "\(add.words)")
    }
    #expect(try root.run("documents", "list", "members", "--json").lines == Self.members)
    #expect(try root.run("queue", "list", "--json").lines.isEmpty)
  }

  @Test func `one object over several lines, a file, an empty input and several with one id`() throws {
    let root = try root()
    #expect(try put(root, "{\n  \"id\": \"wide\",\n  \"a\": [1,\n 2]\n}\n").code == 0)
    #expect(try root.run("documents", "get", "members", "wide").lines == [#"{"id":"wide","a":[1,2]}"#])
    let file = try root.folder.file("in.ndjson", Data("\n{\"id\":\"f\",\"n\":1}\r\n\n{\"id\":\"f\",\"n\":2}".utf8))
    #expect(try root.run("documents", "put", "members", "--from", file.path).lines == ["2 documents put into members"])
    #expect(try root.run("documents", "get", "members", "f").lines == [#"{"id":"f","n":2}"#])
    let digest = try root.digest()
    #expect(try put(root, "\n \n").lines == ["0 documents put into members"])
    #expect(try root.digest() == digest)
    #expect(try root.run("documents", "put", "members", "--from", root.path + "/none").code == 66)
  }

  @Test func `what is no document is told with its line, and nothing changes`() throws {
    let root = try root()
    let digest = try root.digest()
    let bad: [(String, String)] = [
      ("{\"id\":\"a\"}\n{\"id\":", "line 2"), ("{\"id\":\"a\"}\n{\"b\":1}", "line 2"), ("[]", "line 1"),
      ("7", "line 1"),
      ("{\"id\":null}", "line 1"), ("{\"id\":{\"a\":1}}", "line 1"), ("{\"id\":\"a\"} x", "line 1"), ("{", "line 1"),
      ("{\n\"id\":1,\n", "line 1"), (String(repeating: "[", count: 200_000), "line 1"),
      ("\u{FEFF}{\"id\":1}", "line 1"),
      (
        "{\"id\":1}\n{\"id\":2,\"a\":[{\"b\":1,\"c\":2,\"b\":1}]}",
        "line 2: the key \"b\" at byte 26 is in its object already"
      ),
      ("{\n\"id\":1,\n\"\\u0069d\":1}", "from line 1 on: the key \"id\" at byte 10"),
      ("{\"id\":1,\"a\":\"\u{1}\"}", "line 1"), ("nul", "line 1"), ("{\"id\":\"a\",\"a\":1e400", "line 1"),
    ]
    for (text, place) in bad {
      let run = try put(root, text)
      #expect(run.code == 65 && run.isOrderly, "\(text.prefix(40))")
      #expect(
        run.words.contains(place) && run.words.contains("nothing was changed"), "\(text.prefix(40)): \(run.words)")
      #expect(run.words.utf8.count < 2000)
    }
    let broken = try root.run(["documents", "put", "members"], input: Data([0x7B, 0x22, 0xFF, 0x22, 0x7D]))
    #expect(broken.code == 65 && broken.words.contains("UTF-8"))
    for name in ["", String(repeating: "n", count: 201)] {
      #expect(try root.run(["documents", "put", name], input: Data("{\"id\":1}".utf8)).code == 64)
    }
    let long = try put(root, "{\"id\":\"a\"}\n\n{\"id\":\"\(String(repeating: "x", count: 70_000))\"}")
    #expect(long.code == 65 && long.words.contains("line 3: the id of a document for members takes"), "\(long.words)")
    let large = "{\"id\":\"large\",\"a\":\"\(String(repeating: "x", count: 17 << 20))\"}"
    let run = try put(root, large)
    #expect(run.code == 65 && run.isOrderly, "\(run.words)")
    #expect(try root.digest() == digest)
  }

  @Test func `an id is a text or a number, and with json-id what it says`() throws {
    let root = try TestRoot(answers: [])
    #expect(
      try put(
        root, "{\"id\":5,\"k\":\"number\"}\n{\"id\":\"5\",\"k\":\"text\"}\n{\"id\":7}\n{\"id\":1.5}\n{\"id\":\"\"}"
      ).code == 0)
    func get(_ id: String, _ options: String...) throws -> ProgramRun {
      try root.run(["documents", "get", "members"] + options + ["--", id])
    }
    #expect(try get("5").text.contains("text"))
    #expect(try get("5", "--json-id").text.contains("number"))
    #expect(try get("\"5\"", "--json-id").text.contains("text"))
    #expect(try get("7").lines == ["{\"id\":7}"] && get("1.5").code == 0 && get("").lines == ["{\"id\":\"\"}"])
    #expect(try get("-7").code == 1 && get("7.0").code == 1 && get("nan").code == 1)
    for id in ["x", "{}", "null", "true", "[1]", ""] { #expect(try get(id, "--json-id").code == 64, "\(id)") }
    #expect(try root.run("documents", "delete", "members", "5", "--json").object().number("deleted") == 1)
    #expect(try get("5").text.contains("number"))
  }

  @Test func `conditions over nested fields, order, limit and offset`() throws {
    let root = try root()
    func ids(_ options: String...) throws -> [String] {
      try root.run(["documents", "query", "members", "--json"] + options).objects().map { "\($0["id"] ?? "")" }
    }
    #expect(try ids("--where", "user.status.isOnline == true") == ["1", "three"])
    #expect(try ids("--where", "user.status.isOnline == true and user.remark is null") == ["three"])
    #expect(try ids("--where", "user.tags = 'x' && !(age > 3)") == ["three"])
    #expect(try ids("--where", "user.name like 'w%' nocase || user.name hasprefix '王'") == ["1", "three"])
    #expect(try ids("--where", "age in [31.5, 7]") == ["2"])
    #expect(try ids("--order", "age desc") == ["1", "2", "three"])
    #expect(try ids("--order", "-age") == ["1", "2", "three"] && ids("--order=-age, id") == ["1", "2", "three"])
    #expect(try ids("--where", "user.status.isOnline") == ["1", "three"])
    #expect(try ids("--where", "!user.status.isOnline && age > 3") == ["2"])
    #expect(try ids("--order", "user.status.isOnline, -user.name") == ["2", "three", "1"])
    #expect(try ids("--order", "user.name", "--limit", "1", "--offset", "1") == ["1"])
    #expect(try ids("--limit", "9223372036854775807", "--offset", "2") == ["three"])
    let none = try query(root, "--where", "age > 100")
    #expect(none.code == 1 && none.output.isEmpty && none.words.isEmpty)
    let past = try root.run("documents", "query", "members", "--offset", "7", "--limit", "9223372036854775807")
    #expect(past.code == 1 && past.words == "catalogctl: no document of members meets that after the first 7\n")
    for command in [
      ["documents", "query", "members"], ["documents", "list"], ["products"], ["find", "x"], ["queue", "list"],
    ] {
      for value in ["-1", "0", "x", "1.5", "99999999999999999999", ""] {
        let run = try root.run(command + ["--limit", value])
        #expect(run.code == 64 && run.words.contains("--limit <limit>': a whole number, 1 or more"), "\(run.words)")
      }
      if command.count == 2 { continue }
      let run = try root.run(command + ["--offset", "-1"])
      #expect(run.code == 64 && run.words.contains("--offset <offset>': a whole number, 0 or more"), "\(run.words)")
    }
    let plan = try query(root, "--where", "age > 1", "--explain").object()
    #expect(plan.text("plan") == "scan all documents" && plan.number("documentsRead") == 3)
    #expect(plan.number("documentsFound") == 2)
    let words = try root.run("documents", "query", "members", "--explain")
    #expect(words.lines == ["scan all documents", "3 documents read, 3 found"])
  }

  @Test func `a mistake in an expression is shown where it stands`() throws {
    let root = try root()
    let mistakes: [(String, String, Int)] = [
      ("--where", "age >= ", 8), ("--where", "age ? 3", 5), ("--where", "user.name like 3", 16), ("--where", "", 1),
      ("--where", "(age == 3", 10), ("--where", "age == 'open", 13), ("--where", "王.名 == 'x' &&", 14),
      ("--order", "user.name, ", 12), ("--order", "3", 1), ("--where", "user.name age", 11), ("--where", "(age", 5),
      ("--order", "--json", 2), ("--where", "age > 1e999", 7),
    ]
    for (option, text, column) in mistakes {
      let run = try root.run("documents", "query", "members", option, text)
      #expect(run.code == 64 && run.output.isEmpty && run.isOrderly, "\(text)")
      let lines = run.words.split(separator: "\n", omittingEmptySubsequences: false)
      #expect(lines[0].contains(option) && lines[0].contains("column \(column):"), "\(text): \(lines[0])")
      #expect(lines[1] == "  " + text)
      // East Asian characters are two columns wide.
      let wide = text.unicodeScalars.prefix(column - 1).count { $0.value > 0x2000 }
      #expect(lines[2] == String(repeating: " ", count: 2 + column - 1 + wide) + "^", "\(text)")
    }
    let hostile = [
      String(repeating: "(", count: 100_000), String(repeating: "!", count: 100_000), "a == '\u{1B}[2J\u{202E}",
      String(repeating: "a", count: 100_000) + " ==", "a == date('x')", "a == bytes('%')", "\\", "a in [1, 2",
      "a == 1e", "a == 99999999999999999999999999e999999 &&", "and == 1", "a..b == 1", "a == '\\u{110000}'",
    ]
    for text in hostile {
      let run = try root.run("documents", "query", "members", "--where", text)
      #expect(run.code == 64 && run.isOrderly, "\(text.prefix(30))")
      #expect(run.words.utf8.count < 4000 && !run.words.contains("\u{1B}") && !run.words.contains("\u{202E}"))
    }
  }

  @Test func `people get a table that no document can steer`() throws {
    let root = try TestRoot(answers: [])
    let evil =
      "{\"id\":\"\\u001b[2J\\n\u{202E}evil\",\"text\":\"\\u001b]0;x\\u0007\(String(repeating: "long ", count: 100))\"}"
    #expect(try put(root, evil + "\n" + Self.members[2]).code == 0)
    for arguments in [["list", "members"], ["query", "members"]] {
      let run = try root.run(["documents"] + arguments)
      #expect(run.code == 0 && run.lines.count == 3)
      #expect(run.lines[0].hasPrefix("ID") && run.lines[0].contains("DOCUMENT"))
      #expect(!run.text.contains("\u{1B}") && !run.text.contains("\u{202E}") && !run.text.contains("\u{7}"))
      #expect(run.lines.allSatisfy { $0.count <= 100 })
      let narrow = try root.run(["documents"] + arguments, shell: "COLUMNS=60 \"$@\"")
      #expect(narrow.lines.allSatisfy { $0.count <= 64 })
    }
    #expect(try root.run("documents", "list", "members", "--json").objects().count == 2)
    let name = "\u{1B}[2Jname"
    #expect(try root.run(["documents", "put", name], input: Data("{\"id\":1}".utf8)).text.contains("\u{1B}") == false)
    #expect(try root.run("documents", "list").text.contains("\u{1B}") == false)
  }

  @Test func `the default store and each user have documents of their own, and reading creates nothing`() throws {
    let root = try TestRoot()
    for arguments in [["list"], ["list", "c"], ["get", "c", "1"], ["query", "c"], ["delete", "c", "1"]] {
      for whose in [["--default"], ["--user", "u"]] {
        let run = try root.run(["documents"] + arguments + whose)
        #expect(run.code == (arguments[0] == "list" ? 0 : 1) && run.output.isEmpty, "\(arguments)")
      }
      #expect(try root.run(["documents"] + arguments).code == 64)
      #expect(try root.run(["documents"] + arguments + ["--default", "--user", "u"]).code == 64)
    }
    #expect(!root.exists)
    #expect(try root.run(["documents", "put", "c", "--default"], input: Data("{\"id\":\"d\"}".utf8)).code == 0)
    #expect(try root.run(["documents", "put", "c", "--user", "../x"], input: Data("{\"id\":\"x\"}".utf8)).code == 0)
    #expect(try root.run("documents", "list", "c", "--default").text.contains("d"))
    #expect(try root.run("documents", "get", "c", "x", "--user", "../x").code == 0)
    #expect(try root.run("documents", "get", "c", "x", "--default").code == 1)
    let modes = try root.folder.modes()
    #expect(modes["root/default/documents.log"] == 0o600 && modes["root/users/%2E.%2Fx/documents.log"] == 0o600)
  }

  @Test func `the digest covers documents, and stays what it was without them`() throws {
    let root = try TestRoot(answers: [])
    _ = try root.apply([root.payload(.products(5))])
    let digest = try root.digest()
    #expect(try put(root, Self.members.joined(separator: "\n")).code == 0)
    let with = try root.digest()
    #expect(with != digest)
    // The same content, put in another order by another way.
    let other = try TestRoot(answers: [])
    for member in Self.members.reversed() { #expect(try put(other, member).code == 0) }
    _ = try other.apply([other.payload(.products(5))])
    #expect(try other.digest() == with)
    let batch = try root.run(["verify", "--batch"], input: Data((root.path + "\n" + other.path + "\n").utf8))
    let hex = with.dropFirst("digest ".count)
    #expect(batch.lines == ["ok \(hex)", "ok \(hex)"])
    for id in ["1", "2", "three"] { #expect(try root.run("documents", "delete", "members", id).code == 0) }
    #expect(try root.digest() == digest)
    let empty = try TestRoot(answers: []).digest()
    #expect(try root.run("verify", "--default").lines.last == empty)
    #expect(try root.run(["documents", "put", "c", "--default"], input: Data("{\"id\":\"d\"}".utf8)).code == 0)
    #expect(try root.run("verify", "--default").lines.last != empty && root.digest() == digest)
  }

  @Test(arguments: ["settings", "origin"])
  func `another kind of store beside the catalogue is found and set aside`(_ name: String) throws {
    let root = try root()
    _ = try root.apply([root.payload(.products(5))])
    let digest = try root.digest()
    let folder = root.path + "/users/u"
    for contents in [try Data(contentsOf: URL(fileURLWithPath: folder + "/documents.log")), Data()] {
      try contents.write(to: URL(fileURLWithPath: folder + "/\(name).log"))
      let run = try root.run("verify")
      #expect(run.code == 65 && run.output.isEmpty && run.words.contains("\(name).log"), "\(run.words)")
      let repair = try root.run("verify", "--repair")
      #expect(repair.code == 0 && repair.words.contains("\(name).damaged-"), "\(repair.words)")
      #expect(try root.digest() == digest)
    }
  }

  @Test(arguments: ["documents", "cache"])
  func `damage beside the catalogue is found and repaired`(_ name: String) throws {
    let root = try root()
    _ = try root.apply([root.payload(.products(5))])
    let digest = try root.digest()
    let folder = root.path + "/users/u"
    let log = URL(fileURLWithPath: folder + "/\(name).log")
    // Whatever a store is called, it is a log.
    if name != "documents" { try FileManager.default.copyItem(atPath: folder + "/documents.log", toPath: log.path) }
    #expect(try root.digest() == digest)
    var bytes = try Data(contentsOf: log)
    let range = try #require(bytes.range(of: Data("Wang".utf8)))
    bytes[range.lowerBound] ^= 1
    try bytes.write(to: log)
    let run = try root.run("verify")
    #expect(run.code == 65 && run.output.isEmpty && run.words.contains("\(name).log"), "\(run.words)")
    let batch = try root.run(["verify", "--batch"], input: Data((root.path + "\n").utf8))
    #expect(batch.lines.count == 1 && batch.lines[0].hasPrefix("err ") && batch.lines[0].contains("\(name).log"))
    let repair = try root.run("verify", "--repair")
    #expect(repair.code == 0 && repair.words.contains("\(name).damaged-1"), "\(repair.words)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder + "/\(name).damaged-1")) == bytes)
    #expect(try root.run("verify").code == 0)
    if name == "documents" {
      #expect(repair.words.contains("lost: "))
      #expect(try root.run("documents", "list", "members", "--json").lines == Array(Self.members.dropFirst()))
    } else {
      #expect(try root.digest() == digest)
    }
  }

  @Test func `documents that lie under right checksums but are none are findings`() throws {
    let root = try root()
    let folder = root.path + "/users/u"
    _ = try root.apply([root.payload(.products(2))])
    // A catalogue in the place of the documents.
    try FileManager.default.removeItem(atPath: folder + "/documents.log")
    try FileManager.default.copyItem(atPath: folder + "/catalogue.log", toPath: folder + "/documents.log")
    let run = try root.run("verify")
    #expect(run.code == 65 && run.words.contains("documents.log"), "\(run.words)")
    for arguments in [["list"], ["get", "members", "1"], ["query", "members"]] {
      let run = try root.run(["documents"] + arguments)
      #expect(run.code == 65 && run.isOrderly && run.output.isEmpty, "\(arguments)")
    }
  }
}

/// Groups, changes by condition, indexes, dates and the trace.
@Suite struct DocumentQueryCommandTests {
  private static let members = [
    #"{"id":1,"city":"Oslo","age":40,"on":true}"#, #"{"id":2,"city":"Oslo","age":31.5,"on":false}"#,
    #"{"id":3,"city":"Bergen","age":20,"on":true}"#, #"{"id":4,"age":1,"on":true}"#,
  ]

  private func root() throws -> TestRoot {
    let root = try TestRoot(answers: [])
    let run = try root.run(["documents", "put", "members"], input: Data(Self.members.joined(separator: "\n").utf8))
    try #require(run.code == 0, "\(run.words)")
    return root
  }

  @Test func `documents are grouped, and groups are ordered and limited`() throws {
    let root = try root()
    let query = ["documents", "query", "members"]
    #expect(
      try root.run(query + ["--group-by", "city", "--json"]).lines == [
        #"{"group":{"city":null},"count":1}"#, #"{"group":{"city":"Bergen"},"count":1}"#,
        #"{"group":{"city":"Oslo"},"count":2}"#,
      ])
    #expect(
      try root.run(
        query + [
          "--group-by", "city", "--count", "--sum", "age", "--min", "age", "--max", "id", "--avg", "age", "--order",
          "count desc, city", "--limit", "1", "--json",
        ]
      ).lines == [
        #"{"group":{"city":"Oslo"},"count":2,"sum":{"age":71.5},"min":{"age":31.5},"max":{"id":2},"avg":{"age":35.75}}"#
      ])
    #expect(try root.run(query + ["--sum", "age", "--json"]).lines == [#"{"sum":{"age":92.5}}"#])
    #expect(
      try root.run(query + ["--group-by", "on, city", "--where", "age > 30", "--json"]).lines == [
        #"{"group":{"on":false,"city":"Oslo"},"count":1}"#, #"{"group":{"on":true,"city":"Oslo"},"count":1}"#,
      ])
    let table = try root.run(query + ["--group-by", "city"])
    #expect(table.lines.first == "city    count" && table.lines.count == 4)
    #expect(try root.run(query + ["--group-by", "city", "--where", "age > 99"]).code == 1)
    #expect(try root.run(query + ["--group-by", "city", "--where", "age > 99", "--count", "--json"]).code == 1)
    let wrong = try root.run(query + ["--group-by", "city", "--order", "age"])
    #expect(wrong.code == 64 && wrong.words.contains("they have city, count"), "\(wrong.words)")
    #expect(try root.run(query + ["--group-by", ""]).code == 64)
  }

  @Test func `documents that are in no group are counted on standard error, and missing fields are null`() throws {
    let root = try root()
    let more = #"{"id":5,"city":{"a":1}}"# + "\n" + #"{"id":6,"city":[]}"# + "\n" + #"{"id":7,"city":null}"#
    #expect(try root.run(["documents", "put", "members"], input: Data(more.utf8)).code == 0)
    let query = ["documents", "query", "members", "--group-by", "city", "--json"]
    for hasIndex in [false, true] {
      if hasIndex { #expect(try root.run("documents", "index", "add", "members", "city").code == 0) }
      let run = try root.run(query)
      #expect(run.lines.first == #"{"group":{"city":null},"count":2}"# && run.lines.count == 3)
      #expect(run.words.contains("2 documents are in no group: they have an object or an empty array"), "\(run.words)")
      let one = try root.run(query + ["--sum", "age", "--where", "id in [1, 5]"])
      #expect(one.lines.count == 1 && one.words.contains("1 document is in no group: it has"), "\(one.words)")
      #expect(try root.run(query + ["--where", "id <= 4"]).words.isEmpty)
    }
  }

  @Test func `a count of 0 is an answer, and so are sums of nothing`() throws {
    let root = try root()
    for collection in ["members", "nobodies"] {
      let query = ["documents", "query", collection, "--where", "age > 99"]
      for (options, line) in [
        (["--count"], #"{"count":0}"#), (["--sum", "age", "--max", "age"], #"{"sum":{"age":0},"max":{"age":null}}"#),
      ] {
        let run = try root.run(query + options + ["--json"])
        #expect(run.code == 0 && run.lines == [line] && run.words.isEmpty, "\(run.words)")
      }
      #expect(try root.run(query + ["--count"]).lines == ["count", "    0"])
      let count = try root.run("documents", "count", collection, "--where", "age > 99")
      #expect(count.code == 0 && count.lines == ["0"])
      #expect(try root.run(query).code == 1 && root.run(query + ["--count", "--group-by", "city"]).code == 1)
    }
    let empty = try TestRoot().run("documents", "query", "c", "--count", "--json", "--user", "u")
    #expect(empty.code == 0 && empty.lines == [#"{"count":0}"#])
  }

  @Test func `an index counts groups without reading documents`() throws {
    let root = try root()
    let index = ["documents", "index"]
    #expect(try root.run(index + ["add", "members", "city", "--prefixes", "--json"]).code == 0)
    #expect(
      try root.run(index + ["list", "--json"]).lines == [#"{"collection":"members","path":"city","prefixes":true}"#])
    let explained = try root.run("documents", "query", "members", "--group-by", "city", "--explain", "--json").object()
    #expect(explained.number("documentsRead") == 0 && explained.text("plan") == "index on city alone")
    #expect(try root.run(index + ["add", "members", "city", "--prefixes"]).lines.first?.contains("already") == true)
    // One with prefixes does what one without does, so it stays.
    #expect(try root.run(index + ["add", "members", "city", "--json"]).text.contains("\"added\":false"))
    #expect(
      try root.run(index + ["add", "members", "city"]).lines
        == ["members has an index on city already, which hasprefix and like 'A%' use too"])
    #expect(try root.run(index + ["add", "members", "age"]).lines == ["members has an index on age"])
    #expect(
      try root.run(index + ["add", "members", "age", "--prefixes"]).lines
        == ["members has an index on age, which hasprefix and like 'A%' use too"])
    #expect(try root.run(index + ["drop", "members", "age"]).code == 0)
    #expect(try root.run(index + ["drop", "members", "city"]).code == 0)
    #expect(try root.run(index + ["drop", "members", "city"]).code == 1)
    #expect(try root.run(index + ["list", "members"]).output.isEmpty)
    #expect(try root.run(index + ["add", "members", "a..b"]).code == 64)
  }

  @Test func `documents are changed and deleted by condition, and a dry run changes nothing`() throws {
    let root = try root()
    let update = ["documents", "update", "members", "--where", "city == 'Oslo'", "--set", "on = false, a.b = 'x'"]
    #expect(try root.run(update + ["--dry-run", "--json"]).lines == [#"{"updated":2,"dryRun":true}"#])
    #expect(try root.run("documents", "list", "members", "--json").lines == Self.members)
    #expect(try root.run(update + ["--json"]).lines == [#"{"updated":2}"#])
    #expect(
      try root.run("documents", "get", "members", "1").lines == [
        #"{"id":1,"city":"Oslo","age":40,"on":false,"a":{"b":"x"}}"#
      ])
    #expect(try root.run(update).code == 1, "nothing differs afterwards")
    for (arguments, code) in [
      (["--set", "a = 1"], 64), (["--where", "a ==", "--set", "a = 1"], 64), (["--all", "--set", "a"], 64),
      (["--all", "--set", "n = 1e999"], 64), (["--all", "--set", "n = -1e999"], 64),
      (["--all", "--set", "id = 1"], 65), (["--all", "--set", "city.x = 1"], 65),
    ] as [([String], Int32)] {
      let run = try root.run(["documents", "update", "members"] + arguments)
      #expect(run.code == code && run.isOrderly, "\(arguments): \(run.words)")
    }
    let delete = ["documents", "delete", "members"]
    #expect(try root.run(delete + ["--where", "age > 30", "--dry-run"]).lines == ["2 documents would be deleted"])
    #expect(try root.run(delete + ["--where", "age > 30", "--json"]).lines == [#"{"deleted":2}"#])
    #expect(try root.run("documents", "count", "members").lines == ["2"])
    #expect(try root.run("documents", "count", "members", "--where", "on == true", "--json").lines == [#"{"count":2}"#])
    #expect(try root.run(delete + ["--all", "--dry-run", "--json"]).lines == [#"{"deleted":2,"dryRun":true}"#])
    #expect(try root.run(delete + ["--all"]).lines == ["2 documents deleted"])
    #expect(try root.run(delete + ["--all"]).code == 1 && root.run("documents", "count", "members").lines == ["0"])
    #expect(try root.run(delete).code == 64 && root.run(delete + ["1", "--all"]).code == 64)
  }

  @Test func `dates survive a put, and a text that is no date is refused with its line`() throws {
    let root = try root()
    let text = #"{"id":9,"at":"2026-01-31T12:00:00Z","log":[{"at":"2026-02-01"},{"at":null}]}"#
    let put = ["documents", "put", "members", "--dates", "at", "--dates", "log.at"]
    #expect(try root.run(put, input: Data(text.utf8)).code == 0)
    let where_ = ["documents", "query", "members", "--json", "--where"]
    #expect(try root.run(where_ + ["at > date('2026-01-30')"]).lines.count == 1)
    #expect(try root.run(where_ + ["log.at == date('2026-02-01')"]).lines.count == 1)
    let printed = try root.run("documents", "get", "members", "9").output
    #expect(try root.run(put, input: printed).code == 0)
    #expect(try root.run("documents", "get", "members", "9").output == printed)
    for bad in [#"{"id":1,"at":"soon"}"#, #"{"id":1,"at":5}"#, #"{"id":1,"log":[{"at":true}]}"#] {
      let run = try root.run(put, input: Data("{\"id\":7}\n\(bad)".utf8))
      #expect(run.code == 65 && run.words.contains("line 2") && run.words.contains("no date"), "\(run.words)")
    }
    #expect(try root.run("documents", "get", "members", "7").code == 1)
  }

  @Test func `documents are compacted, and the sizes before and after are told`() throws {
    let root = try root()
    for _ in 0..<5 { _ = try root.run("documents", "update", "members", "--all", "--set", "age = 0") }
    let sizes = try root.run("documents", "compact", "--json").object()
    #expect((sizes.number("before") ?? 0) > (sizes.number("after") ?? 0) && (sizes.number("after") ?? 0) > 0)
    #expect(try root.run("documents", "count", "members").lines == ["4"])
  }

  @Test func `CATALOG_TRACE says on standard error what each operation cost`() throws {
    let root = try root()
    let query = ["documents", "query", "members", "--where", "city == 'Oslo'", "--json"]
    let all = try root.run(query, variables: ["CATALOG_TRACE": "all"])
    #expect(all.code == 0 && all.words.contains("query members where city == 'Oslo'") && all.words.contains("read=4"))
    let redacted = try root.run(query, variables: ["CATALOG_TRACE": "all,redacted"])
    #expect(redacted.words.contains("where city == ?") && !redacted.words.contains("Oslo"))
    #expect(try root.run(query, variables: ["CATALOG_TRACE": "slow"]).words.isEmpty)
    let wrong = try root.run(query, variables: ["CATALOG_TRACE": "loud"])
    #expect(wrong.code == 64 && wrong.words.contains("CATALOG_TRACE"))
  }
}
