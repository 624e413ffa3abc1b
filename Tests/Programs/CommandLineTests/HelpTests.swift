import Foundation
import Testing

@Suite struct HelpTests {
  static let commands = [
    "login", "logout", "whoami", "users", "config", "fields", "sync", "apply", "import", "serve", "publish",
    "fleet", "scan", "explain",
    "get",
    "search", "find", "products", "codes", "components", "sets-with", "complete", "studio", "documents", "stat", "log",
    "diff", "rollback", "dump", "export", "verify", "compact", "backup", "restore", "forget", "cache",
    "seal", "unseal", "rekey", "keys",
  ]

  @Test func `every command explains itself`() throws {
    let root = try TestRoot()
    let overview = try root.run("--help")
    #expect(overview.code == 0)
    for command in Self.commands {
      #expect(overview.text.contains("  \(command) "), "\(command)")
      let help = try root.run(command, "--help")
      #expect(help.code == 0 && help.words.isEmpty, "\(command)")
      #expect(help.text.contains("USAGE: catalogctl \(command)"), "\(command)")
      #expect(try root.run(command, "--no-such-option").code == 64, "\(command)")
    }
    #expect(!root.exists)
    #expect(try root.run("--version").text.contains("."))
  }

  /// Every command with the names that lead to it, as the argument parser tells them.
  static func everyCommand() throws -> [(path: [String], command: [String: Any])] {
    let root = try TestRoot().run("--experimental-dump-help")
    let tree = try JSONSerialization.jsonObject(with: root.output) as? [String: Any] ?? [:]
    var found: [(path: [String], command: [String: Any])] = []
    func collect(_ command: [String: Any], _ path: [String]) {
      if path.last == "help" { return }
      found.append((path, command))
      for next in command.objects("subcommands") { collect(next, path + [next.text("commandName") ?? ""]) }
    }
    collect(tree.object("command"), [])
    return found
  }

  @Test func `no help text has a run of blanks, and every file argument is completed`() throws {
    let commands = try Self.everyCommand()
    #expect(commands.count > 40)
    for (path, command) in commands {
      let arguments = command.objects("arguments")
      let texts =
        [command.text("abstract"), command.text("discussion")]
        + arguments.flatMap { [$0.text("abstract"), $0.text("discussion")] }
      for line in texts.compactMap({ $0 }).flatMap({ $0.split(separator: "\n") }) {
        #expect(!line.drop { $0 == " " }.contains("  "), "\(path): \(line)")
      }
      for argument in arguments where ["file", "dir", "path"].contains(argument.text("valueName")) {
        let kind = argument.object("completionKind").keys.first
        #expect(kind == (argument.text("valueName") == "dir" ? "directory" : "file"), "\(path): \(argument)")
      }
    }
  }

  @Test func `help comes out whole on a terminal of any width`() throws {
    let root = try TestRoot()
    for columns in TerminalTests.widths {
      for words in [["help", "sync"], ["--help"], ["scan", "--no-such-option"]] {
        let run = try root.run(words, shell: "COLUMNS=\(columns) exec \"$@\"")
        #expect(run.isOrderly && run.code == (words[0] == "scan" ? 64 : 0), "\(columns) \(words): \(run.words)")
        #expect(run.code == 64 || run.text.contains("USAGE: catalogctl"), "\(columns) \(words)")
      }
    }
    for (path, _) in try Self.everyCommand() {
      let run = try root.run(path + ["--help"], shell: #"COLUMNS=1 exec "$@""#)
      #expect(run.isOrderly && run.code == 0 && run.text.contains("USAGE: catalogctl"), "\(path): \(run.words)")
    }
  }

  @Test func `every command takes the options that are common to all`() throws {
    for (path, command) in try Self.everyCommand() {
      let isGroup = command.objects("subcommands").contains { $0.text("commandName") != "help" }
      if isGroup, path != ["users"] { continue }
      let names = Set(command.objects("arguments").flatMap { $0.objects("names") }.compactMap { $0.text("name") })
      #expect(names.isSuperset(of: ["root", "user", "json", "key-file", "key-command", "passphrase-file"]), "\(path)")
    }
  }
}
