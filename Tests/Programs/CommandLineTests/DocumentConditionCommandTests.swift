import Testing

/// `documents query`: conditions, order, limit and offset, and mistakes in them.
@Suite struct DocumentConditionCommandTests {
  private func query(_ root: TestRoot, _ options: String...) throws -> ProgramRun {
    try root.run(["documents", "query", "members", "--json"] + options)
  }

  @Test func `conditions over nested fields, order, limit and offset`() throws {
    let root = try TestRoot.withMembers()
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
    let root = try TestRoot.withMembers()
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
}
