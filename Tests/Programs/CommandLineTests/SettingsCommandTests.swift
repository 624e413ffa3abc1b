import Foundation
import Testing

/// A damaged store of who is signed in blocks nobody who says who is meant, and every message names the way out.
@Suite struct SettingsCommandTests {
  private func root() throws -> (root: TestRoot, settings: URL) {
    let root = try TestRoot(answers: [])
    _ = try root.apply([root.payload(.products(5))])
    return (root, URL(fileURLWithPath: root.path + "/default/settings.log"))
  }

  private func damage(_ file: URL, at text: String, _ distance: Int = 0) throws {
    var bytes = try Data(contentsOf: file)
    let range = try #require(bytes.range(of: Data(text.utf8)))
    bytes[range.lowerBound + distance] ^= 1
    try bytes.write(to: file)
  }

  @Test(arguments: ["SHELFLOG", "currentUser", "SHELFEND"])
  func `damage is told with the way out, and repaired`(structure: String) throws {
    let (root, settings) = try root()
    let (dump, digest) = try (root.dump(), root.digest())
    try damage(settings, at: structure, structure == "SHELFLOG" ? 30 : 2)
    let bytes = try Data(contentsOf: settings)
    let user = ["--user", "u"]
    for command in [["whoami"], ["login", "v"], ["logout"], ["users"], ["users", "--json"], ["dump"], ["stat"]] {
      let run = try root.run(command)
      #expect(run.code == 65 && run.isOrderly, "\(command): \(run.code) \(run.words)")
      #expect(run.words.contains("settings.log") && run.words.contains("verify --repair"), "\(run.words)")
      #expect(try Data(contentsOf: settings) == bytes, "\(command)")
    }
    #expect(try root.run("users", "--json").objects().map { $0.text("id") } == ["u"])
    // Who says who is meant is served.
    #expect(try root.run(["dump"] + user).output == dump)
    #expect(try root.run(["scan", "c0"] + user).code == 0)
    #expect(try root.run(["apply", root.payload(.products(5)).path] + user).lines.first == "begin 2")
    _ = try root.run(["rollback", "1"] + user)
    for arguments in [[], user] {
      let run = try root.run(["verify"] + arguments)
      #expect(run.code == 65 && run.words.contains("settings.log: offset"), "\(run.words)")
      #expect(run.words.contains("--repair") && run.output.isEmpty)
    }
    let batch = try root.run(["verify", "--batch"], input: Data((root.path + "\n").utf8))
    #expect(batch.text.hasPrefix("err ") && batch.text.contains("settings.log"), "\(batch.text)")
    // The row itself is lost with its own bytes only.
    let repair = try root.run(["verify", "--repair"] + (structure == "currentUser" ? user : []))
    #expect(repair.code == 0 && repair.lines.last == digest, "\(repair.words)")
    #expect(repair.words.contains("settings.damaged-1"), "\(repair.words)")
    let kept = settings.deletingLastPathComponent().appendingPathComponent("settings.damaged-1")
    #expect(try Data(contentsOf: kept) == bytes)
    let whoami = try root.run("whoami")
    #expect(structure == "currentUser" ? whoami.code == 1 : whoami.text == "u\n", "\(whoami.words)")
    #expect(try root.run("login", "v").code == 0)
    #expect(try root.run("whoami").text == "v\n")
    #expect(try root.run(["verify"] + user).lines == [digest])
  }

  @Test func `a repair that loses who is signed in is one all the same`() throws {
    let (root, settings) = try root()
    try damage(settings, at: "currentUser", 2)
    let repair = try root.run("verify", "--repair")
    #expect(repair.code == 0 && repair.output.isEmpty, "\(repair.code) \(repair.words)")
    #expect(
      repair.words.contains("settings.damaged-1") && repair.words.contains("catalogctl login ID"), "\(repair.words)")
    #expect(try root.run("users", "--json").objects().map { $0.text("id") } == ["u"])
    #expect(try root.run("login", "u").code == 0)
    #expect(try root.run("verify").code == 0)
  }

  @Test func `a file that is no store at all is told so, and set aside by a repair`() throws {
    let (root, settings) = try root()
    for (number, contents) in [Data(), Data(repeating: 7, count: 20_000)].enumerated() {
      try contents.write(to: settings)
      for command in [["whoami"], ["login", "v"], ["verify"]] {
        let run = try root.run(command)
        #expect(run.code == 65 && run.isOrderly && run.words.contains("settings.log"), "\(command): \(run.words)")
        #expect(run.words.contains("--repair") || command[0] == "login")
        #expect(try Data(contentsOf: settings) == contents, "\(command)")
      }
      #expect(try root.run("dump", "--user", "u").code == 0)
      let repair = try root.run("verify", "--repair")
      #expect(repair.words.contains("settings.damaged-\(number + 1)"), "\(repair.words)")
      #expect(repair.words.contains("catalogctl login ID"), "\(repair.words)")
      #expect(!FileManager.default.fileExists(atPath: settings.path))
    }
    #expect(try root.run("login", "u").code == 0)
    #expect(try root.run("verify").code == 0)
  }
}
