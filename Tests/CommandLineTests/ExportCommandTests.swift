import Foundation
import Testing

/// `export` and `import`.
@Suite struct ExportCommandTests {
  private func root() throws -> TestRoot {
    var payload = Payload.products(3, name: "a \\\"quoted\\\", 空调\\n name")
    payload.relation("p0", "p1", 2)
    payload.relation("p0", "nobody", 1)
    let root = try TestRoot(answers: [])
    _ = try root.apply([root.payload(payload)])
    return root
  }

  @Test(arguments: ["ndjson", "jsonl", "csv", "CSV", "csv.gz", "NDJSON.GZ"])
  func `what was exported is imported with the same digest`(suffix: String) throws {
    let root = try root()
    let file = root.folder.path + "/rows.\(suffix)"
    let run = try root.run("export", file)
    #expect(run.code == 0 && run.output.isEmpty)
    let other = try TestRoot(answers: [])
    let cursor = try #require(try root.cursor())
    let report = try other.run("import", file, "--cursor", cursor, "--json").object()
    #expect(report.text("mode") == "full" && report.object("products").number("upserted") == 3)
    #expect(try other.digest() == root.digest())
    #expect(try other.dump() == root.dump())
    // Without a cursor the next sync asks for everything.
    #expect(try other.run("import", file).code == 0)
    #expect(try other.cursor() == "")
  }

  @Test func `NDJSON is what dump prints, and standard output and input do as files`() throws {
    let root = try root()
    #expect(try root.run("export", "-").output == root.dump())
    let csv = try root.run("export", "-", "--format", "csv")
    #expect(csv.text.hasPrefix("type,barcode,brand,") && csv.text.contains("\r\nrelation,"))
    let other = try TestRoot(answers: [])
    #expect(try other.run("import", "-", "--format", "csv", input: csv.output).code == 0)
    #expect(try other.dump() == root.dump())
  }

  @Test func `a file appears whole or not at all, and takes the place of an older one`() throws {
    let root = try root()
    let file = try root.folder.file("rows.ndjson", Data("old".utf8))
    #expect(try root.run("export", file.path).code == 0)
    #expect(try Data(contentsOf: file) == root.dump())
    #expect(try root.run("export", root.folder.path + "/no/such/rows.csv").code == 73)
    #expect(try root.run("export", root.folder.path, "--format", "csv").code == 73)
    #expect(try root.run("export", "/dev/full").code == 73)
    let names = try FileManager.default.contentsOfDirectory(atPath: root.folder.path)
    #expect(!names.contains { $0.contains("partial") })
    let earlier = try root.run("export", file.path, "--at", "9")
    #expect(earlier.code == 1)
  }

  @Test func `an extension that cannot be written is refused`() throws {
    let root = try root()
    for name in ["rows.xlsx", "rows.json", "rows.gz", "rows.csv.zip", "rows.csv.gz.gz", "v1.2", ".hidden.txt"] {
      let run = try root.run("export", root.folder.path + "/" + name)
      #expect(run.code == 64 && run.words.contains(".csv") && run.words.contains("--format"), "\(name): \(run.words)")
      #expect(!FileManager.default.fileExists(atPath: root.folder.path + "/" + name), "\(name)")
    }
    for name in ["rows", ".rows", "rows.gz.csv"] {
      #expect(try root.run("export", root.folder.path + "/" + name).code == 0, "\(name)")
    }
    let path = root.folder.path + "/rows.txt"
    let report = try root.run("export", path, "--format", "ndjson", "--json").object()
    #expect(report.sortedKeys == ["bytes", "file", "products", "relations", "sequence"])
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == root.dump())
    #expect(report.number("bytes") == (try root.dump().count))
  }

  @Test func `a file that is wrong is refused with its place, and changes nothing`() throws {
    let root = try root()
    let digest = try root.digest()
    let bad = try root.folder.file("bad.csv", Data("id,weight\na,1\nb,heavy\n".utf8))
    let run = try root.run("import", bad.path)
    #expect(run.code == 65 && run.words.contains("bad.csv: Line 3, column 2 (weight), value \"heavy\""), "\(run.words)")
    let lines = try root.folder.file(
      "bad.ndjson", Data("{\"type\":\"product\",\"id\":\"a\"}\n{\"type\":\"product\",\n".utf8))
    let second = try root.run("import", lines.path)
    #expect(second.code == 65 && second.words.contains("bad.ndjson: Line 2"), "\(second.words)")
    #expect(try root.run("import", root.folder.path + "/none.csv").code == 66)
    #expect(try root.digest() == digest)
  }

  @Test func `an import that loses too much meets the gate`() throws {
    let root = try TestRoot(answers: [])
    _ = try root.apply([root.payload(.products(1200))])
    let file = try root.folder.file("one.csv", Data("id\np0\n".utf8))
    #expect(try root.run("import", file.path).code == 65)
    #expect(try root.run("import", file.path, "--accept-loss").code == 0)
    #expect(try root.run("stat", "--json").object().number("products") == 1)
  }
}
