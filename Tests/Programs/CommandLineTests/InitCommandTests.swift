import Foundation
import Testing

/// `init`: from nothing to an answered scan.
@Suite struct InitCommandTests {
  private static let rows = "Artikelnummer;EAN;Bezeichnung;Lager\n007;4006381333931;Größe;A\n008;;Maß;B\n"

  @Test func `a file of one's own is tried, imported and scanned`() throws {
    let root = try TestRoot()
    let file = try root.folder.file("erp.csv", Data(Self.rows.utf8)).path
    // A refused file changes nothing.
    let refused = try root.run("init", "--from", file, "--user", "ana", "--column", "id=Artikelnummer", "--yes")
    #expect(refused.code == 65 && refused.words.contains("Lager"), "\(refused.words)")
    #expect(try root.run("whoami").code != 0)
    let run = try root.run(
      "init", "--from", file, "--user", "ana", "--column", "id=Artikelnummer", "--unknown", "ignore", "--yes")
    #expect(run.code == 0 && run.words.contains("Bezeichnung → name"), "\(run.words)")
    #expect(run.text.contains("4006381333931") && run.text.contains("exact"), "\(run.text)")
    // What was said about the columns is kept for the daemon and for the next import.
    let own = try #require(run.words.firstMatch(of: /--sync-map-file (\S+mapping\.json)/)).1
    #expect(run.words.contains("--map \(own) --delete-missing"), "\(run.words)")
    let next = try root.run("import", file, "--map", String(own), "--delete-missing", "--json")
    #expect(next.code == 0 && next.text.contains("\"unchanged\":2"), "\(next.words)")
    #expect(try root.run("whoami").text.contains("ana"))
    let map = root.folder.path + "/map.json"
    let again = try root.run(
      "init", "--from", file, "--column", "id=Artikelnummer", "--unknown", "ignore", "--yes", "--save-map", map)
    #expect(again.code == 0 && FileManager.default.fileExists(atPath: map), "\(again.words)")
    #expect(try root.run("get", "--id", "007", "--json").object().text("name") == "Größe")
  }

  @Test func `a server's address is fetched and kept as a setting`() throws {
    let root = try TestRoot()
    let server = try HTTPServer([.init(body: Data(wrapping: .products(2)))])
    let run = try root.run("init", "--from", server.url, "--user", "bob", "--yes")
    #expect(run.code == 0, "\(run.words)")
    #expect(try root.run("config", "get", "sync.url").text == server.url + "\n")
  }

  @Test func `without a terminal, what is not said is an error`() throws {
    let root = try TestRoot()
    let file = try root.folder.file("rows.csv", Data("id\n1\n".utf8)).path
    for words in [["init"], ["init", "--from", file], ["init", "--yes"]] {
      let run = try root.run(words)
      #expect(run.code == 64 && run.words.contains("--from"), "\(run.words)")
    }
    #expect(try root.run("init", "--from", file + "x", "--yes").code == 66)
    let standardInput = try root.run(["init", "--from", "-", "--yes"], input: Data("id\n1\n".utf8))
    #expect(standardInput.code == 64 && standardInput.words.contains("import -"), "\(standardInput.words)")
  }

  @Test func `a source that cannot be taken signs nobody in`() throws {
    let root = try TestRoot()
    let all = try root.folder.file("all.csv", Data(("id\n" + (0..<2000).map { "\($0)\n" }.joined()).utf8)).path
    #expect(try root.run("import", all, "--user", "eve").code == 0)
    // Without a user the dry run does not know what would be lost; the import does.
    let few = try root.folder.file("few.csv", Data("id\n1\n".utf8)).path
    let run = try root.run("init", "--from", few, "--user", "eve", "--yes")
    #expect(run.code == 65 && run.words.contains("--accept-loss"), "\(run.words)")
    #expect(try root.run("whoami").code != 0)
  }
}
