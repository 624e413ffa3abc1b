import Foundation
import Testing

/// `import` of files with columns, separators and encodings of their own.
@Suite struct MappingCommandTests {
  private func file(_ bytes: Data, _ name: String, _ root: TestRoot) throws -> String {
    try root.folder.file(name, bytes).path
  }

  private func product(_ id: String, _ root: TestRoot) throws -> [String: Any] {
    try root.run("get", "--id", id, "--json").object()
  }

  private static let german = """
    Artikelnummer;EAN;Bezeichnung;Gewicht;Aktiv;Angelegt;Lager
    007;4006381333931;Größe, klein;1.234,5;1;31.12.2024;A
    008;4006381333948;Maß;0,25;0;01.02.2023;B

    """

  private static let options = [
    "--column", "id=Artikelnummer", "--column", "isSaleProduct=Aktiv", "--column", "createTime=Angelegt", "--constant",
    "brand=ACME", "--true", "t,yes,1", "--decimal", ",", "--date", "%d.%m.%Y", "--unknown", "ignore",
  ]

  @Test func `a byte order mark outweighs the encoding that was given, and that is said`() throws {
    let root = try TestRoot(answers: [])
    let path = try file(Data("\u{FEFF}id,name\n1,Größe\n".utf8), "marked.csv", root)
    let run = try root.run("import", path, "--encoding", "WINDOWS-1252")
    #expect(run.code == 0 && run.words.contains("read as UTF-8 (byte order mark); not as WINDOWS-1252"), "\(run.words)")
    #expect(try product("1", root)["name"] as? String == "Größe")
  }

  @Test(arguments: ["utf-8", "windows-1252", "utf-16"]) func `a semicolon file with its own names is imported`(
    encoding: String
  ) throws {
    let root = try TestRoot(answers: [])
    let data = try #require(
      Self.german.data(
        using: encoding == "utf-8" ? .utf8 : encoding == "utf-16" ? .utf16LittleEndian : .windowsCP1252))
    let path = try file(data, "erp.csv", root)
    let map = root.folder.path + "/map.json"
    let run = try root.run(["import", path, "--json", "--save-map", map] + Self.options)
    #expect(run.code == 0, "\(run.words)")
    #expect(try run.object().number("rowsKept") == 2)
    #expect(run.words.contains("EAN → barcode (by its common name)") && run.words.contains("Lager → not used"))
    let row = try product("007", root)
    #expect(row["barcode"] as? String == "4006381333931" && row["name"] as? String == "Größe, klein")
    #expect(row["weight"] as? Double == 1234.5 && row["isSaleProduct"] as? Bool == true)
    #expect(row["brand"] as? String == "ACME" && row["createTime"] as? String == "2024-12-31 00:00:00")
    #expect(row["skuCode"] as? String == "007")
    // The saved mapping gives the same rows.
    let other = try TestRoot(answers: [])
    let again = try other.run("import", path, "--map", map, "--unknown", "ignore")
    #expect(again.code == 0, "\(again.words)")
    #expect(try other.dump() == root.dump())
  }

  @Test(arguments: ["rows.csv", "rows.ndjson"])
  func `a constant goes before a column of the field's name`(name: String) throws {
    let root = try TestRoot(answers: [])
    let rows =
      name == "rows.csv"
      ? "id,name,marke\n1,a,x\n2,b,y\n"
      : #"{"id":"1","name":"a","marke":"x"}"# + "\n" + #"{"id":"2","name":"b","marke":"y"}"# + "\n"
    let path = try file(Data(rows.utf8), name, root)
    let run = try root.run("import", path, "--constant", "name=ACME", "--constant", "brand=B", "--unknown", "ignore")
    #expect(run.code == 0, "\(run.words)")
    for id in ["1", "2"] {
      let row = try product(id, root)
      #expect(row["name"] as? String == "ACME" && row["brand"] as? String == "B", "\(run.words)")
    }
  }

  @Test(arguments: ["UTF-8", "WINDOWS-1252", "UTF-16LE"])
  func `a mapping in reverse writes the file of the other program`(
    encoding: String
  ) throws {
    let root = try TestRoot(answers: [])
    let path = try file(Data(Self.german.utf8), "erp.csv", root)
    let map = root.folder.path + "/map.json"
    let keep = Self.options.map { $0 == "ignore" ? "keep" : $0 }
    #expect(try root.run(["import", path, "--save-map", map] + keep).code == 0)
    let table = root.folder.path + "/out.csv"
    let run = try root.run("export", table, "--map", map, "--encoding", encoding, "--json")
    #expect(run.code == 0, "\(run.words)")
    let data = try Data(contentsOf: URL(filePath: table))
    let swift: String.Encoding =
      encoding == "UTF-8" ? .utf8 : encoding == "UTF-16LE" ? .utf16LittleEndian : .windowsCP1252
    let text = try #require(String(data: data, encoding: swift))
    #expect(
      text == """
        EAN;Angelegt;Artikelnummer;Aktiv;Bezeichnung;Gewicht;Lager\r
        4006381333931;31.12.2024;007;t;Größe, klein;1234,5;A\r
        4006381333948;01.02.2023;008;f;Maß;0,25;B\r

        """)
    let other = try TestRoot(answers: [])
    let again = try other.run("import", table, "--map", map, "--encoding", encoding)
    #expect(again.code == 0, "\(again.words)")
    #expect(try other.dump() == root.dump())
  }

  @Test func `a key that no row has is told, and refused where another one may be meant`() throws {
    let root = try TestRoot()
    let rows = try file(Data(#"{"id":"1","title":"Mug"}"#.utf8), "rows.ndjson", root)
    for more in [["--dry-run"], []] {
      let absent = try root.run(
        ["import", rows, "--user", "u", "--column", "name=colour", "--unknown", "ignore"] + more)
      #expect(absent.code == 0 && absent.words.contains("no row has colour, so name is empty"), "\(absent.words)")
      let typo = try root.run(["import", rows, "--user", "u", "--column", "name=titel", "--unknown", "ignore"] + more)
      #expect(typo.code == 65 && typo.words.contains("is \"title\" meant?"), "\(typo.words)")
    }
  }

  @Test func `a flat file of another program is read without quotes, and by its format`() throws {
    let root = try TestRoot(answers: [])
    let text = "item-name\tseller-sku\tproduct-id\tdeleted\n\"Blue\" 12\" mug\tM-1\t4006381333931\tfalse\n"
    let path = try file(Data(text.utf8), "listing.txt", root)
    let map = root.folder.path + "/map.json"
    let options = ["--column", "id=seller-sku", "--column", "name=item-name", "--column", "barcode=product-id"]
    let blind = try root.run(["import", path] + options)
    #expect(blind.code == 65 && blind.words.contains("closing quotes"), "\(blind.words)")
    let quoted = try root.run(["import", path, "--format", "tsv"] + options)
    #expect(quoted.code == 65 && quoted.words.contains("closing quotes"), "\(quoted.words)")
    let run = try root.run(["import", path, "--format", "tsv", "--no-quotes", "--save-map", map] + options)
    #expect(run.code == 0, "\(run.words)")
    #expect(try root.run("import", path, "--map", map, "--delete-missing").code == 0)
    #expect(try product("M-1", root)["name"] as? String == "\"Blue\" 12\" mug")
    #expect(try product("M-1", root)["delFlag"] as? Int == 0)
  }

  @Test(arguments: [Data([0xFF, 0xFE]), Data()]) func `a text file of a spreadsheet is a table`(mark: Data) throws {
    let text = "id\tean\tBezeichnung\tVerkauf\n007\t4006381333931\tGröße, klein\tWAHR\n008\t-\tN/A\tFALSCH\n"
    let bytes = mark + Data(text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] })
    for name in ["sheet.txt", "sheet", "sheet.csv", "sheet.json"] {
      let root = try TestRoot(answers: [])
      let path = try file(bytes, name, root)
      let map = root.folder.path + "/map.json"
      let options = ["--column", "isSaleProduct=Verkauf", "--null", "-,N/A", "--save-map", map]
      let run = try root.run(["import", path] + options)
      #expect(run.code == 0 && run.words.contains("ean → barcode (by its common name)"), "\(name): \(run.words)")
      #expect(try product("007", root)["isSaleProduct"] as? Bool == true)
      #expect(try product("008", root)["barcode"] as? String == "" && product("008", root)["name"] as? String == "")
      #expect(
        try root.run("import", path, "--map", map, "--delete-missing", "--json").object().number("unchanged") == 2)
    }
  }

  @Test func `ids with blanks are counted, and the remedy removes them`() throws {
    let root = try TestRoot(answers: [])
    let path = try file(Data("id,name\n\u{3000}A,1\nB\u{200B},2\nC,3\n".utf8), "rows.csv", root)
    let run = try root.run("import", path, "--json")
    #expect(try run.code == 0 && run.object().number("paddedIds") == 2, "\(run.words)")
    let remedy = try #require(run.words.firstMatch(of: /as in (\{.*\})/)).output.1
    let map = try file(Data(remedy.utf8), "map.json", root)
    let trimmed = try root.run("import", path, "--json", "--map", map)
    #expect(try trimmed.code == 0 && trimmed.object().number("paddedIds") == 0, "\(trimmed.words)")
    #expect(try root.run("get", "--id", "A").code == 0 && root.run("get", "--id", "B").code == 0)
  }

  @Test func `a small packed file of empty lines ends soon`() throws {
    let root = try TestRoot(answers: [])
    for name in ["bomb.csv", "bomb.ndjson", "bomb.txt"] {
      let path = try file(Data(repeating: 0x0A, count: 64 << 20), name, root)
      let run = try root.run("import", path, "--json")
      #expect(run.code == 65 && run.words.contains("1000000 empty lines"), "\(run.words)")
    }
  }

  @Test func `the line with the names of the columns need not be the first`() throws {
    let root = try TestRoot(answers: [])
    let path = try file(Data("Price list 2026;;\n;;\nid;ean;title\nP-1;4006381333931;Pen\n".utf8), "list.csv", root)
    let map = root.folder.path + "/map.json"
    let blind = try root.run("import", path)
    #expect(blind.code == 65 && blind.words.contains("--skip-lines 1"), "\(blind.words)")
    let run = try root.run("import", path, "--skip-lines", "2", "--save-map", map)
    #expect(run.code == 0, "\(run.words)")
    #expect(try String(contentsOfFile: map, encoding: .utf8).contains(#""skipLines":2"#))
    #expect(try root.run("import", path, "--map", map, "--delete-missing").code == 0)
    #expect(try product("P-1", root)["barcode"] as? String == "4006381333931")
    let bad = try root.run("import", path, "--skip-lines", "-1")
    #expect(bad.code == 64, "\(bad.words)")
    let rows = try file(Data(#"{"products": [{"id": "1"}]}"#.utf8), "rows.json", root)
    let lines = try root.run("import", rows, "--skip-lines", "1")
    #expect(lines.code == 65 && lines.words.contains("leave --skip-lines out"), "\(lines.words)")
    let nested = try root.run("import", rows)
    #expect(nested.code == 65 && nested.words.contains("jq '.products'"), "\(nested.words)")
  }

  @Test func `what a mapping in reverse cannot write is said`() throws {
    let root = try TestRoot(answers: [])
    let rows = try file(Data("id,name\n1,品\n".utf8), "rows.csv", root)
    #expect(try root.run("import", rows).code == 0)
    let map = try file(
      Data(#"{"fields": {"name": {"columns": ["make", "model"], "join": " "}, "id": "Nr"}}"#.utf8), "map.json", root)
    let table = root.folder.path + "/out.csv"
    let joined = try root.run("export", table, "--map", map)
    #expect(joined.code == 64 && joined.words.contains("joins name from the columns make, model"), "\(joined.words)")
    let ids = try root.run("export", "-", "--map", map, "--columns", "id").output
    #expect(String(decoding: ids, as: UTF8.self) == "Nr\r\n1\r\n")
    let narrow = try root.run("export", table, "--encoding", "WINDOWS-1252")
    #expect(narrow.code == 65 && narrow.words.contains("Line 2: WINDOWS-1252 has no character \"品\" (U+54C1)"))
    let unknown = try root.run("export", table, "--encoding", "klingon")
    #expect(unknown.code == 64 && unknown.words.contains("knows no encoding \"klingon\""))
    #expect(!FileManager.default.fileExists(atPath: table))
    let lines = try root.run("export", root.folder.path + "/out.ndjson", "--column", "id=Nr")
    #expect(lines.code == 64 && lines.words.contains("a mapping writes tables"), "\(lines.words)")
    #expect(try root.run("export", table, "--save-map", "x").code == 64)
  }

  @Test func `a mapping joins columns, tries them in order, and takes a part of a text`() throws {
    let root = try TestRoot(answers: [])
    let map = try file(
      Data(
        #"""
        {"fields": {"name": {"columns": ["make", "model"], "join": " ", "steps": ["trim", "upper"]},
         "barcode": ["gtin", "upc"], "unit": {"columns": ["size"], "steps": [{"capture": "[0-9]+ ?([a-z]+)"}]},
         "orgId": {"constant": "o1"}}, "unknown": "ignore"}
        """#.utf8), "map.json", root)
    let rows = [
      ("rows.tsv", "id\tmake\tmodel\tgtin\tupc\tsize\n1\tacme \tx1 \t\t012345678905\t4 oz\n"),
      ("rows.ndjson", #"{"id":1,"make":"acme ","model":"x1 ","gtin":null,"upc":"012345678905","size":"4 oz"}"#),
      (
        "rows.json",
        "[\n {\"id\": 1, \"make\": \"acme \", \"model\": \"x1 \",\n  \"upc\": \"012345678905\", \"size\": \"4 oz\"}\n]\n"
      ),
    ]
    for (name, text) in rows {
      let run = try root.run("import", file(Data(text.utf8), name, root), "--map", map)
      #expect(run.code == 0, "\(name): \(run.words)")
      let row = try product("1", root)
      #expect(row["name"] as? String == "ACME  X1" && row["barcode"] as? String == "012345678905", "\(name)")
      #expect(row["unit"] as? String == "oz" && row["orgId"] as? String == "o1", "\(name)")
    }
  }

  @Test(arguments: [
    #"{"fields": {"name": {"columns": "n", "steps": [{"capture": "(["}]}}}"#,
    #"{"fields": {"name": {"columns": "n", "steps": "trim"}}}"#,
  ])
  func `a mapping that cannot be used is refused as a whole`(map: String) throws {
    let root = try TestRoot(answers: [])
    let path = try file(Data("id,n\n1,a\n".utf8), "rows.csv", root)
    let run = try root.run("import", path, "--map", file(Data(map.utf8), "map.json", root))
    #expect(run.code == 64 && run.words.contains("map.json: "), "\(run.words)")
  }

  @Test func `a mapping is saved when the file was taken`() throws {
    let root = try TestRoot(answers: [])
    let map = root.folder.path + "/saved.json"
    let bad = try file(Data("id,weight\n1,x\n".utf8), "bad.csv", root)
    for options in [[], ["--dry-run"], ["--upsert"]] {
      #expect(try root.run(["import", bad, "--save-map", map] + options).code == 65)
      #expect(!FileManager.default.fileExists(atPath: map))
    }
    let good = try file(Data("id,weight\n1,2\n".utf8), "good.csv", root)
    let dry = try root.run("import", good, "--save-map", map, "--dry-run", "--json")
    #expect(dry.code == 0 && FileManager.default.fileExists(atPath: map))
    #expect(try dry.object().objects("sample").first?.text("id") == "1")
  }

  @Test func `a saved mapping recognises no more columns than the one that it came from`() throws {
    let root = try TestRoot(answers: [])
    let rows = try file(Data("Nr,name\n1,drill\n".utf8), "rows.csv", root)
    let more = try file(Data("Nr,name,ean\n2,saw,4006381333931\n".utf8), "more.csv", root)
    let first = try file(Data(#"{"automatic": false, "fields": {"id": "Nr"}}"#.utf8), "first.json", root)
    let saved = root.folder.path + "/saved.json"
    #expect(try root.run("import", rows, "--map", first, "--save-map", saved).code == 0)
    let run = try root.run("import", more, "--map", saved, "--unknown", "ignore")
    #expect(run.code == 0, "\(run.words)")
    #expect(try product("2", root)["name"] as? String == "saw")
    #expect(try product("2", root)["barcode"] as? String != "4006381333931")
  }

  @Test func `a dry run shows products, and changes nothing`() throws {
    let root = try TestRoot(answers: [])
    let path = try file(Data("sku,product_name\nA1,Lamp\n".utf8), "shop.csv", root)
    let run = try root.run("import", path, "--dry-run", "--column", "id=sku")
    #expect(run.code == 0, "\(run.words)")
    #expect(
      run.lines.first?.contains("\"name\":\"Lamp\"") == true && run.lines.first?.contains("\"id\":\"A1\"") == true)
    #expect(run.lines.last?.contains("1 row read, 1 would be kept; nothing was changed") == true)
    #expect(try root.dump().isEmpty)
    let bad = try root.run("import", path, "--dry-run")
    #expect(bad.code == 65 && bad.words.contains("--column \"id=sku\""), "\(bad.words)")
  }

  @Test func `zstd is told by content`() throws {
    let root = try TestRoot(answers: [])
    // The bytes of "id,name\n1,abc\n", packed by zstd.
    let packed: [UInt8] = [
      0x28, 0xB5, 0x2F, 0xFD, 0x24, 0x0E, 0x71, 0, 0, 0x69, 0x64, 0x2C, 0x6E, 0x61, 0x6D, 0x65, 0x0A, 0x31, 0x2C, 0x61,
      0x62, 0x63, 0x0A, 0x1D, 0x31, 0x7F, 0x7D,
    ]
    #expect(try root.run("import", file(Data(packed), "rows.csv.zst", root)).code == 0)
    #expect(try product("1", root)["name"] as? String == "abc")
    let run = try root.run("import", file(Data(packed.dropLast(3)), "cut.csv", root))
    #expect(run.code == 65 && run.words.contains("cut.csv: the file is zstd and is not whole"), "\(run.words)")
  }

  @Test func `hostile files give clear errors`() throws {
    let root = try TestRoot(answers: [])
    let columns = (0..<10_000).map { "c\($0)" }.joined(separator: ",")
    let cases: [(Data, String)] = [
      (Data(repeating: 0x22, count: 1 << 20 | 1), "inside of the quotes"),
      (Data("id,na\0me\n1,a\n".utf8), "zero byte"),
      (Data((columns + "\n").utf8), "10000 columns, and at most 4096"),
      (
        try #require("id,name\n1,abc\n".data(using: .utf16LittleEndian)).dropLast(),
        "ends inside a character of UTF-16LE"
      ),
      (Data("[{\"id\":1},".utf8), "the array does not end"),
      (Data("[{\"id\":1} {\"id\":2}]".utf8), "not followed by a comma"),
    ]
    for (bytes, words) in cases {
      let name = bytes.first == UInt8(ascii: "[") ? "bad.json" : "bad.csv"
      let run = try root.run("import", file(bytes, name, root))
      #expect(run.code == 65 && run.words.contains(words) && run.words.contains(name), "\(words): \(run.words)")
    }
    // Nothing that has no end is waited for.
    let endless = try root.run("import", "/dev/zero")
    #expect(endless.code == 66 && endless.words.contains("is a device"), "\(endless.words)")
    #expect(try root.dump().isEmpty)
  }

  @Test func `options that make no sense are refused`() throws {
    let root = try TestRoot(answers: [])
    let path = try file(Data("id,ean\n1,2\n".utf8), "a.csv", root)
    for (options, words) in [
      (["--column", "barcod=ean"], "is barcode meant?"), (["--decimal", ";"], "decimal separator"),
      (["--date", "%Q"], "form of dates"), (["--encoding", "klingon"], "iconv --list"),
      (["--delimiter", "ab"], "one ASCII character"),
    ] {
      let run = try root.run(["import", path] + options)
      #expect(run.code == 64 && run.words.contains(words), "\(options): \(run.words)")
    }
    let run = try root.run("import", path, "--column", "name=eam")
    #expect(run.code == 65 && run.words.contains("is \"ean\" meant?"), "\(run.words)")
  }
}
