import Foundation
import Testing

/// Further codes from a person's own data: the recipes of Documentation/FurtherCodes.md, and what an import does with codes.
@Suite struct FurtherCodeCommandTests {
  private struct Recipe {
    var title: String
    var files: [(name: String, text: String)] = []
    var commands: [String] = []
  }

  /// The recipes of the page. A paragraph that ends in a file's name in backticks and a colon names the text after it.
  private static func recipes() throws -> [Recipe] {
    var folder = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { folder.deleteLastPathComponent() }
    let page = try String(contentsOf: folder.appending(path: "Documentation/FurtherCodes.md"), encoding: .utf8)
    var recipes: [Recipe] = []
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("## ") { recipes.append(Recipe(title: String(line.dropFirst(3)))) }
      guard !recipes.isEmpty else { continue }
      let last = recipes.count - 1
      if line.hasPrefix("    ") {
        let text = String(line.dropFirst(4))
        if text.hasPrefix("catalogctl ") {
          recipes[last].commands.append(text)
        } else if !recipes[last].files.isEmpty {
          recipes[last].files[recipes[last].files.count - 1].text += text + "\n"
        }
      } else if let name = line.wholeMatch(of: /(?:.*\s)?`([a-z_]+\.[a-z]+)`(?:, .*)?:/)?.1 {
        recipes[last].files.append((String(name), ""))
      }
    }
    return recipes.filter { !$0.commands.isEmpty && !$0.files.isEmpty }
  }

  private func run(_ command: String, in folder: Folder, _ root: TestRoot) throws -> ProgramRun {
    let script = #"cd "$2" && catalogctl() { "$PROGRAM" "$@"; } && eval "$3""#
    return try root.run([folder.path, command], shell: script, variables: ["PROGRAM": Program.path])
  }

  @Test func `every recipe takes its files, and a scan of the case finds the product`() throws {
    let recipes = try Self.recipes()
    #expect(recipes.count == 8, "\(recipes.map(\.title))")
    for recipe in recipes where !recipe.title.contains("PostgreSQL") {
      let root = try TestRoot(answers: [])
      for (name, text) in recipe.files { _ = try root.folder.file(name, Data(text.utf8)) }
      #expect(recipe.commands.count == 2 && !recipe.files.isEmpty, "\(recipe.title)")
      for command in recipe.commands {
        let run = try run(command, in: root.folder, root)
        #expect(run.code == 0, "\(recipe.title): \(run.words)")
      }
      let scan = try root.run("scan", "14006381333938", "--json").object()
      let package = scan["package"] as? [String: Any]
      #expect(package?.text("code") == "14006381333938", "\(recipe.title): \(scan)")
      let quantity = ["Odoo: product.barcode.multi", "ERPNext: Item Barcode as CSV"].contains(recipe.title) ? 1 : 24
      #expect(package?.number("quantity") == quantity, "\(recipe.title)")
    }
  }

  @Test func `a case that an ERPNext in PostgreSQL has is 24 pieces`() throws {
    guard DatabaseServer.programs != nil else { return print("skipped: PostgreSQL is not installed") }
    let server = try DatabaseServer(
      """
      CREATE TABLE "tabItem"(item_code text, item_name text);
      INSERT INTO "tabItem" VALUES ('MARKER', 'Marker, black'), ('PAPER', 'Paper');
      CREATE TABLE "tabItem Barcode"(name text, parent text, barcode text, barcode_type text, uom text);
      INSERT INTO "tabItem Barcode" VALUES ('a', 'MARKER', '4006381333931', 'EAN', 'Nos'),
        ('b', 'MARKER', '14006381333938', 'EAN', 'Box'), ('c', 'GONE', '4006381333948', 'EAN', 'Nos'),
        ('d', 'PAPER', NULL, NULL, NULL);
      CREATE TABLE "tabUOM Conversion Detail"(parent text, uom text, conversion_factor numeric(12, 6));
      INSERT INTO "tabUOM Conversion Detail" VALUES ('MARKER', 'Nos', 1), ('MARKER', 'Box', 24);
      """)
    let root = try TestRoot(answers: [])
    let recipe = try #require(try Self.recipes().first { $0.title.contains("PostgreSQL") })
    for (name, text) in recipe.files { _ = try root.folder.file(name, Data(text.utf8)) }
    let command = try #require(recipe.commands.first).replacing(
      "postgresql://reader@db/erpnext", with: "'\(server.url)'")
    for _ in 0..<2 {
      let imported = try run(command + " --json", in: root.folder, root)
      #expect(imported.code == 0, "\(imported.words)")
      let codes = try imported.object().object("codes")
      #expect(codes.number("written") == 2 && codes.number("ignored") == 1, "\(codes)")
      #expect(imported.words.contains("GONE"), "\(imported.words)")
    }
    let package = try root.run("scan", "14006381333938", "--json").object().object("package")
    #expect(package.number("quantity") == 24 && package.text("unit") == "Box" && package.text("kind") == "EAN")
    // The same statement as an option, joined by another field.
    let option = try root.run(
      "import", server.url, "--products", "SELECT item_code AS id, item_code AS \"skuCode\" FROM \"tabItem\"",
      "--codes",
      "SELECT parent AS sku, barcode FROM \"tabItem Barcode\" WHERE parent = 'MARKER'", "--join", "skuCode", "--json",
      "--delete-missing")
    #expect(option.code == 0, "\(option.words)")
    #expect(try root.run("dump").objects().count { $0.text("type") == "code" } == 2)
    let missing = try root.run(
      "import", server.url, "--products", "SELECT item_code AS id FROM \"tabItem\"", "--codes",
      "SELECT uom FROM \"tabItem Barcode\"")
    #expect(
      missing.code == 64 && missing.words.contains("the statement of --codes returns no column"), "\(missing.words)")
  }

  // MARK: Effects

  private static let products = "id,EAN,EAN 2\n7,4006381333931,4006381333948\n8,4006381333955,\n"

  private func file(_ text: String, _ name: String, _ root: TestRoot) throws -> String {
    try root.folder.file(name, Data(text.utf8)).path
  }

  private func codes(_ root: TestRoot) throws -> [String] {
    try root.run("dump").objects().filter { $0.text("type") == "code" }
      .map { "\($0.text("productId") ?? "") \($0.text("code") ?? "") \($0["quantity"] ?? "")" }
  }

  @Test func `codes are replaced, merged and left alone as the source speaks of them`() throws {
    let root = try TestRoot(answers: [])
    let map = try file(#"{"codes": [{"columns": ["EAN 2"]}]}"#, "map.json", root)
    let first = try root.run("import", file(Self.products, "a.csv", root), "--map", map, "--json")
    #expect(first.code == 0, "\(first.words)")
    #expect(try first.object().object("codes").number("written") == 1)
    #expect(try codes(root) == ["7 4006381333948 1"])
    // A source that says nothing of codes leaves them alone, and one that does says all of them.
    let silent = try root.run("import", file("id,name\n7,Marker\n8,Paper\n", "b.csv", root), "--upsert", "--json")
    #expect(try silent.code == 0 && silent.object()["codes"] == nil)
    #expect(try codes(root) == ["7 4006381333948 1"])
    let none = "id,EAN,EAN 2\n8,4006381333955,4006381333962\n7,4006381333931,\n"
    let merged = try root.run("import", file(none, "c.csv", root), "--map", map, "--delete-missing", "--json")
    #expect(merged.code == 0, "\(merged.words)")
    #expect(try codes(root) == ["8 4006381333962 1"])
    let same = try root.run("import", file(none, "c.csv", root), "--map", map, "--delete-missing", "--json").object()
    #expect(same.number("added") == 0 && same.number("changed") == 0 && same.number("deleted") == 0)
    // A table of codes alone, with codes of products that are not in the file.
    let table = try file("sku,code,quantity\nA,14006381333938,24\nB,1,1\n", "codes.csv", root)
    let joined = try root.run(
      "import", file("id,sku\n7,A\n", "d.csv", root), "--upsert", "--codes", table, "--join", "skuCode", "--json")
    #expect(joined.code == 0, "\(joined.words)")
    #expect(try joined.object().object("codes").number("ignored") == 1)
    #expect(joined.words.contains("the first: the code 1 of B"), "\(joined.words)")
    #expect(try codes(root) == ["7 14006381333938 24", "8 4006381333962 1"])
  }

  @Test func `a rehearsal says how many codes there are, and refusals name the table`() throws {
    let root = try TestRoot(answers: [])
    let products = try file(Self.products, "a.csv", root)
    let table = try file("productId,code,quantity\n7,111,2\n9,222,1\n", "codes.csv", root)
    let dry = try root.run("import", products, "--unknown", "ignore", "--codes", table, "--dry-run")
    #expect(dry.code == 0 && dry.text.contains("1 further code"), "\(dry.text) \(dry.words)")
    #expect(dry.words.contains("1 code left out: no product has the id"), "\(dry.words)")
    let bad = try file("productId,code,quantity\n7,111,two\n", "bad.csv", root)
    for options in [["--dry-run"], []] {
      let refused = try root.run(["import", products, "--unknown", "ignore", "--codes", bad] + options)
      #expect(
        refused.code == 65 && refused.words.contains("bad.csv: Line 2, column 3 (quantity), value \"two\""),
        "\(refused.words)")
    }
    #expect(try root.run("import", products, "--join", "name").code == 64)
    #expect(try root.run("import", products, "--join", "id").code == 64)
    #expect(try root.run("import", products, "--codes", "/nowhere/codes.csv").code == 66)
    #expect(try root.run("import", products, "--upsert", "--match", "barcode", "--codes", table).code == 64)
    let ambiguous = try file("sku,code\nA,1\n", "sku.csv", root)
    let two = try root.run(
      "import", file("id,sku\n1,A\n2,A\n", "two.csv", root), "--codes", ambiguous, "--join", "skuCode")
    #expect(two.code == 65 && two.words.contains("several products have the skuCode"), "\(two.words)")
  }

  @Test(arguments: ["ndjson", "csv", "tsv"]) func `an export with codes is imported as it was`(format: String) throws {
    let root = try TestRoot(answers: [])
    let rows = """
      {"type":"product","id":"7","barcode":"4006381333931","extra":{"a":"b"}}
      {"type":"product","id":"8","barcode":"1"}
      {"type":"relation","id":"r","productId":"7","subProductId":"8","groupNum":2}
      {"type":"code","id":"c","productId":"7","code":"14006381333938","quantity":24.5,"unit":"case","kind":"k"}
      {"type":"code","productId":"gone","code":"=1+1"}

      """
    #expect(try root.run("import", file(rows, "a.ndjson", root)).code == 0)
    let digest = try root.digest()
    let path = root.folder.path + "/out.\(format)"
    let exported = try root.run("export", path, "--json")
    #expect(try exported.code == 0 && exported.object().number("codes") == 2, "\(exported.words)")
    let other = try TestRoot(answers: [])
    let imported = try other.run("import", path)
    #expect(imported.code == 0, "\(imported.words)")
    #expect(try other.digest() == digest)
    let mapped = try root.run("export", root.folder.path + "/mapped.csv", "--column", "barcode=EAN")
    #expect(mapped.code == 0 && mapped.words.contains("2 codes left out"), "\(mapped.words)")
  }

  @Test(arguments: ["csv", "tsv", "ndjson"])
  func `codes in a file of their own are imported as they were`(format: String) throws {
    let root = try TestRoot(answers: [])
    let rows = """
      {"type":"product","id":"7","barcode":"4006381333931","weight":1.5}
      {"type":"code","id":"c","productId":"7","code":"14006381333938","quantity":24.5,"unit":"ca,se","kind":"k"}
      {"type":"code","productId":"7","code":"=1+1"}

      """
    #expect(try root.run("import", file(rows, "a.ndjson", root)).code == 0)
    let digest = try root.digest()
    let map = try file(#"{"decimal": ",", "delimiter": ";"}"#, "map.json", root)
    let (products, codes) = (root.folder.path + "/products.csv", root.folder.path + "/codes.\(format)")
    for options in [[], ["--map", map]] {
      let exported = try root.run(["export", products, "--codes", codes, "--json"] + options)
      #expect(exported.code == 0, "\(exported.words)")
      #expect(try exported.object().number("codes") == 2)
      #expect(!exported.words.contains("left out"), "\(exported.words)")
      let other = try TestRoot(answers: [])
      let imported = try other.run(["import", products, "--codes", codes] + options)
      #expect(imported.code == 0, "\(imported.words)")
      #expect(try other.digest() == digest, "\(options)")
    }
    #expect(try root.run("export", products, "--codes", root.folder.path + "/codes.xlsx").code == 64)
  }

  @Test func `a code with two quantities is refused with both, whatever it comes from`() throws {
    let root = try TestRoot(answers: [])
    let products = try file("id,Case,size\n7,4006381333948,24\n", "a.csv", root)
    let map = try file(
      #"{"codes": [{"column": "Case", "quantity": {"column": "size"}}]}"#, "map.json", root)
    let table = try file("productId,code,quantity\n7,4006381333948,6\n", "codes.csv", root)
    for options in [["--dry-run"], ["--json"]] {
      let refused = try root.run(["import", products, "--map", map, "--codes", table] + options)
      #expect(refused.code == 65, "\(refused.words)")
      #expect(
        refused.words.contains(
          "codes.csv: Line 2, column 2 (code), value \"4006381333948\": of the file with the products, line 2 has this"
            + " code of the same product with the quantity 24, and here it is 6"), "\(refused.words)")
      #expect(refused.words.contains("1 code that is ambiguous"), "\(refused.words)")
      if options == ["--json"] {
        let error = try #require(try refused.object().objects("errors").first)
        #expect(error.text("file")?.hasSuffix("codes.csv") == true && error.number("line") == 2)
      }
    }
  }

  @Test func `damaged codes of a table are counted, and the mapping that mends them does`() throws {
    let root = try TestRoot(answers: [])
    let products = try file("id\n7\n8\n", "a.csv", root)
    let text = "productId,code,unit\n7,4.00638E+12,\n8,36000291452,\n8,4006381333955|4006381333962,St\u{FC}ck\n"
    let table = root.folder.path + "/codes.csv"
    try text.data(using: .isoLatin1)?.write(to: URL(fileURLWithPath: table))
    let run = try root.run("import", products, "--codes", table, "--json")
    #expect(run.code == 0, "\(run.words)")
    let counts = try run.object().object("codeTexts")
    for state in ["exponent", "lostZero", "several"] { #expect(counts.number(state) == 1, "\(state): \(counts)") }
    #expect(run.words.contains("codes.csv: read as WINDOWS-1252"), "\(run.words)")
    let json = try #require(run.words.firstMatch(of: /for this table: (\{.*\})/)).1
    let mended = try root.run("import", products, "--codes", table, "--map", file(String(json), "m.json", root))
    #expect(mended.code == 0, "\(mended.words)")
    let found = try codes(root)
    #expect(found.contains { $0.hasSuffix("036000291452 1") } && found.count == 4, "\(found)")
  }

  @Test func `an empty table of codes takes none away unless that is accepted`() throws {
    let root = try TestRoot(answers: [])
    let products = try file("id\n7\n", "a.csv", root)
    let table = try file("productId,code\n7,111\n", "codes.csv", root)
    #expect(try root.run("import", products, "--codes", table).code == 0)
    let empty = try file("productId,code\n", "empty.csv", root)
    for options in [["--dry-run"], ["--delete-missing"], []] {
      let refused = try root.run(["import", products, "--codes", empty] + options)
      #expect(refused.code == 65 && refused.words.contains("there are no codes in it"), "\(refused.words)")
    }
    let none = try root.run("import", products, "--codes", file("", "none.csv", root))
    #expect(none.code == 65 && none.words.contains("names of the columns are missing"), "\(none.words)")
    let accepted = try root.run("import", products, "--codes", empty, "--accept-loss")
    #expect(accepted.code == 0 && accepted.words.contains("there are no rows in it"), "\(accepted.words)")
    #expect(try codes(root).isEmpty)
  }

  @Test func `orphans of a full import are reported, and changes of codes are counted by themselves`() throws {
    let root = try TestRoot(answers: [])
    let rows = """
      {"type":"product","id":"7"}
      {"type":"relation","id":"r","productId":"gone","subProductId":"7"}
      {"type":"code","productId":"7","code":"111"}
      {"type":"code","productId":"gone","code":"222"}

      """
    let run = try root.run("import", file(rows, "a.ndjson", root), "--json")
    let report = try run.object()
    #expect(report.object("codes").number("orphans") == 1 && report.object("relations").number("orphans") == 1)
    #expect(run.words.contains("222 of gone") && run.words.contains("r of gone"), "\(run.words)")
    let next = "{\"id\":\"7\"}\n{\"type\":\"code\",\"productId\":\"7\",\"code\":\"333\"}\n"
    let merged = try root.run("import", file(next, "b.ndjson", root), "--upsert", "--json").object()
    #expect(merged.number("unchanged") == 1 && merged.number("added") == 0 && merged.number("deleted") == 0)
    let changes = merged.object("codeChanges")
    #expect(changes.number("added") == 1 && changes.number("deleted") == 1, "\(changes)")
  }

  @Test func `the mapping that a refused export of packagings names takes it`() throws {
    let recipe = try #require(try Self.recipes().first { $0.title.contains("packagings") })
    let odoo = try #require(recipe.files.first { $0.name == "odoo.csv" })
    let root = try TestRoot(answers: [])
    let export = try file(odoo.text, "odoo.csv", root)
    let refused = try root.run("import", export)
    #expect(refused.code == 65 && refused.words.contains("\"group\": \"id\""), "\(refused.words)")
    let json = try #require(refused.words.firstMatch(of: /all of them: (\{.*\})/)).1
    let run = try root.run("import", export, "--map", file(String(json), "m.json", root))
    #expect(run.code == 0, "\(run.words)")
    #expect(try codes(root) == ["7 14006381333938 24", "7 4006381333955 6"].map { "__export__.product_" + $0 })
  }

  // MARK: init

  @Test func `init proposes columns of codes, and takes them with --yes`() throws {
    let root = try TestRoot()
    let rows =
      "id,EAN,EAN 2,Case EAN,Case size\n7,4006381333931;4006381333948,4006381333955,14006381333938,24\n8,4006381333962,,,\n"
    let run = try root.run("init", "--from", file(rows, "erp.csv", root), "--user", "ana", "--yes")
    #expect(run.code == 0, "\(run.words)")
    for part in [
      #"{"columns":["EAN","EAN 2"],"split":";"}"#,
      #"{"columns":["Case EAN"],"quantity":{"column":"Case size"},"unit":"case"}"#,
    ] {
      #expect(run.words.contains(part), "\(run.words)")
    }
    #expect(try codes(root) == ["7 14006381333938 24", "7 4006381333948 1", "7 4006381333955 1"])
    // The mapping for the daemon and the next import has them.
    let map = try #require(run.words.firstMatch(of: /--sync-map-file (\S+mapping\.json)/)).1
    let next = try root.run("import", root.folder.path + "/erp.csv", "--map", String(map), "--delete-missing", "--json")
    #expect(try next.code == 0 && next.object().number("changed") == 0, "\(next.words)")
  }

  @Test func `init proposes a group where rows of a product are packages`() throws {
    let root = try TestRoot()
    let rows = "id,EAN,qty,uom\n7,4006381333931,1,each\n7,14006381333938,24,case\n"
    let run = try root.run("init", "--from", file(rows, "erp.csv", root), "--user", "ana", "--yes")
    #expect(run.code == 0 && run.words.contains(#"{"group":"id"}"#), "\(run.words)")
    #expect(try codes(root) == ["7 14006381333938 24"])
    // Variants stay an error that says what to do.
    let variants = try TestRoot()
    let refused = try variants.run(
      "init", "--from", file("id,EAN\n7,4006381333931\n7,4006381333948\n", "v.csv", variants), "--user", "ana", "--yes")
    #expect(refused.code == 65 && refused.words.contains("may be variants"), "\(refused.words)")
  }
}
