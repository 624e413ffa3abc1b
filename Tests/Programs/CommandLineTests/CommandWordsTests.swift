import Foundation
import RandomTestSupport
import Testing

/// What leads to a command.
@Suite struct CommandWordsTests {
  @Test(arguments: [
    (["--root", "ROOT", "stat", "--user", "u", "--json"]), (["--root=ROOT", "--user=u", "--json", "stat"]),
    (["--json", "--user", "u", "--root", "ROOT", "stat"]),
  ])
  func `options may stand before the command`(words: [String]) throws {
    let root = try TestRoot(answers: [])
    _ = try root.apply([root.payload(.products(3))])
    // The environment names another root.
    let run = try Program.run(
      words.map { $0.replacingOccurrences(of: "ROOT", with: root.path) }, root: root.folder.path + "/nothing")
    #expect(try run.object().number("products") == 3, "\(run.words)")
  }

  @Test func `options may stand between the names of a command`() throws {
    let root = try TestRoot(answers: [])
    for words in [["--user", "v", "queue", "add"], ["queue", "--user", "v", "add"], ["queue", "add", "--user", "v"]] {
      let run = try root.run(words + ["{\"a\":1}", "--json"])
      #expect(try run.object().text("id") != nil, "\(words): \(run.words)")
    }
    #expect(try root.run("--user", "v", "queue", "--json", "stat").object().number("waiting") == 3)
    // A value that looks like a command, and a command that looks like a value.
    #expect(try root.run("--user", "stat", "users", "--json").code == 0)
    #expect(try root.run("config", "set", "stat", "scan").code == 0)
    #expect(try root.run("config", "get", "stat").text == "scan\n")
  }

  @Test(arguments: [
    (["scna"], "did you mean 'scan'?"), (["imprt", "x"], "did you mean 'import'?"), (["queue", "lst"], "'list'"),
    (["--root", "/tmp", "verfy"], "did you mean 'verify'?"), (["help", "roolback"], "did you mean 'rollback'?"),
    (["documents", "qeury", "x"], "did you mean 'query'?"), (["nosuch"], "is not a command of catalogctl."),
    (["help", "nosuch"], "is not a command of catalogctl."), (["help", "queue", "nosuch"], "of catalogctl queue."),
    (["users", "remov", "x"], "did you mean 'remove'?"), (["qeu"], "is not a command"),
  ])
  func `a mistyped command is an error with a suggestion`(words: [String], advice: String) throws {
    let root = try TestRoot()
    let run = try root.run(words)
    #expect(run.code == 64 && run.output.isEmpty && run.words.contains(advice), "\(run.words)")
    #expect(run.words.contains("--help") && run.words.contains("Usage: catalogctl"), "\(run.words)")
    #expect(!root.exists)
  }

  @Test func `help of commands that exist is no error`() throws {
    let root = try TestRoot()
    for words in [["help"], ["help", "scan"], ["help", "queue", "list"], ["queue"], ["--root", "/tmp", "queue"], []] {
      let run = try root.run(words)
      #expect(run.code == 0 && run.text.contains("USAGE: catalogctl"), "\(words): \(run.words)")
    }
  }

  @Test(arguments: [["--json"], ["queue", "--json"], ["--json", "queue"], ["--json", "--user", "u", "config"]])
  func `with --json and no command nothing but an error is printed`(words: [String]) throws {
    let run = try TestRoot().run(words)
    #expect(run.code == 64 && run.output.isEmpty && run.words.contains("no command is given"), "\(run.words)")
  }

  @Test func `help takes options before it, itself, and names a command that has none below it`() throws {
    let root = try TestRoot()
    for words in [["--root", "/tmp", "help", "scan"], ["--json", "help", "scan"]] {
      let run = try root.run(words)
      #expect(run.code == 0 && run.text.contains("USAGE: catalogctl scan"), "\(words): \(run.words)")
    }
    let help = try root.run("help", "help")
    #expect(help.code == 0 && help.text.contains("USAGE: catalogctl <subcommand>"), "\(help.words)")
    let below = try root.run("help", "sync", "x")
    #expect(below.code == 64 && below.words.contains("catalogctl sync has no commands of its own"), "\(below.words)")
    #expect(below.words.contains("'catalogctl help sync'") && below.output.isEmpty)
  }

  @Test func `commands without a store take the options that are common to all`() throws {
    let root = try TestRoot()
    let answer = try root.folder.file("answer", Data(wrapping: .products(1))).path
    let decoded = try root.run("decode", answer, "--user", "u", "--root", root.path, "--json")
    #expect(try decoded.object().number("products") == 1)
    #expect(!root.exists)
  }

  // These commands are parsed without their parents when nothing is wrong.
  @Test(arguments: [
    "get", "scan", "explain", "search", "find", "products", "codes", "components", "sets-with", "complete",
  ])
  func `a command that answers has the help, the errors and the version of the whole command`(name: String) throws {
    let root = try TestRoot()
    let help = try root.run(name, "--help")
    #expect(help.code == 0 && help.text.contains("USAGE: catalogctl \(name) "), "\(help.words)")
    #expect(try root.run("help", name).text == help.text)
    #expect(try root.run(name, "--version").text == root.run("--version").text)
    let wrong = try root.run(name, "--nosuch")
    #expect(wrong.code == 64)
    #expect(wrong.words.contains("See 'catalogctl \(name) --help'"), "\(wrong.words)")
    // A second of a debug build each, so one stands for all unless asked for more.
    if depth == 1, name != "scan" { return }
    #expect(try root.run(name, "--generate-completion-script", "bash").text.contains("_catalogctl"))
  }
}
