import Foundation
import Testing

/// `verify --repair`.
@Suite struct RepairCommandTests {
  private func root() throws -> (root: TestRoot, log: URL) {
    let root = try TestRoot(answers: [])
    var payload = Payload.products(5)
    payload.relation("p0", "p1")
    _ = try root.apply([root.payload(payload)])
    return (root, URL(fileURLWithPath: root.path + "/users/u/catalogue.log"))
  }

  /// Changes the byte `distance` behind the first occurrence of `text`.
  private func damage(_ log: URL, at text: String, _ distance: Int = 0) throws {
    var bytes = try Data(contentsOf: log)
    let range = try #require(bytes.range(of: Data(text.utf8)))
    bytes[range.lowerBound + distance] ^= 1
    try bytes.write(to: log)
  }

  @Test func `a clean store is left as it is`() throws {
    let (root, log) = try root()
    let (bytes, digest) = try (Data(contentsOf: log), root.digest())
    let run = try root.run("verify", "--repair")
    #expect(run.code == 0 && run.lines.last == digest && run.words.contains("clean"))
    #expect(try Data(contentsOf: log) == bytes)
    let empty = try TestRoot(answers: [])
    #expect(try empty.run("verify", "--repair").code == 0)
    #expect(try root.run("verify", "--repair", "--batch").code == 64)
  }

  @Test func `a slot that is damaged alone loses nothing, and the next commit writes it again`() throws {
    let root = try TestRoot(answers: [])
    let file = root.folder.path + "/rows.ndjson"
    for name in ["a", "b"] {
      try Data(#"{"id": "1", "name": "\#(name)"}"#.utf8).write(to: URL(fileURLWithPath: file))
      #expect(try root.run("import", file, "--delete-missing").code == 0)
    }
    let log = URL(fileURLWithPath: root.path + "/users/u/catalogue.log")
    var bytes = try Data(contentsOf: log)
    bytes[6000] ^= 1
    try bytes.write(to: log)
    let found = try root.run("verify")
    #expect(found.code == 65 && found.words.contains("acknowledgement slot"), "\(found.words)")
    #expect(found.words.contains("nothing is lost, and the next import or sync writes it again"), "\(found.words)")
    try Data(#"{"id": "1", "name": "c"}"#.utf8).write(to: URL(fileURLWithPath: file))
    #expect(try root.run("import", file, "--delete-missing").code == 0)
    #expect(try root.run("verify").code == 0)
  }

  @Test func `a lost product is named, the others stay, and the next update is a full one`() throws {
    let (root, log) = try root()
    try damage(log, at: "product 3")
    let bytes = try Data(contentsOf: log)
    let found = try root.run("verify")
    #expect(found.code == 65 && found.words.contains("lost: ") && found.words.contains("product"), "\(found.words)")
    #expect(!found.words.contains("row of"), "\(found.words)")
    let run = try root.run("verify", "--repair")
    #expect(run.code == 0 && run.lines.last?.hasPrefix("digest ") == true, "\(run.words)")
    #expect(run.words.contains("lost: ") && run.words.contains("product p3"), "\(run.words)")
    #expect(try root.run("verify").code == 0)
    #expect(try root.run("stat", "--json").object().number("products") == 4)
    #expect(try root.cursor() == "")
    #expect(try root.run("log", "--json").objects().map { $0.text("mode") } == ["repair"])
    let kept = log.deletingPathExtension().appendingPathExtension("damaged-1")
    #expect(try Data(contentsOf: kept) == bytes)
    let update = try root.apply([root.payload(.products(5))])
    #expect(update.lines.last?.hasPrefix("committed 3 full") == true)
  }

  @Test func `an answer after an import of one's own rows is an increment`() throws {
    let root = try TestRoot(answers: [])
    let file = root.folder.path + "/own.csv"
    try Data("id,name\nown,Mine\n".utf8).write(to: URL(fileURLWithPath: file))
    #expect(try root.run("import", file).code == 0)
    let update = try root.apply([root.payload(.products(5))])
    #expect(update.lines.last?.hasPrefix("committed 2 incremental") == true, "\(update.text)")
    #expect(try root.run("stat", "--json").object().number("products") == 6)
  }

  @Test(arguments: ["SHELFLOG", "SHELFACK", "SHELFSEG", "SHELFIDX", "SHELFEND"])
  func `damage beside the rows costs no row`(structure: String) throws {
    let (root, log) = try root()
    let (dump, digest) = try (root.dump(), root.digest())
    try damage(log, at: structure, 2)
    #expect(try root.run("verify").code == 65)
    let run = try root.run("verify", "--repair")
    #expect(run.code == 0, "\(run.words)")
    #expect(try root.dump() == dump)
    // The state beside the rows stands in the last commit's manifest, which its footer names.
    if structure == "SHELFEND" {
      #expect(try root.cursor() == "")
    } else {
      #expect(run.words.contains("nothing but history is lost") && run.lines.last == digest)
    }
  }
}
