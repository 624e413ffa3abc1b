import Foundation
import Testing

@testable import DaemonConfiguration

@Suite struct CommandLineOptionsTests {
  @Test func `what is asked for, the file, and the settings`() throws {
    var options = try CommandLineOptions(["--config", "/c", "--user", "a", "--check-config", "--log-level=debug"])
    #expect(options.action == .checkConfiguration && options.file == "/c")
    #expect(options.settings == ["--user", "a", "--log-level=debug"])
    options = try CommandLineOptions(["--config=/d"], environment: ["CATALOGD_CONFIG": "/e"])
    #expect(options.action == .run && options.file == "/d")
    #expect(try CommandLineOptions([], environment: ["CATALOGD_CONFIG": "/e"]).file == "/e")
    #expect(try CommandLineOptions([], environment: ["CATALOGD_CONFIG": ""]).file == nil)
    #expect(try CommandLineOptions(["--version", "-h"]).action == .showHelp)
    #expect(try CommandLineOptions(["--check-config", "--version"]).action == .showVersion)
  }

  @Test func `the file's name is not left out`() {
    for arguments in [["--config"], ["--config="], ["--config", ""], ["--config", "--check-config"]] {
      #expect(throws: ConfigurationFaults.self) { try CommandLineOptions(arguments) }
    }
  }

  @Test func `the help tells every setting`() {
    let help = CommandLineOptions.help
    for setting in Setting.all { #expect(help.contains(setting.meaning)) }
    #expect(help.contains("--webhooks-NAME-authorization-file\n") && help.contains("--sync-ca-file\n"))
    #expect(help.split(separator: "\n").allSatisfy { $0.count <= 120 })
  }
}

@Suite struct ConfigurationTableTests {
  @Test func `the table of the documentation has a row for every setting, and no other`() throws {
    let readme = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Examples/README.md")
    let lines = try String(contentsOf: readme, encoding: .utf8).split(separator: "\n").map(String.init)
    let rows = Setting.all.map { setting in
      let isWord = !setting.standard.isEmpty && !setting.standard.contains(" ") && !setting.standard.hasPrefix("$")
      return "| `\(setting.key)` | \(isWord ? "`\(setting.standard)`" : setting.standard) | \(setting.meaning) |"
    }
    #expect(lines.filter { $0.hasPrefix("| `") } == rows)
  }
}
