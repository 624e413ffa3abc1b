import Foundation
import Testing

/// `config`: settings from the shell.
@Suite struct ConfigCommandTests {
  private func root() throws -> TestRoot { try TestRoot(answers: []) }

  /// Sets a setting and returns what `list --json` prints for it.
  private func value(_ arguments: [String], _ root: TestRoot) throws -> String {
    let run = try root.run(["config", "set"] + arguments)
    #expect(run.code == 0 && run.output.isEmpty, "\(arguments): \(run.words)")
    return try root.run("config", "list", "--json").text
  }

  @Test func `a value is JSON if it is JSON, else a text`() throws {
    let root = try root()
    for (arguments, json) in [
      (["n", "5"], "5"), (["n", "true"], "true"), (["n", "null"], "null"), (["n", "2.5"], "2.5"),
      (["n", "\"5\""], "\"5\""), (["n", "--string", "5"], "\"5\""), (["n", "plain text"], "\"plain text\""),
      (["n", ""], "\"\""), (["n", "{\"a\": [1, 2]}"], "{\"a\":[1,2]}"), (["n", "[1,"], "\"[1,\""),
      (["n", "--", "-5"], "-5"), (["n", "用户 1"], "\"用户 1\""), (["n", "18446744073709551615"], "18446744073709551615"),
      (["n", "--string", "null"], "\"null\""),
    ] as [([String], String)] {
      #expect(try value(arguments, root) == "{\"name\":\"n\",\"value\":\(json)}\n", "\(arguments)")
      #expect(try root.run("config", "get", "n", "--json").text == "{\"name\":\"n\",\"value\":\(json)}\n")
    }
  }

  @Test func `keys of keyboards are checked, though the daemon reads them elsewhere`() throws {
    let root = try root()
    for (value, message) in [
      ("F8", "is to be an object of keys"), (#"{"F99": "GS"}"#, "those are F1 to F24, ESC, BACKSPACE"),
      (#"{"F8": "FNC1"}"#, "allowed are GS, RS, US, EOT or one character"), (#"["F8"]"#, "is to be an object"),
    ] {
      let run = try root.run("config", "set", "inputs.till.keys", value)
      #expect(run.code == 64 && run.words.contains("inputs.till.keys ") && run.words.contains(message), "\(run.words)")
    }
    let run = try root.run("config", "set", "inputs.till.keys", #"{"F8": "GS"}"#)
    #expect(run.code == 0 && run.words.contains("catalogd reads inputs.till.keys from its own configuration"))
  }

  @Test func `JSON with a key twice is refused, as nobody can tell which value was meant`() throws {
    let root = try root()
    let twice = #"{"a":1,"b":{"c":1,"c":2}}"#
    let run = try root.run("config", "set", "n", twice)
    #expect(run.code == 64 && run.words.contains("the key \"c\" at byte 18 is in its object already"), "\(run.words)")
    #expect(try root.run("config", "list").output.isEmpty)
    #expect(try root.run("config", "set", "n", "--string", twice).code == 0)
    #expect(try root.run("config", "get", "n").text == twice + "\n")
    for (arguments, input) in [
      (["queue", "add", twice], ""), (["queue", "add"], twice), (["queue", "add", "--ndjson"], "{}\n\(twice)"),
    ] {
      let run = try root.run(arguments, input: Data(input.utf8))
      #expect(run.code == 65 && run.words.contains("the key \"c\" at byte 18"), "\(run.words)")
      #expect(input.count == 0 || arguments.count == 2 || run.words.contains("line 2"), "\(run.words)")
    }
    #expect(try root.run("queue", "list").output.isEmpty)
  }

  @Test func `get prints a text as it is, and says when nothing is set`() throws {
    let root = try root()
    _ = try root.run("config", "set", "greeting", "good morning")
    #expect(try root.run("config", "get", "greeting").text == "good morning\n")
    _ = try root.run("config", "set", "list", "[1, \"a\"]")
    #expect(try root.run("config", "get", "list").text == "[1,\"a\"]\n")
    for arguments in [["config", "get", "other"], ["config", "get", "other", "--json"]] {
      let run = try root.run(arguments)
      #expect(run.code == 1 && run.output.isEmpty && run.words.contains("other is not set"), "\(run.words)")
    }
    #expect(try root.run("config", "unset", "greeting").code == 0)
    #expect(try root.run("config", "unset", "greeting").code == 0)
    #expect(try root.run("config", "get", "greeting").code == 1)
    // Nothing steers a terminal.
    _ = try root.run("config", "set", "odd", "a\u{1B}[31mb\nc")
    #expect(try root.run("config", "get", "odd").text == "a [31mb c\n")
    #expect(try root.run("config", "get", "odd", "--json").object().text("value") == "a\u{1B}[31mb\nc")
  }

  @Test func `list is a table, or a line of JSON each, ordered by name`() throws {
    let root = try root()
    #expect(try root.run("config", "list").output.isEmpty && root.run("config", "list", "--json").output.isEmpty)
    for (name, value) in [("zoom", "1.5"), ("ad", "false"), ("用户", "\"x\"")] {
      _ = try root.run("config", "set", name, value)
    }
    #expect(
      try root.run("config", "list").lines == ["SETTING  VALUE", "ad       false", "zoom     1.5", "用户     \"x\""])
    #expect(try root.run("config", "list", "--json").objects().map { $0.text("name") } == ["ad", "zoom", "用户"])
    #expect(
      try root.run("config", "list", "--json").text.hasPrefix("{\"name\":\"ad\",\"value\":false}\n{\"name\":\"zoom\""))
  }

  @Test func `each user has settings, and nobody has`() throws {
    let root = try root()
    _ = try root.run("config", "set", "level", "1")
    _ = try root.run("config", "set", "level", "2", "--default")
    _ = try root.run("config", "set", "level", "3", "--user", "v")
    #expect(try root.run("config", "get", "level").text == "1\n")
    #expect(try root.run("config", "get", "level", "--default").text == "2\n")
    #expect(try root.run("config", "get", "level", "--user", "v").text == "3\n")
    #expect(try root.run("config", "unset", "level", "--default").code == 0)
    #expect(try root.run("config", "get", "level", "--default").code == 1)
    #expect(try root.run("config", "get", "level").text == "1\n")
    #expect(try root.run("whoami").text == "u\n")
    #expect(try root.run("config", "list", "--default", "--user", "v").code == 64)
  }

  @Test func `who is signed in, and where a catalogue comes from, are neither shown nor changed`() throws {
    let root = try root()
    let file = try root.payload(.products(3))
    _ = try root.run("sync", "--full", "--from", file.path, "--organisation", "o", "--source", "s")
    for arguments in [["--default"], []] {
      #expect(try root.run(["config", "list"] + arguments).output.isEmpty)
      for name in ["currentUser", "origin"] {
        #expect(try root.run(["config", "get", name] + arguments).code == 1)
        for command in [["set", name, "eve"], ["unset", name]] {
          let run = try root.run(["config"] + command + arguments)
          #expect(run.code == 64 && run.words.contains("no setting"), "\(run.words)")
        }
      }
    }
    #expect(try root.run("whoami").text == "u\n")
  }

  @Test func `reading creates nothing, and nobody signed in is told`() throws {
    let root = try TestRoot()
    for arguments in [["get", "a"], ["list"], ["set", "a", "1"], ["unset", "a"]] {
      let run = try root.run(["config"] + arguments)
      #expect(run.code == 64 && run.words.contains("login"), "\(arguments): \(run.words)")
    }
    for options in [["--default"], ["--user", "u"]] {
      #expect(try root.run(["config", "get", "a"] + options).code == 1)
      #expect(try root.run(["config", "list", "--json"] + options).code == 0)
      #expect(try root.run(["config", "unset", "a"] + options).code == 0)
    }
    #expect(!root.exists)
    // Settings do not need anybody who ever signed in.
    #expect(try root.run("config", "set", "a", "1", "--default").code == 0)
    #expect(try root.run("config", "get", "a", "--default").text == "1\n")
    #expect(try root.run("login", "u").code == 0)
    #expect(try root.run("whoami").text == "u\n" && root.run("config", "get", "a", "--default").text == "1\n")
  }

  @Test func `names that are none, and damage, are told`() throws {
    let root = try root()
    for name in ["", String(repeating: "n", count: 201)] {
      for command in [["get", name], ["set", name, "1"], ["unset", name]] {
        #expect(try root.run(["config"] + command).code == 64)
      }
    }
    for (name, value) in [("first", "1"), ("second", "\"kept here\""), ("third", "3")] {
      _ = try root.run("config", "set", name, value)
    }
    let file = URL(fileURLWithPath: root.path + "/users/u/settings.log")
    var bytes = try Data(contentsOf: file)
    let range = try #require(bytes.range(of: Data("kept here".utf8)))
    bytes[range.lowerBound] ^= 1
    try bytes.write(to: file)
    for command in [["get", "second"], ["list"], ["list", "--json"], ["set", "second", "2"]] {
      let run = try root.run(["config"] + command)
      #expect(run.code == 65 && run.isOrderly && run.words.contains("settings.log"), "\(command): \(run.words)")
    }
    #expect(try root.run("config", "get", "first").text == "1\n")
  }

  @Test func `a setting that is being changed when the program is killed is as before or as behind`() throws {
    let root = try root()
    let text = String(repeating: "v", count: 50_000)
    var last = ""
    for round in 0..<12 {
      let process = Program.process(["config", "set", "text", "\(round)\(text)"], root: root.path)
      process.standardError = FileHandle.nullDevice
      try process.run()
      Thread.sleep(forTimeInterval: 0.004 * Double(round))
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      let run = try root.run("config", "get", "text")
      let next = "\(round)\(text)\n"
      #expect(run.code == 1 && last.isEmpty || run.text == last || run.text == next, "\(round): \(run.words)")
      last = run.code == 1 ? "" : run.text
      #expect(try root.run("config", "set", "other", "\(round)").code == 0)
    }
    #expect(try root.run("whoami").text == "u\n")
  }
}
