import Foundation
import Testing

/// `import` of a person's own files: nothing is lost silently.
@Suite struct ImportCommandTests {
  private func root() throws -> TestRoot {
    let root = try TestRoot(answers: [])
    _ = try root.apply([root.payload(.products(3))])
    return root
  }

  private func file(_ text: String, _ name: String, _ root: TestRoot) throws -> String {
    try root.folder.file(name, Data(text.utf8)).path
  }

  /// `data`, packed by gzip.
  private func packed(_ path: String) throws -> Data { try Fixture.tool("gzip -c \"$1\"", path) }

  @Test func `numbers as ids are taken by their literal text`() throws {
    let root = try root()
    let rows = (101...103).map { "{\"type\":\"product\",\"id\":\($0),\"barcode\":69012345678\($0)}" }
    let run = try root.run("import", file(rows.joined(separator: "\n"), "a.ndjson", root), "--json")
    let report = try run.object()
    #expect(run.code == 0 && report.number("rowsRead") == 3 && report.number("rowsKept") == 3)
    #expect(report.objects("errors").isEmpty && report.object("products").number("upserted") == 3)
    #expect(try root.run("get", "--id", "102", "--json").object().text("barcode") == "69012345678102")
  }

  @Test(arguments: ["ndjson", "csv"]) func `errors name line, column, value and remedy, and nothing changes`(
    format: String
  ) throws {
    let root = try root()
    let before = try root.digest()
    let text =
      format == "csv"
      ? "id,colour,weight\n1,red,\n,,1\n1,,heavy\n"
      : "{\"id\":1,\"colour\":\"red\"}\n{\"weight\":1}\n{\"id\":1,\"weight\":\"heavy\"}\n"
    let path = try file(text, "bad.\(format)", root)
    let run = try root.run("import", path, "--json")
    #expect(run.code == 65)
    let report = try run.object()
    #expect(report.number("rowsRead") == 3 && report.number("rowsKept") == 0 && report.number("errorCount") == 4)
    let errors = report.objects("errors")
    #expect(errors.map { $0.text("column") } == ["colour", "id", "weight", "id"])
    #expect(errors.allSatisfy { $0.sortedKeys == ["column", "line", "message", "value"] })
    #expect(errors.map { $0.number("line") }.suffix(2) == (format == "csv" ? [4, 4] : [3, 3]))
    #expect(errors[2].text("value") == "heavy" && errors[3].text("value") == "1")
    // People read the same.
    #expect(run.words.contains("bad.\(format): Line") && run.words.contains("value \"heavy\""))
    for remedy in [
      "--unknown ignore", "--on-duplicate last", "needs an id", "4 errors in 3 rows", "nothing was changed",
    ] {
      #expect(run.words.contains(remedy), "\(remedy): \(run.words)")
    }
    #expect(try root.digest() == before)
    // What is meant that way.
    let lenient = try root.run(
      "import", file(text.replacingOccurrences(of: "heavy", with: "2"), "b.\(format)", root), "--unknown", "ignore",
      "--on-duplicate", "last")
    #expect(lenient.code == 65 && lenient.words.contains("1 row without an id"))
    let good = try root.run(
      "import",
      file(
        format == "csv"
          ? "id,colour,weight\n1,red,\n1,,2\n" : "{\"id\":1,\"colour\":\"red\"}\n{\"id\":1,\"weight\":\"2\"}\n",
        "c.\(format)", root), "--unknown", "ignore", "--on-duplicate", "last", "--json")
    let accepted = try good.object()
    #expect(good.code == 0 && accepted.number("duplicates") == 1 && accepted.number("rowsKept") == 1)
    #expect(accepted.object("ignored").number("colour") == 1 && good.words.contains("colour 1 ×"))
    #expect(try root.run("get", "--id", "1", "--json").object()["weight"] as? Double == 2)
  }

  @Test func `the first 20 errors are shown, with totals`() throws {
    let root = try root()
    let rows = (1...50).map { "{\"id\":\($0),\"colour\":\"c\"}\n" }.joined()
    let run = try root.run("import", file(rows, "many.ndjson", root))
    let lines = run.words.split(separator: "\n")
    #expect(run.code == 65 && lines.count == 21)
    #expect(lines.last?.contains("50 errors in 50 rows: 50 unknown keys; the first 20 are shown") == true)
  }

  @Test func `a file without rows does not empty a catalogue unless that is asked for`() throws {
    let root = try root()
    let before = try root.digest()
    for (name, text) in [("a.ndjson", "\n"), ("a.csv", "id,name\n")] {
      let run = try root.run("import", file(text, name, root))
      #expect(run.code == 65 && run.words.contains("\(name): there are no rows") && run.words.contains("--accept-loss"))
      #expect(try root.digest() == before)
    }
    #expect(try root.run("import", file("", "a.ndjson", root), "--accept-loss").code == 0)
    #expect(try root.dump().isEmpty)
    // Nothing is lost where nothing is.
    #expect(try root.run("import", file("", "a.ndjson", root)).code == 0)
  }

  @Test func `a row that is too long for the format is told with its line`() throws {
    let root = try root()
    let digits = String(repeating: "1", count: 100_000)
    for name in ["a.ndjson", "a.csv"] {
      let text =
        name == "a.csv"
        ? "id,barcode\n1,2\n2,\(digits)\n3,\(digits)\n"
        : "\n{\"id\":1}\n{\"id\":2,\"barcode\":\"\(digits)\"}\n{\"id\":3,\"barcode\":\"\(digits)\"}\n"
      let run = try root.run("import", file(text, name, root))
      #expect(run.code == 65 && run.words.contains("\(name): Line 3, column barcode, value \"1111"), "\(run.words)")
      #expect(run.words.contains("Line 4") && run.words.contains("2 rows that are too long"))
    }
  }

  @Test func `gzip is told by content, whatever the file is called`() throws {
    let root = try root()
    let before = try root.dump()
    for name in ["rows.ndjson", "rows.csv"] {
      let plain = root.folder.path + "/" + name
      #expect(try root.run("export", plain).code == 0)
      let disguised = try root.folder.file("packed-\(name)", packed(plain))
      let other = try TestRoot(answers: [])
      #expect(try other.run("import", disguised.path).code == 0)
      #expect(try other.dump() == before)
      // Written packed, and read from a pipe.
      let gz = plain + ".gz"
      #expect(try root.run("export", gz).code == 0)
      let bytes = try Data(contentsOf: URL(fileURLWithPath: gz))
      #expect(bytes.starts(with: [0x1F, 0x8B]))
      let format = name.hasSuffix("csv") ? "csv" : "ndjson"
      #expect(try other.run("import", "-", "--format", format, input: bytes).code == 0)
      #expect(try other.dump() == before)
      // Lines are those of the text; what is cut is refused.
      let cut = try root.folder.file("cut-\(name)", bytes.dropLast(5))
      let refused = try other.run("import", cut.path)
      #expect(refused.code == 65 && refused.words.contains("cut-\(name)"), "\(refused.words)")
      #expect(try other.dump() == before)
    }
    let answer = try root.folder.file("answer.gz", packed(root.payload(.products(5, cursor: "later")).path))
    #expect(try root.run("sync", "--from", answer.path, "--json").object().object("products").number("upserted") == 5)
    #expect(try root.run("apply", "--full", answer.path).lines.last == "committed 3 full later")
  }

  @Test func `a file that unpacks to too much is refused, and the option that is named exists`() throws {
    let root = try root()
    let large = try root.folder.file("large.csv", Data(("id,name\n1," + String(repeating: "a", count: 1 << 20)).utf8))
    let bomb = try root.folder.file("large.csv.gz", packed(large.path))
    #expect(try root.run("import", bomb.path).code == 0)
    let run = try root.run("import", bomb.path, "--max-unpacked", "100000")
    #expect(run.code == 65 && run.words.contains("--max-unpacked"), "\(run.words)")
  }

  @Test func `an empty id of a server's product needs an option on its way back`() throws {
    let root = try TestRoot(answers: [])
    var payload = Payload.products(2)
    payload.product("")
    payload.relation("p0", "")
    payload.relation("p0", "")
    _ = try root.apply([root.payload(payload)])
    for name in ["rows.ndjson", "rows.csv"] {
      let path = root.folder.path + "/" + name
      #expect(try root.run("export", path).code == 0)
      let other = try TestRoot(answers: [])
      let run = try other.run("import", path)
      #expect(run.code == 65 && run.words.contains("--allow-empty-id"), "\(run.words)")
      #expect(try other.run("import", path, "--allow-empty-id").code == 0)
      #expect(try other.dump() == root.dump())
    }
  }

  @Test func `a refused file leaves the note of where the catalogue comes from`() throws {
    let root = try TestRoot()
    let answer = try root.payload(.products(3)).path
    let share = ["--organisation", "o", "--source", "s"]
    #expect(try root.run(["sync", "--user", "a", "--from", answer] + share).code == 0)
    #expect(try root.run("import", "--user", "a", file("{}", "bad.ndjson", root)).code == 65)
    let second = try root.run(["sync", "--user", "b", "--from", answer, "--json"] + share).object()
    #expect(second["adopted"] is [String: Any])
    // A file that is taken does not: nobody can tell whose rows these are.
    #expect(try root.run("import", "--user", "a", file("{\"id\":1}", "good.ndjson", root)).code == 0)
    #expect(try root.run("import", "--user", "b", file("{\"id\":1}", "good.ndjson", root)).code == 0)
    let third = try root.run(["sync", "--user", "c", "--from", answer, "--json"] + share).object()
    #expect(third["adopted"] is NSNull)
  }

  @Test func `a packed file that is cut is told as a file, to programs too`() throws {
    let root = try TestRoot(answers: [])
    let rows = try root.folder.file("rows.ndjson", Data(#"{"id":"a","name":"b"}"#.utf8)).path
    let whole = try Fixture.tool("gzip -c \"$1\"", rows)
    for (bytes, words) in [(whole.dropLast(9), "is not whole"), (whole + Data("x".utf8), "no gzip member follows")] {
      let file = try root.folder.file("cut.ndjson.gz", Data(bytes)).path
      for command in [["import", file], ["sync", "--from", file], ["apply", file]] {
        let run = try root.run(command)
        #expect(run.code == 65 && run.words.contains("The file is gzip"), "\(command): \(run.words)")
        #expect(!run.words.contains("server") && !run.words.contains("transfer"), "\(command): \(run.words)")
      }
      let report = try root.run("import", file, "--json")
      let error = try #require(try report.object().objects("errors").first)
      #expect(report.code == 65 && error.text("message")?.contains(words) == true, "\(error)")
      #expect(error["line"] is NSNull && error["column"] is NSNull && error["value"] is NSNull)
      #expect(try report.object().number("errorCount") == 1)
    }
    let empty = try root.folder.file("empty.ndjson", Data()).path
    _ = try root.apply([root.payload(.products(3))])
    let refused = try root.run("import", empty, "--json")
    #expect(try refused.code == 65 && refused.object().objects("errors").count == 1)
  }

  @Test func `a file is merged: rows are compared, and only differences are written`() throws {
    let root = try TestRoot(answers: [])
    func file(_ name: String, _ text: String) throws -> String { try root.folder.file(name, Data(text.utf8)).path }
    let all = try file("all.csv", "id,barcode,name\n1,111,Lamp\n2,222,Chair\n3,333,Table\n")
    #expect(try root.run("import", all, "--cursor", "2026-01-01 00:00:00").code == 0)
    // Nothing differs: no commit.
    for mode in ["--upsert", "--delete-missing"] {
      let run = try root.run("import", all, mode, "--json")
      let report = try run.object()
      #expect(run.code == 0 && report.number("sequence") == 1 && report.number("unchanged") == 3, "\(run.words)")
      #expect(report.number("added") == 0 && report.number("changed") == 0 && report.number("deleted") == 0)
    }
    let same = try root.run("import", all, "--upsert")
    #expect(same.text == "nothing to write, commit 1 stays: 0 rows added, 0 changed, 3 unchanged, 0 deleted\n")
    let some = try file("some.csv", "id,barcode,name\n2,222,Armchair\n4,444,Sofa\n")
    let dry = try root.run("import", some, "--delete-missing", "--dry-run", "--accept-loss")
    #expect(dry.text.contains("2 would be kept: 1 row added, 1 changed, 0 unchanged, 2 deleted; nothing was changed"))
    #expect(try root.run("log", "--json").lines.count == 1)
    let upsert = try root.run("import", some, "--upsert", "--json").object()
    #expect(upsert.number("added") == 1 && upsert.number("changed") == 1 && upsert.number("sequence") == 2)
    #expect(upsert["cursor"] as? String == "2026-01-01 00:00:00" && upsert["mode"] as? String == "incremental")
    #expect(try root.run("dump", "--products").lines.count == 4)
    let last = try root.run("import", some, "--delete-missing")
    #expect(last.code == 0 && last.text.contains("0 rows added, 0 changed, 2 unchanged, 2 deleted"), "\(last.words)")
    #expect(try root.run("get", "--id", "1").code == 1)
    for options in [["--upsert", "--delete-missing"], ["--upsert", "--replace-damaged"]] {
      #expect(try root.run(["import", some] + options).code == 64)
    }
    // A fault anywhere changes nothing.
    let bad = try file("bad.csv", "id,weight\n7,1\n8,heavy\n")
    #expect(try root.run("import", bad, "--upsert").code == 65)
    #expect(try root.run("get", "--id", "7").code == 1)
  }

  @Test func `unknown columns are kept as extra, shown everywhere, and come back from a file`() throws {
    let root = try TestRoot(answers: [])
    func file(_ name: String, _ text: String) throws -> String { try root.folder.file(name, Data(text.utf8)).path }
    let rows = "id,barcode,name,Shelf,price\n1,4006381333931,Lamp,\"A \"\"7\"\"\",12.50\n2,,Chair,,\n"
    let table = try file("erp.csv", rows)
    let refused = try root.run("import", table)
    #expect(refused.code == 65 && refused.words.contains("--unknown keep"), "\(refused.words)")
    let run = try root.run("import", table, "--unknown", "keep")
    #expect(run.code == 0 && run.words.contains("Shelf → extra.Shelf"), "\(run.words)")
    let extra = #""extra":{"Shelf":"A \"7\"","price":"12.50"}"#
    for words in [["get", "--id", "1", "--json"], ["dump", "--products"], ["scan", "4006381333931", "--json"]] {
      let run = try root.run(words)
      #expect(run.code == 0 && run.text.contains(extra), "\(words): \(run.text)")
    }
    #expect(try root.run("get", "--id", "1").text.contains(#"{"Shelf":"A \"7\"","price":"12.50"}"#))
    #expect(try !root.run("get", "--id", "2", "--json").text.contains("extra"))
    #expect(try !root.run("get", "--id", "2").text.contains("extra"))
    #expect(try root.run("import", table, "--unknown", "keep", "--delete-missing").text.hasPrefix("nothing to write"))
    for format in ["csv", "tsv", "ndjson"] {
      let copy = root.folder.path + "/copy." + format
      #expect(try root.run("export", copy).code == 0)
      let back = try root.run("import", copy, "--delete-missing")
      #expect(back.code == 0 && back.text.hasPrefix("nothing to write"), "\(format): \(back.text)\(back.words)")
      #expect(try root.run("import", copy).code == 0)
      #expect(try root.run("get", "--id", "1", "--json").text.contains(extra))
    }
    let changed = try file("new.csv", "id,barcode,name,Shelf,price\n1,4006381333931,Lamp,A7,12.50\n")
    #expect(try root.run("import", changed, "--unknown", "keep", "--upsert").text.contains("1 changed"))
    #expect(try root.run("get", "--id", "1", "--json").text.contains(#""extra":{"Shelf":"A7","price":"12.50"}"#))
    // Without its fields, a row takes them away, but not in an upsert.
    let plain = try file("plain.csv", "id,barcode,name\n1,4006381333931,Lamp\n")
    #expect(try root.run("import", plain, "--upsert").text.contains("1 unchanged"))
    #expect(try root.run("import", plain, "--delete-missing").text.contains("1 changed"))
    #expect(try !root.run("dump").text.contains("extra"))
    #expect(try root.run("verify").code == 0)
  }

  @Test func `an upsert leaves fields beyond the 25 alone that the row lacks`() throws {
    let root = try TestRoot(answers: [])
    func run(_ text: String, _ options: String...) throws -> (code: Int32, text: String) {
      let path = root.folder.path + "/rows.csv"
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      let result = try root.run(["import", path, "--unknown", "keep"] + options)
      return (result.code, result.text)
    }
    func extra() throws -> NSDictionary? {
      try root.run("get", "--id", "1", "--json").object()["extra"] as? NSDictionary
    }
    #expect(try run("id,name,Lager,Farbe\n1,Bolt,A,rot\n").code == 0)
    #expect(try run("id,Farbe\n1,blau\n", "--upsert").text.contains("1 changed"))
    #expect(try extra() == ["Lager": "A", "Farbe": "blau"])
    #expect(try run("id,Farbe,neu\n1,,x\n", "--upsert").text.contains("1 changed"))
    #expect(try extra() == ["Lager": "A", "Farbe": "blau", "neu": "x"])
    #expect(try run("id,extra\n1,\"{\"\"a\"\":1}\"\n", "--upsert").text.contains("1 changed"))
    #expect(try extra() == ["a": 1])
    let full = String(repeating: "y", count: 65_000)
    #expect(try run("id,big\n1,\(full)\n", "--upsert").code == 0)
    let refused = try run("id,more\n1,\(full)\n", "--upsert")
    #expect(refused.code == 65 && refused.text.isEmpty, "\(refused)")
    #expect(try extra()?.count == 2)
  }

  @Test func `what init and save-map keep is enough to import the file again`() throws {
    let root = try TestRoot(answers: [])
    let path = root.folder.path + "/own.csv"
    let table = #"""
      Art;EAN;Name
      ="007";="4006381333931";Bolt
      ="008";="4006381333948"
      ="008";="4006381333948";Nut

      """#
    try Data(table.utf8).write(to: URL(fileURLWithPath: path))
    let options = ["--column", "id=Art", "--excel", "--uneven-rows", "--on-duplicate", "last"]
    let set = try root.run(["init", "--from", path, "--user", "ana", "--yes", "--scan", "999"] + options)
    // The code is not in the file, and what comes next is said nevertheless.
    #expect(set.code == 1 && set.words.contains("Next:"), "\(set)")
    let map = try #require(set.words.firstMatch(of: /--map (\S+)/)).output.1
    let json = try String(contentsOfFile: String(map), encoding: .utf8)
    for key in [#""excel":true"#, #""unevenRows":true"#, #""onDuplicate":"last""#] {
      #expect(json.contains(key), "\(json)")
    }
    let again = try root.run("import", "--user", "ana", "--map", String(map), "--delete-missing", path)
    #expect(again.code == 0 && again.text.contains("2 unchanged"), "\(again)")
    #expect(try root.run("get", "--user", "ana", "--id", "008", "--json").object()["name"] as? String == "Nut")
  }

  @Test func `an upsert leaves fields alone that the file has no column or key for`() throws {
    let root = try TestRoot(answers: [])
    func file(_ name: String, _ text: String) throws -> String {
      let path = root.folder.path + "/" + name
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      return path
    }
    let all = try file(
      "all.csv",
      "id,barcode,name,brand,weight,isSaleProduct,updateTime\n1,4006381333931,Lamp,Lumo,2.5,true,2026-01-01 00:00:00\n")
    #expect(try root.run("import", all).code == 0)
    func product() throws -> [String: Any] { try root.run("get", "--id", "1", "--json").object() }
    let before = try product()
    let weights = try file("weights.csv", "id;Gewicht\n1;7,5\n2;1\n")
    let options = ["--column", "weight=Gewicht", "--decimal", ","]
    #expect(try root.run(["import", weights, "--upsert"] + options).text.contains("1 row added, 1 changed"))
    var expected = before
    expected["weight"] = 7.5
    #expect(try NSDictionary(dictionary: product()) == NSDictionary(dictionary: expected))
    #expect(try root.run(["import", weights, "--upsert"] + options).text.contains("2 unchanged"))
    // A column or key that is there and empty empties the field.
    let rows = try file("rows.ndjson", #"{"id": "1", "brand": "", "isSaleProduct": null}"# + "\n")
    #expect(try root.run("import", rows, "--upsert").text.contains("1 changed"))
    (expected["brand"], expected["isSaleProduct"]) = ("", false)
    #expect(try NSDictionary(dictionary: product()) == NSDictionary(dictionary: expected))
    let empty = try file("empty.csv", "id;Gewicht\n1;\n")
    #expect(try root.run(["import", empty, "--upsert"] + options).text.contains("1 changed"))
    expected["weight"] = 0
    #expect(try NSDictionary(dictionary: product()) == NSDictionary(dictionary: expected))
  }

  @Test(arguments: [[], ["--delete-missing"], ["--dry-run"]])
  func `a file without products does not empty the catalogue`(options: [String]) throws {
    let root = try TestRoot(answers: [])
    func file(_ name: String, _ text: String) throws -> String {
      let path = root.folder.path + "/" + name
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      return path
    }
    let all = try file("all.csv", "id,name\n1,a\n2,b\n3,c\n")
    #expect(try root.run("import", all).code == 0)
    let left = ["--without-id", "ignore", "--unknown", "ignore"]
    let noID = try file("noid.csv", "id,name\n,a\n,b\n")
    let refused = try root.run(["import", noID] + left + options)
    #expect(refused.code == 65 && refused.words.contains("none of its 2 rows is a product"), "\(refused.words)")
    let answer = try file("answer.json", #"{"error": "rate limited"}"#)
    #expect(try root.run(["import", answer] + left + options).code == 65)
    #expect(try root.run("stat", "--json").object().number("products") == 3)
    // A limit that is given counts for a few products too.
    let fewer = try file("fewer.csv", "id,name\n1,a\n2,b\n")
    #expect(try root.run(["import", fewer, "--max-loss", "0.1"] + options).code == 65)
    // The mapping is written last, but whether it can be is known first.
    let map = try root.run(["import", fewer, "--save-map", root.folder.path + "/none/map.json"] + options)
    #expect(map.code == 73, "\(map.words)")
    #expect(try root.run("stat", "--json").object().number("products") == 3)
  }

  @Test func `what cannot be kept is an error with its line`() throws {
    let root = try TestRoot(answers: [])
    let long = String(repeating: "x", count: 65_536)
    let deep = String(repeating: "[", count: 16) + String(repeating: "]", count: 16)
    for (text, message) in [
      (#"{"id":"1","a":""# + long + "\"}", "more than 65536 bytes"),
      (#"{"id":"1","a":"# + deep + "}", "nested more than 16 levels"),
      (#"{"id":"1","a":{"b":1,"b":2}}"#, "\"b\" is there twice"),
      (#"{"id":"1","a":1,"extra":{"a":2}}"#, "\"a\" is there twice"),
      (#"{"type":"relation","productId":"1","subProductId":"2","a":1}"#, "only a product has"),
    ] {
      let file = try root.folder.file("bad.ndjson", Data(("{\"id\":\"0\"}\n" + text).utf8)).path
      let run = try root.run("import", file, "--unknown", "keep")
      #expect(run.code == 65 && run.words.contains("ine 2") && run.words.contains(message), "\(run.words)")
    }
    #expect(try root.run("get", "--id", "0").code == 1)
  }
}
