import Foundation
import Testing

/// `documents put`, `list`, `get` and `delete`: what is stored and printed, and what is refused.
@Suite struct DocumentCommandTests {
  @Test func `documents are put, listed, got, replaced and deleted`() throws {
    let root = try TestRoot.withMembers()
    #expect(try root.run("documents", "list", "members", "--json").lines == TestRoot.members)
    let collections = try root.run("documents", "list", "--json").objects()
    #expect(collections.count == 1 && collections[0].text("name") == "members")
    #expect(collections[0].number("documents") == 3 && collections[0].objects("indexes").isEmpty)
    #expect(try root.run("documents", "get", "members", "three").lines == [TestRoot.members[2]])
    #expect(try root.run("documents", "get", "members", "2", "--json").lines == [TestRoot.members[1]])
    let second = try root.run("documents", "list", "members", "--json", "--offset", "1", "--limit", "1")
    #expect(second.lines == [TestRoot.members[1]])

    let changed = #"{"id":2,"age":0}"#
    let run = try root.putMembers(changed, ["--json"])
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
    let root = try TestRoot.withMembers()
    let digits = String(repeating: "9", count: 1700)
    for number in [digits, "-" + digits, "1e309", "1.5e+400"] {
      let run = try root.putMembers("{\"id\":8}\n{\"id\":9,\"n\":\(number)}")
      #expect(run.code == 65 && run.isOrderly && run.words.contains("line 2"), "\(run.words)")
      #expect(run.words.contains("too large"), "\(run.words)")
      let add = try root.run("queue", "add", "[\(number)]")
      #expect(add.code == 65 && add.isOrderly && add.words.contains("too large"), "\(add.words)")
    }
    #expect(try root.run("documents", "list", "members", "--json").lines == TestRoot.members)
    #expect(try root.run("queue", "list", "--json").lines.isEmpty)
  }

  @Test func `one object over several lines, a file, an empty input and several with one id`() throws {
    let root = try TestRoot.withMembers()
    #expect(try root.putMembers("{\n  \"id\": \"wide\",\n  \"a\": [1,\n 2]\n}\n").code == 0)
    #expect(try root.run("documents", "get", "members", "wide").lines == [#"{"id":"wide","a":[1,2]}"#])
    let file = try root.folder.file("in.ndjson", Data("\n{\"id\":\"f\",\"n\":1}\r\n\n{\"id\":\"f\",\"n\":2}".utf8))
    #expect(try root.run("documents", "put", "members", "--from", file.path).lines == ["2 documents put into members"])
    #expect(try root.run("documents", "get", "members", "f").lines == [#"{"id":"f","n":2}"#])
    let digest = try root.digest()
    #expect(try root.putMembers("\n \n").lines == ["0 documents put into members"])
    #expect(try root.digest() == digest)
    #expect(try root.run("documents", "put", "members", "--from", root.path + "/none").code == 66)
  }

  @Test func `documents of one file with the same id are told`() throws {
    let root = try TestRoot.withMembers()
    let run = try root.putMembers("{\"id\":8,\"v\":1}\n{\"id\":8,\"v\":2}\n{\"id\":\"8\"}")
    #expect(run.code == 0 && run.words.contains("1 document gave way to a later one"), "\(run.words)")
    #expect(try root.run("documents", "get", "members", "8").lines.count == 1)
  }

  @Test func `what is no document is told with its line, and nothing changes`() throws {
    let root = try TestRoot.withMembers()
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
      let run = try root.putMembers(text)
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
    let long = try root.putMembers("{\"id\":\"a\"}\n\n{\"id\":\"\(String(repeating: "x", count: 70_000))\"}")
    #expect(long.code == 65 && long.words.contains("line 3: the id of a document for members takes"), "\(long.words)")
    let large = "{\"id\":\"large\",\"a\":\"\(String(repeating: "x", count: 17 << 20))\"}"
    let run = try root.putMembers(large)
    #expect(run.code == 65 && run.isOrderly, "\(run.words)")
    #expect(try root.digest() == digest)
  }

  @Test func `an id is a text or a number, and with json-id what it says`() throws {
    let root = try TestRoot(answers: [])
    #expect(
      try root.putMembers(
        "{\"id\":5,\"k\":\"number\"}\n{\"id\":\"5\",\"k\":\"text\"}\n{\"id\":7}\n{\"id\":1.5}\n{\"id\":\"\"}"
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

  @Test func `people get a table that no document can steer`() throws {
    let root = try TestRoot(answers: [])
    let evil =
      "{\"id\":\"\\u001b[2J\\n\u{202E}evil\",\"text\":\"\\u001b]0;x\\u0007\(String(repeating: "long ", count: 100))\"}"
    #expect(try root.putMembers(evil + "\n" + TestRoot.members[2]).code == 0)
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
}
