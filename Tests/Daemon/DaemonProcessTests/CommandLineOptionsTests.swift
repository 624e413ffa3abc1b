import Foundation
import Testing

@testable import DaemonProcess

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
    for setting in DaemonSetting.all { #expect(help.contains(setting.meaning)) }
    #expect(help.contains("--webhooks-NAME-authorization-file\n") && help.contains("--sync-ca-file\n"))
    #expect(help.split(separator: "\n").allSatisfy { $0.count <= 120 })
  }
}

@Suite struct ConfigurationTableTests {
  /// `SHELFMARK_RECORD=1` writes the table anew.
  @Test func `the table of the documentation has a row for every setting, and no other`() throws {
    let readme = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Examples/README.md")
    var lines = try String(contentsOf: readme, encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let rows = DaemonSetting.all.map { setting in
      let isWord = !setting.standard.isEmpty && !setting.standard.contains(" ") && !setting.standard.hasPrefix("$")
      let standard = isWord ? "`\(setting.standard)`" : setting.standard
      return "| `\(setting.key)` | \(setting.values) | \(standard) | \(setting.meaning) |"
    }
    let head = ["| key | values | default | meaning |", "|---|---|---|---|"]
    let beginning = try #require(lines.firstIndex { $0.hasPrefix("| key |") })
    let end = lines[beginning...].firstIndex { !$0.hasPrefix("|") } ?? lines.endIndex
    let isRecorded = ProcessInfo.processInfo.environment["SHELFMARK_RECORD"] == "1"
    if isRecorded, Array(lines[beginning..<end]) != head + rows {
      lines.replaceSubrange(beginning..<end, with: head + rows)
      try lines.joined(separator: "\n").write(to: readme, atomically: true, encoding: .utf8)
    } else {
      #expect(Array(lines[beginning..<end]) == head + rows)
    }
    #expect(lines.count { $0.hasPrefix("| `") } == rows.count, "there is one table of settings")
  }
}

extension DaemonSetting {
  /// The valid values, for people; those of a choice as they are written.
  fileprivate var values: String {
    switch kind {
    case .text: "text"
    case .url: "URL"
    case .secret: "text, never shown"
    case .choice(let names): names.map { "`\($0)`" }.joined(separator: ", ")
    case .int(let range): "\(range.lowerBound) to \(range.upperBound)"
    case .number(let range): "\(Self.plain(range.lowerBound)) to \(Self.plain(range.upperBound))"
    case .bool: "`true`, `false`"
    case .list: "list of texts"
    case .secretList: "list of texts, never shown"
    case .json where key == "inputs.NAME.keys": "object of keys and characters"
    case .json: "list of names and objects"
    }
  }
}
