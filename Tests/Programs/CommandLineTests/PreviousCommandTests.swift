import Foundation
import Testing

/// `log`, `diff`, `dump --at` and `rollback` across a full update, and what is kept for them.
@Suite struct PreviousCommandTests {
  /// Commit 1: p0, p1, p2. Commit 2: p1 renamed. Commit 3, a full update: p0 alone.
  private func root() throws -> TestRoot {
    var second = Payload()
    second.cursor = "2026-02-02 00:00:00"
    second.product("p1", #""barcode":"c1","name":"renamed""#)
    let root = try TestRoot(answers: [])
    _ = try root.apply([root.payload(.products(3), "1.json"), root.payload(second, "2.json")])
    let wrong = try root.payload(.products(1, cursor: "2026-03-03 00:00:00"), "3.json")
    let run = try root.run("sync", "--from", wrong.path, "--full", "--accept-loss")
    #expect(run.code == 0, "\(run.words)")
    return root
  }

  private func files(_ root: TestRoot) throws -> [String: String] {
    let list = try root.run("stat", "--json").object()["files"] as? [[String: Any]] ?? []
    return Dictionary(uniqueKeysWithValues: list.map { ($0.text("name") ?? "", $0.text("role") ?? "") })
  }

  @Test func `a bad full update is undone`() throws {
    let root = try root()
    let lines = try root.run("log", "--json").objects()
    #expect(lines.map { $0.number("sequence") } == [3, 2, 1])
    #expect(lines.map { $0["previous"] as? Bool } == [false, true, true])
    #expect(try root.run("log").text.contains("Before the last full update"))
    let before = try root.run("dump", "--at", "2").output
    let diff = try root.run("diff", "2", "3", "--json").objects()
    #expect(diff.map { ($0.text("id") ?? "") + ($0.text("change") ?? "") } == ["p1removed", "p2removed"])
    let run = try root.run("rollback", "2", "--json")
    #expect(run.code == 0, "\(run.words)")
    #expect(try run.object().number("sequence") == 4)
    #expect(try root.dump() == before)
    #expect(try root.cursor() == "2026-02-02 00:00:00")
    #expect(try root.run("rollback", "3").code == 0)
    #expect(try root.run("stat", "--json").object().number("products") == 1)
    #expect(try root.run("rollback", "1").code == 1)
  }

  @Test func `files are listed by role, and the kept generation can be dropped`() throws {
    let root = try root()
    #expect(try files(root)["catalogue.previous"] == "previous" && files(root)["catalogue.log"] == "log")
    #expect(try root.run("stat").words.contains("kept until"))
    let run = try root.run("compact", "--drop-previous", "--json")
    #expect(try run.code == 0 && run.object().number("bytesDropped") ?? 0 > 0)
    #expect(try files(root)["catalogue.previous"] == nil)
    #expect(try root.run("log", "--json").objects().map { $0.number("sequence") } == [3])
    #expect(try root.run("rollback", "2").code == 1)
  }

  @Test func `the setting says how long it is kept`() throws {
    let root = try root()
    #expect(try root.run("config", "set", "keepPreviousDays", "0").code == 0)
    // Whoever writes next deletes it.
    #expect(try root.run("sync", "--from", root.payload(.products(2, cursor: "later"), "4.json").path).code == 0)
    #expect(try files(root)["catalogue.previous"] == nil)
    let again = try root.payload(.products(2, cursor: "again"), "5.json")
    #expect(try root.run("sync", "--full", "--from", again.path).code == 0)
    #expect(try files(root)["catalogue.previous"] == nil)
    #expect(try root.run("config", "set", "keepPreviousDays", "soon").code == 64)
    #expect(try root.run("config", "set", "keepPreviousDays", "--", "-1").code == 64)
  }

  /// What a file is replaced by, and what messages say of it.
  @Test(arguments: ["empty", "documents"])
  func `a lost catalogue is recovered by following the messages`(content: String) throws {
    let root = try root()
    _ = try root.run(["documents", "put", "members"], input: Data(#"{"id":1}"#.utf8))
    let directory = root.path + "/users/u/"
    let bytes = content == "empty" ? Data() : try Data(contentsOf: URL(fileURLWithPath: directory + "documents.log"))
    try bytes.write(to: URL(fileURLWithPath: directory + "catalogue.log"))
    for command in [["dump"], ["stat"], ["log"], ["get", "--id", "p1"], ["compact"]] {
      let run = try root.run(command)
      #expect(run.code == 65 && run.output.isEmpty, "\(command): \(run.words)")
      #expect(run.words.contains("verify --repair") && run.words.contains("commit 2 of"), "\(command): \(run.words)")
      #expect(run.words.contains("--replace-damaged"), "\(command): \(run.words)")
      if content == "documents" { #expect(!run.words.contains("newer program"), "\(run.words)") }
    }
    #expect(try root.run("verify").code == 65)
    let run = try root.run("verify", "--repair")
    #expect(run.code == 0 && run.words.contains("everything since then is lost"), "\(run.words)")
    #expect(try root.run("stat", "--json").object().number("products") == 3)
    #expect(try root.cursor() == "2026-02-02 00:00:00")
    #expect(try files(root)["catalogue.damaged-1"] == "damaged")
  }

  @Test func `a settings log in the catalogue's place is neither clean nor empty`() throws {
    let root = try root()
    _ = try root.run("config", "set", "a", "1")
    let directory = root.path + "/users/u/"
    try FileManager.default.removeItem(atPath: directory + "catalogue.log")
    try FileManager.default.copyItem(atPath: directory + "settings.log", toPath: directory + "catalogue.log")
    #expect(try root.run("verify").code == 65)
    let dump = try root.run("dump")
    #expect(dump.code == 65 && dump.words.contains("a store of settings"), "\(dump.words)")
  }

  @Test func `sync --full --replace-damaged sets a damaged catalogue aside and begins anew`() throws {
    let root = try root()
    let log = URL(fileURLWithPath: root.path + "/users/u/catalogue.log")
    try Data("garbage".utf8).write(to: log)
    let answer = try root.payload(.products(2, cursor: "anew"), "6.json").path
    #expect(try root.run("sync", "--full", "--from", answer).code == 65)
    #expect(try root.run("sync", "--replace-damaged", "--from", answer).code == 64)
    let run = try root.run("sync", "--full", "--replace-damaged", "--from", answer)
    #expect(run.code == 0 && run.words.contains("catalogue.damaged-1"), "\(run.words)")
    #expect(try root.run("stat", "--json").object().number("products") == 2)
    #expect(try root.run("verify").code == 0)
  }

  @Test func `every command says what a settings log in the catalogue's place is, and what helps`() throws {
    let root = try root()
    _ = try root.run("config", "set", "a", "1")
    let directory = root.path + "/users/u/"
    try FileManager.default.removeItem(atPath: directory + "catalogue.log")
    try FileManager.default.copyItem(atPath: directory + "settings.log", toPath: directory + "catalogue.log")
    let rows = try root.folder.file("rows.csv", Data("id\na\n".utf8)).path
    for command in [["scan", "c1"], ["users"], ["import", rows], ["verify"], ["dump"], ["rollback", "2"]] {
      let run = try root.run(command)
      #expect(run.code == 65, "\(command): \(run.words)")
      #expect(run.words.contains("a store of settings") || command == ["verify"], "\(command): \(run.words)")
      for words in ["verify --repair", "commit 2 of", "--replace-damaged"] {
        #expect(run.words.contains(words), "\(command): \(run.words)")
      }
    }
    #expect(try root.run("verify", "--repair").code == 0)
    #expect(try root.run("stat", "--json").object().number("products") == 3)
  }

  /// What stands in the place of the kept generation.
  @Test(arguments: ["directory", "link", "pipe", "garbage"])
  func `something else in the kept generation's place is damage that a repair sets aside`(kind: String) throws {
    let root = try root()
    let path = root.path + "/users/u/catalogue.previous"
    try FileManager.default.removeItem(atPath: path)
    switch kind {
    case "directory": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    case "link": try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/etc/passwd")
    case "pipe": _ = try Fixture.tool("mkfifo \"$1\"", path)
    default: try Data("garbage".utf8).write(to: URL(fileURLWithPath: path))
    }
    let verify = try root.run("verify")
    #expect(verify.code == 65 && verify.words.contains("catalogue.previous"), "\(verify.words)")
    let stat = try root.run("stat")
    #expect(stat.code == 0 && stat.words.contains("cannot be undone"), "\(stat.words)")
    #expect(stat.words.contains("verify --repair") && !stat.words.contains("can be undone"), "\(stat.words)")
    if kind != "garbage" {
      let drop = try root.run("compact", "--drop-previous")
      #expect(drop.code == 65 && drop.words.contains("verify --repair"), "\(drop.words)")
    }
    #expect(try root.run("log").code == 0)
    let repair = try root.run("verify", "--repair")
    #expect(repair.code == 0 && repair.words.contains("catalogue.damaged-1"), "\(repair.words)")
    #expect(try root.run("verify").code == 0)
    #expect(try root.run("stat", "--json").object().number("products") == 1)
    #expect(try root.run("rollback", "2").code == 1)
  }
}
