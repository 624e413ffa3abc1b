import Testing

@Suite struct HelpTests {
  static let commands = [
    "login", "logout", "whoami", "users", "config", "sync", "apply", "import", "serve", "scan", "explain", "get",
    "find",
    "components",
    "sets-with", "complete", "documents", "stat", "log", "diff", "rollback", "dump", "export", "verify", "compact",
    "cache",
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
}
