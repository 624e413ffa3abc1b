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

  @Test func `a file can be read by those who could read it before`() throws {
    let root = try TestRoot(answers: [])
    let path = root.folder.path + "/rows.csv"
    #expect(try root.run("export", path).code == 0)
    func permissions() throws -> Int? {
      try (FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
    }
    // As any other new file here has them.
    try Data().write(to: URL(fileURLWithPath: path + ".new"))
    let new = try FileManager.default.attributesOfItem(atPath: path + ".new")[.posixPermissions] as? NSNumber
    #expect(try permissions() == new?.intValue)
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
    #expect(try root.run("export", path).code == 0)
    #expect(try permissions() == 0o640)
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

  @Test func `chosen columns are written in their order, in every format`() throws {
    let root = try root()
    let csv = try root.run("export", "-", "--format", "csv", "--columns", "id, weight, barcode")
    #expect(csv.lines.count == 4 && csv.lines[0] == "id,weight,barcode\r" && csv.lines[1].hasPrefix("p0,"))
    let tsv = try root.run("export", "-", "--format", "tsv", "--columns", "barcode,id")
    #expect(tsv.lines[0] == "barcode\tid\r")
    let json = try root.run("export", "-", "--columns", "id,isSaleProduct")
    #expect(json.lines == (0..<3).map { #"{"id":"p\#($0)","isSaleProduct":false}"# })
    let path = root.folder.path + "/few.csv"
    let report = try root.run("export", path, "--columns", "id", "--json").object()
    #expect(report.number("products") == 3 && report.number("relations") == 0)
    for columns in ["nam", "id,id", "", "id,"] {
      let run = try root.run("export", path, "--columns", columns)
      #expect(run.code == 64 && run.words.contains("--columns"), "\(run.words)")
    }
  }

  @Test func `a spreadsheet gets every text as it is`() throws {
    let root = try TestRoot(answers: [])
    let long = String(repeating: "9", count: 300)
    let rows = """
      {"id":"123456789012345678","barcode":"007","name":"=1+1","brand":"@\\"x\\"","unit":"1E5"}
      {"id":"A1","barcode":"","name":"Lamp 2","brand":"2024-12-31","unit":"\(long)","weight":-1.5}
      """
    #expect(try root.run("import", root.folder.file("rows.ndjson", Data(rows.utf8)).path).code == 0)
    let columns = ["--columns", "id,barcode,name,brand,unit,weight", "--excel"]
    let run = try root.run(["export", "-", "--format", "csv"] + columns)
    #expect(run.output.starts(with: [0xEF, 0xBB, 0xBF]))
    #expect(
      run.lines.dropFirst() == [
        #""=""123456789012345678""","=""007""","=""=1+1""","=""@""""x""""""","=""1E5""",0.0"# + "\r",
        #"A1,,Lamp 2,"=""2024-12-31""",'"# + long + ",-1.5\r",
      ], "\(run.text)")
    #expect(try root.run("export", root.folder.path + "/rows.ndjson", "--excel").code == 64)
    #expect(try root.run("export", root.folder.path + "/rows.tsv", "--excel").code == 0)
    let back = try root.run("import", root.folder.path + "/rows.tsv", "--excel", "--delete-missing")
    #expect(back.code == 0 && back.text.hasPrefix("nothing to write"), "\(back.text)\(back.words)")
    // The byte order mark says it too.
    let plain = try root.run("import", root.folder.path + "/rows.tsv", "--delete-missing")
    #expect(plain.code == 0 && plain.text.hasPrefix("nothing to write"), "\(plain.text)\(plain.words)")
    #expect(try root.run("import", root.folder.path + "/rows.ndjson", "--excel").code == 64)
    // Other formulas stay what they are.
    let other = try root.folder.file("other.csv", Data("id,name,brand\n1,\"=\"\"a\"\"&\"\"b\"\"\",'x\n".utf8)).path
    #expect(try root.run("import", other, "--excel").code == 0)
    let product = try root.run("get", "--id", "1", "--json").object()
    #expect(product.text("name") == "=\"a\"&\"b\"" && product.text("brand") == "'x")
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
