import Foundation
import Testing

/// What `import` and `init` say of barcodes, which rows they take, and how a price list finds its products.
@Suite struct BarcodeCommandTests {
  private static let codes = """
    id,EAN
    1,4006381333931
    2,036000291452
    3,36000291452
    4,"4,00638E+12"
    5,4006381333931.0
    6,'4006381333931
    7,#N/A
    8,4006381333931;4006381333948
    9,4006381333932
    10,ABC-1
    11,
    12,https://id.gs1.org/01/04006381333931

    """

  private func file(_ text: String, _ name: String, _ root: TestRoot) throws -> String {
    try root.folder.file(name, Data(text.utf8)).path
  }

  private func counts(_ run: ProgramRun) throws -> [String: Int] {
    try #require(run.object()["barcodes"] as? [String: Int])
  }

  @Test func `an import and its rehearsal count barcodes, and say what mends them`() throws {
    let root = try TestRoot(answers: [])
    let path = try file(Self.codes, "b.csv", root)
    let expected = [
      "sound": 2, "lostZero": 1, "exponent": 1, "decorated": 3, "several": 1, "wrongCheckDigit": 1, "text": 2,
      "none": 1,
    ]
    for options in [["--dry-run", "--json"], ["--json"]] {
      let run = try root.run(["import", path] + options)
      let found = try counts(run)
      #expect(run.code == 0 && found == expected, "\(run.words)")
      #expect(run.words.contains("line 4") && run.words.contains("the step gtin"), "\(run.words)")
      #expect(run.words.contains("1 barcode that no scan can find: a web address (first on line 13:"), "\(run.words)")
      #expect(try run.object().number("unscannable") == 1)
    }
    // The rule that is shown is a rule.
    let words = try root.run("import", path, "--dry-run").words
    let rule = try #require(words.firstMatch(of: /"barcode": (\{.*\})/)).1
    let codes = try #require(words.firstMatch(of: /"codes": (\[.*\])/)).1
    let map = try file("{\"fields\":{\"barcode\":\(rule)},\"codes\":\(codes)}", "map.json", root)
    let run = try root.run("import", path, "--map", map, "--json")
    let mended = try counts(run)
    #expect(mended["sound"] == 6 && mended["lostZero"] == 0 && mended["decorated"] == 0 && mended["several"] == 0)
    let written = try run.object()["codes"] as? [String: Int]
    #expect(written?["written"] == 1, "\(run.words)")
    #expect(try root.run("scan", "0036000291452").code == 0)
    // What was saved is the same mapping.
    let saved = root.folder.path + "/saved.json"
    #expect(try root.run("import", path, "--map", map, "--save-map", saved).code == 0)
    let before = try root.digest()
    #expect(try root.run("import", path, "--map", saved).code == 0)
    #expect(try root.digest() == before)
  }

  @Test func `the setup proves its scan with what a scanner sends`() throws {
    for (codes, sent) in [
      ("ABC-1\n036000291452\n", "0036000291452"), ("96385074\n", "96385074"), ("04006381333931\n", "4006381333931"),
      ("10012345678902\n", "10012345678902"),
    ] {
      let root = try TestRoot(answers: [])
      let rows = codes.split(separator: "\n").enumerated().map { "\($0),\($1)\n" }.joined()
      let run = try root.run("init", "--from", file("id,EAN\n" + rows, "a.csv", root), "--user", "ana", "--yes")
      #expect(run.code == 0 && run.text.contains(sent), "\(sent): \(run.text)")
    }
    for (code, words) in [
      ("36000291452", "no barcode is a sound GTIN"), ("ABC-1", "this is the text of a cell"),
      ("4.00638E+12", "no barcode is a sound GTIN"), ("", "no product has a barcode"),
    ] {
      let root = try TestRoot(answers: [])
      let run = try root.run("init", "--from", file("id,EAN\n1,\(code)\n", "a.csv", root), "--user", "ana", "--yes")
      #expect(run.code == 0 && run.words.contains(words), "\(code): \(run.words)")
      #expect(run.words.contains("catalogd"), "\(run.words)")
    }
  }

  private static let shop =
    "Handle,Title,Variant SKU,Variant Price,Variant Barcode,Image Src\n"
    + (0..<3).map { "shirt,Shirt \($0),S-\($0),19.99,'400638133393\($0 == 1 ? "1" : "2"),a.jpg\n" }.joined()
    + (0..<22).map { "shirt,,,,,\($0).jpg\n" }.joined()

  @Test func `rows of a shop that are no products are left out by a condition`() throws {
    let root = try TestRoot(answers: [])
    let path = try file(Self.shop, "shop.csv", root)
    let condition = "{\"rows\":\"'Variant Price' != ''\",\"unknown\":\"ignore\",\"fields\":{\"id\":\"Variant SKU\"}}"
    let map = try file(condition, "map.json", root)
    let run = try root.run("init", "--from", path, "--map", map, "--user", "ana", "--yes")
    #expect(run.code == 0 && run.words.contains("22 rows left out") && run.words.contains("catalogd"), "\(run.words)")
    let own = try #require(run.words.firstMatch(of: /--sync-map-file (\S+mapping\.json)/)).1
    let again = try root.run("import", path, "--map", String(own), "--delete-missing", "--json")
    let report = try again.object()
    #expect(report.number("rowsLeftOut") == 22 && report.number("unchanged") == 3, "\(again.words)")
    // A condition that nothing meets changes nothing, however often the loss is accepted.
    let none = try file(condition.replacing("!= ''", with: "== 'x'"), "none.json", root)
    let before = try root.digest()
    for options in [[], ["--accept-loss"], ["--upsert"], ["--dry-run"]] {
      let run = try root.run(["import", path, "--map", none, "--json"] + options)
      #expect(
        run.code == 65 && run.words.contains("none of its 25 rows is a product to take: 25 did not meet the condition"),
        "\(run.words)")
      #expect(try run.object().number("rowsKept") == 0 && run.object().number("errorCount") == 1)
    }
    #expect(try root.digest() == before)
    let mistake = try file(condition.replacing("!= ''", with: "!="), "mistake.json", root)
    let refused = try root.run("import", path, "--map", mistake)
    #expect(refused.code == 64 && refused.words.contains("mistake.json: rows: column 19: "), "\(refused.words)")
    let unknown = try file(condition.replacing("Price", with: "Prize"), "unknown.json", root)
    let named = try root.run("import", path, "--map", unknown)
    #expect(named.code == 65 && named.words.contains("is \"Variant Price\" meant?"), "\(named.words)")
    #expect(named.words.contains("Handle, Title, Variant SKU"), "\(named.words)")
    // A table of products has no such column.
    let export = try root.run("export", root.folder.path + "/out.csv", "--map", map)
    #expect(export.code != 0 && export.words.contains("rows"), "\(export.words)")
  }

  @Test func `a price list finds products by their barcodes, and adds none`() throws {
    let root = try TestRoot(answers: [])
    let all = """
      id,barcode,name,weight,brand
      A,4006381333931,Pen,1,Stabilo
      B,036000291452,Tissues,1,Kleenex
      C,ABC-1,Own,1,
      D,4006381333948,Twin,1,
      E,04006381333948,Twin,1,
      F,96385074,Small,1,

      """
    #expect(try root.run("import", file(all, "all.csv", root)).code == 0)
    let prices = """
      EAN,weight
      04006381333931,2
      36000291452,2.5
      abc-1,3
      4006381333948,4
      4006381333955,5
      ,6
      00000096385074,7

      """
    let path = try file(prices, "prices.csv", root)
    let rehearsal = try root.run("import", path, "--upsert", "--match", "barcode", "--dry-run", "--json")
    let run = try root.run("import", path, "--upsert", "--match", "barcode", "--json")
    for run in [rehearsal, run] {
      let report = try run.object()
      #expect(run.code == 0 && report.number("rowsRead") == 7 && report.number("rowsKept") == 4, "\(run.words)")
      #expect(report.number("changed") == 4 && report.number("added") == 0)
      #expect(report.number("unknownCodes") == 1 && report.number("ambiguousCodes") == 1)
      #expect(report.number("withoutCode") == 1)
      #expect(run.words.contains("4006381333948: the products D, E"), "\(run.words)")
      #expect(run.words.contains("4006381333955"), "\(run.words)")
    }
    // Only what the list has is changed.
    let pen = try root.run("get", "--id", "A", "--json").object()
    #expect(pen.text("barcode") == "4006381333931" && pen.text("name") == "Pen" && pen.text("brand") == "Stabilo")
    #expect(pen["weight"] as? Double == 2)
    for (id, weight) in [("B", 2.5), ("C", 3), ("D", 1), ("E", 1), ("F", 7)] {
      #expect(try root.run("get", "--id", id, "--json").object()["weight"] as? Double == weight, "\(id)")
    }
    #expect(try root.run("get", "--id", "B", "--json").object().text("barcode") == "036000291452")
    let again = try root.run("import", path, "--upsert", "--match", "barcode")
    #expect(again.code == 0 && again.text.contains("nothing to write") && again.words.contains("1 row left out"))
    // The same fields as with ids: an empty cell is a value, a column that is not there is none.
    let empty = try file("EAN,brand\n4006381333931,\n", "empty.csv", root)
    #expect(try root.run("import", empty, "--upsert", "--match", "barcode").code == 0)
    let other = try file("id,brand\nB,\n", "other.csv", root)
    #expect(try root.run("import", other, "--upsert").code == 0)
    #expect(try root.run("get", "--id", "A", "--json").object().text("brand") == "")
    #expect(try root.run("get", "--id", "B", "--json").object().text("brand") == "")
    // An id of the list is not that of the catalogue.
    let own = try file("id,EAN,name\nX,4006381333931,Biro\n", "own.csv", root)
    let used = try root.run("import", own, "--upsert", "--match", "barcode")
    #expect(used.code == 0 && used.words.contains("the ids of the column id are not used"), "\(used.words)")
    #expect(try root.run("get", "--id", "A", "--json").object().text("name") == "Biro")
    #expect(try root.run("get", "--id", "X").code == 1)
  }

  @Test func `a price list finds short codes, counts each row once, and shows ids`() throws {
    let root = try TestRoot(answers: [])
    let all = "id,barcode\nA,00959742\nB,96385074\nC,0\nD,4011\n"
    #expect(try root.run("import", file(all, "all.csv", root)).code == 0)
    let path = try file("EAN,weight\n959742,2\n0096385074,3\n04011,4\n,1\n12345,1\n", "p.csv", root)
    let rehearsal = try root.run("import", path, "--upsert", "--match", "barcode", "--dry-run", "--json")
    let sample = try #require(rehearsal.object()["sample"] as? [[String: Any]])
    #expect(sample.map { $0["id"] as? String }.prefix(2) == ["A", "B"], "\(rehearsal.text)")
    let run = try root.run("import", path, "--upsert", "--match", "barcode", "--json")
    #expect(try counts(run).values.reduce(0, +) == 5 && counts(run)["none"] == 1, "\(run.text)")
    for (id, weight) in [("A", 2.0), ("B", 3), ("C", 0)] {
      #expect(try root.run("get", "--id", id, "--json").object()["weight"] as? Double == weight, "\(id)")
    }
  }

  @Test func `warnings have the first row, and what is advised works`() throws {
    let root = try TestRoot(answers: [])
    let padded = try file("Artikelnr.;EAN\n1;4006381333931\n 2 ;\n", "pad.csv", root)
    let run = try root.run("import", padded, "--column", "id=Artikelnr.", "--json")
    let warning = try #require((run.object()["warnings"] as? [[String: Any]])?.first)
    #expect(warning["line"] as? Int == 3 && warning["column"] as? String == "Artikelnr.", "\(warning)")
    #expect(warning["rows"] as? Int == 1 && warning["value"] as? String == " 2 ", "\(warning)")
    let message = try #require(warning["message"] as? String)
    let advice = try #require(message.firstIndex(of: "{"))
    let trimmed = try root.run("import", padded, "--map", file(String(message[advice...]), "pad.json", root), "--json")
    #expect(trimmed.code == 0, "\(trimmed.words)")
    #expect(try trimmed.object().number("paddedIds") == 0 && root.run("get", "--id", "2").code == 0)

    let prices = try file("id;Variant Price\n1;9\n2;$12.50\n3;12\n", "prices.csv", root)
    let map = try file(#"{"rows": "'Variant Price' > 10"}"#, "rows.json", root)
    let some = try root.run("import", prices, "--map", map, "--accept-loss")
    #expect(some.code == 0 && some.words.contains("1 row has a text where the condition"), "\(some.words)")
    #expect(some.words.contains("line 3, column Variant Price, value \"$12.50\""), "\(some.words)")

    let cells = try file("id,EAN\n1,4006381333931/4006381333948\n2,AB/12\n", "cells.csv", root)
    let slash = try root.run("import", cells, "--accept-loss")
    #expect(slash.words.contains("split \"/\" would also cut AB/12"), "\(slash.words)")
    #expect(!slash.words.contains("in the fields of a mapping"), "\(slash.words)")

    let odoo = try file(#"[{"id":7,"barcode":false,"name":"Marker"}]"#, "odoo.json", root)
    #expect(try root.run("import", odoo, "--accept-loss").words.contains("--null false"))
    #expect(try root.run("import", odoo, "--accept-loss", "--null", "false").code == 0)
    let dash = try file("id,weight\n7,-\n", "dash.csv", root)
    #expect(try root.run("import", dash).words.contains("--null='-'"))
    #expect(try root.run("import", dash, "--null=-").code == 0)
    #expect(try root.run("import", dash, "--null", "-").code == 0)
  }

  @Test func `a price list that fits nothing is refused`() throws {
    let root = try TestRoot(answers: [])
    #expect(try root.run("import", file("id,barcode\nA,4006381333931\n", "all.csv", root)).code == 0)
    let before = try root.digest()
    for (text, words) in [
      ("EAN,weight\n4006381333948,1\n", "1 had a barcode that no product has"),
      ("EAN,weight\n,1\n", "1 had no barcode"),
      ("name,weight\nx,1\n", "--column barcode="),
      ("EAN,weight\n4006381333931,1\n04006381333931,2\n", "line 2 has this barcode too"),
      ("EAN,weight\n4006381333931,heavy\n", "not a number"),
    ] {
      let run = try root.run("import", file(text, "p.csv", root), "--upsert", "--match", "barcode", "--json")
      #expect(run.code == 65 && run.words.contains(words), "\(run.words)")
      #expect(try run.object().number("rowsKept") == 0)
    }
    let path = try file("EAN,weight\n4006381333931,1\n", "p.csv", root)
    for options in [
      ["--match", "barcode"], ["--delete-missing", "--match", "barcode"], ["--upsert", "--match", "name"],
    ] {
      let run = try root.run(["import", path] + options)
      #expect(run.code == 64, "\(run.words)")
    }
    #expect(try root.digest() == before)
  }
}
