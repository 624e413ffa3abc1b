import Foundation
import Testing

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

  @Test func `an ordered index finds ranges and orders, and is listed and dropped next to the other kind`() throws {
    let root = try root()
    let index = ["documents", "index"]
    #expect(try root.run(index + ["add", "members", "age"]).code == 0)
    #expect(
      try root.run(index + ["add", "members", "age", "--ordered"]).lines == ["members has an ordered index on age"])
    #expect(
      try root.run(index + ["add", "members", "age", "--ordered"]).lines
        == ["members has an ordered index on age already"])
    #expect(try root.run(index + ["add", "members", "on,age", "--ordered", "--json"]).text.contains("\"added\":true"))
    #expect(
      try root.run(index + ["list", "--json"]).lines == [
        #"{"collection":"members","path":"age","prefixes":false,"ordered":false}"#,
        #"{"collection":"members","path":"age","prefixes":false,"ordered":true}"#,
        #"{"collection":"members","path":"on,age","prefixes":false,"ordered":true}"#,
      ])
    #expect(try root.run(index + ["list"]).lines.last?.split(separator: " ") == ["members", "on,age", "ordered", "no"])
    let listed = try root.run("documents", "list", "--json").object().objects("indexes")
    #expect(listed.last?.text("path") == "on,age" && listed.last?["ordered"] as? Bool == true)
    let query = ["documents", "query", "members"]
    let older = try root.run(query + ["--where", "age >= 20 && age < 40", "--order", "-age", "--json"])
    #expect(try older.objects().map { $0.number("id") } == [2, 3])
    #expect(
      try root.run(query + ["--where", "age >= 20", "--order", "-age", "--limit", "2", "--explain"]).lines == [
        "ordered index on age (age >= ?) in its reverse order; end after 2 documents", "0 documents read, 2 found",
      ])
    let plan = try root.run(query + ["--where", "on && city == 'Oslo'", "--order", "age", "--explain", "--json"])
      .object()
    #expect(plan.text("plan") == "ordered index on on, age (on == ?) in its order")
    #expect(plan["steps"] as? [String] == ["ordered index on on, age (on == ?) in its order", "test city == ?"])
    #expect(try root.run("verify").code == 0)
    #expect(try root.run(index + ["drop", "members", "age", "--ordered"]).code == 0)
    #expect(try root.run(index + ["drop", "members", "age", "--ordered"]).code == 1)
    #expect(try root.run(index + ["drop", "members", "on,age"]).code == 0)
    #expect(try root.run(index + ["list", "members", "--json"]).lines.count == 1)
    for wrong in [
      ["add", "members", "on,age"], ["add", "members", "on,,age", "--ordered"],
      ["add", "members", "age", "--ordered", "--prefixes"],
    ] {
      #expect(try root.run(index + wrong).code == 64, "\(wrong)")
    }
  }

  @Test func `documents are listed page by page, after a cursor`() throws {
    let root = try root()
    let query = ["documents", "query", "members", "--order", "-on, age", "--limit", "3", "--json"]
    for isIndexed in [false, true] {
      if isIndexed { #expect(try root.run("documents", "index", "add", "members", "on,age", "--ordered").code == 0) }
      let first = try root.run(query + ["--after", "start"])
      #expect(try first.objects().map { $0.number("id") } == [4, 3, 1])
      let line = try #require(first.words.split(separator: "\n").first { $0.hasPrefix("next page: --after ") })
      let cursor = String(line.dropFirst("next page: --after ".count))
      #expect(try root.run("documents", "delete", "members", "3").code == 0)
      let second = try root.run(query + ["--after", cursor])
      #expect(try second.objects().map { $0.number("id") } == [2] && second.words.isEmpty)
      #expect(try root.run(["documents", "put", "members"], input: Data(Self.members[2].utf8)).code == 0)
      let other = try root.run("documents", "query", "members", "--order", "age", "--limit", "3", "--after", cursor)
      #expect(other.code == 64 && other.words.contains("begin again with the first page"), "\(other.words)")
    }
    #expect(try root.run(query + ["--after", "nonsense"]).code == 64)
    for wrong in [["--offset", "2"], ["--count"], ["--explain"]] {
      #expect(try root.run(query + ["--after", "start"] + wrong).code == 64, "\(wrong)")
    }
    #expect(try root.run("documents", "query", "members", "--after", "start").code == 64)
    #expect(try root.run("documents", "query", "nobodies", "--after", "start", "--limit", "1").code == 1)
  }

  @Test func `an index counts groups without reading documents`() throws {
    let root = try root()
    let index = ["documents", "index"]
    #expect(try root.run(index + ["add", "members", "city", "--prefixes", "--json"]).code == 0)
    #expect(
      try root.run(index + ["list", "--json"]).lines
        == [#"{"collection":"members","path":"city","prefixes":true,"ordered":false}"#])
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
