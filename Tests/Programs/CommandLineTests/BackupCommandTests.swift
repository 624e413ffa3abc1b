import Foundation
import Testing

/// `backup` and `restore`: what they print, their exit codes, and what they leave alone.
@Suite struct BackupCommandTests {
  private func root() throws -> TestRoot {
    let root = try TestRoot(answers: [])
    _ = try root.apply([root.payload(.products(3), "1.json")])
    #expect(try root.run("queue", "add", #"{"code":"690"}"#).code == 0)
    return root
  }

  @Test func `stores come back as they were, with cursor and queue`() throws {
    let root = try root()
    let backup = root.folder.path + "/backup"
    let before = try (root.run("verify").text, root.cursor())
    let made = try root.run("backup", backup, "--json")
    #expect(made.code == 0, "\(made.words)")
    let files = try made.object().number("files") ?? 0
    #expect(try files >= 2 && made.object().number("bytes") ?? 0 > 0 && made.object().number("sequence") == 1)
    _ = try root.apply([root.payload(.products(9, cursor: "later"), "2.json")])
    #expect(try root.run("queue", "clear").code == 0)

    let refused = try root.run("restore", backup)
    #expect(refused.code == 73 && refused.words.contains("--force") && refused.words.contains("nothing was changed"))
    #expect(try root.cursor() == "later")
    let run = try root.run("restore", backup, "--force", "--json")
    #expect(run.code == 0, "\(run.words)")
    #expect(try run.object().number("files") == files)
    #expect(try root.run("verify").text == before.0)
    #expect(try root.cursor() == before.1)
    #expect(try root.run("queue", "list", "--json").objects().count == 1)
    // A backup is read like a root.
    #expect(try root.run("get", "--id", "p0", "--root", backup, "--user", "u").code == 0)
  }

  @Test func `a device that has nothing gets everything`() throws {
    let root = try root()
    let backup = root.folder.path + "/backup"
    let made = try root.run("backup", backup, "--all")
    #expect(made.code == 0 && made.text.contains("of everybody"), "\(made.words)")
    let other = try TestRoot()
    let run = try other.run("restore", backup, "--all")
    #expect(run.code == 0, "\(run.words)")
    #expect(try other.run("verify").text == root.run("verify").text)
    #expect(try other.run("whoami").text == root.run("whoami").text)
    let second = try other.run("restore", backup, "--all")
    #expect(second.code == 73, "\(second.words)")
  }

  @Test func `wrong words, wrong places and a damaged backup have exit codes of their own`() throws {
    let root = try root()
    let backup = root.folder.path + "/backup"
    #expect(try root.run("backup", backup, "--all", "--user", "u").code == 64)
    #expect(try root.run("backup", "").code == 64)
    #expect(try root.run("restore", backup).code == 66)
    let nobody = try root.run("backup", backup, "--user", "uu")
    #expect(nobody.code == 66 && nobody.words.contains("those of u"), "\(nobody.words)")
    #expect(!FileManager.default.fileExists(atPath: backup))
    let inside = try root.run("backup", root.path + "/backup")
    #expect(inside.code == 73 && inside.words.contains("nothing was written"), "\(inside.words)")
    #expect(try root.run("backup", backup).code == 0)
    let again = try root.run("backup", backup)
    #expect(again.code == 73 && again.words.contains("is not empty"), "\(again.words)")
    #expect(try root.run("restore", backup, "--user", "nobody").code == 66)
    let list = URL(fileURLWithPath: backup + "/backup.json")
    try FileManager.default.moveItem(at: list, to: URL(fileURLWithPath: backup + "/backup.json.new"))
    let incomplete = try root.run("restore", backup, "--force")
    #expect(incomplete.code == 65 && incomplete.words.contains("incomplete"), "\(incomplete.words)")
    #expect(try root.run("verify").code == 0)
  }
}
