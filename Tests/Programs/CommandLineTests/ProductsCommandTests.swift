import Foundation
import Testing

/// `products`: conditions, orders, columns, counts and groups over the products of the catalogue.
@Suite struct ProductsCommandTests {
  /// A root where `u` is signed in and has five products; `e` was sent as deleted.
  private func root() throws -> TestRoot {
    let root = try TestRoot(answers: [])
    var payload = Payload()
    payload.product(
      "a", #""barcode":"6901","name":"Lamp, \"red\"","brand":"GREE","weight":11.5,"isSaleProduct":true"#)
    payload.product("b", #""barcode":"6902","name":"lamp shade","brand":"GREE","weight":0.25,"isSaleProduct":true"#)
    payload.product("c", #""barcode":"6902","name":"空调","weight":40,"groupNum":12"#)
    payload.product("d", #""barcode":"","name":"Fan","brand":"格力""#)
    payload.product(
      "e", #""barcode":"6905","name":"Old lamp","brand":"GREE","weight":12,"isSaleProduct":true,"delFlag":1"#)
    _ = try root.apply([root.payload(payload)])
    return root
  }

  private func ids(_ root: TestRoot, _ options: String...) throws -> String {
    let run = try root.run(["products", "--json", "--columns", "id"] + options)
    #expect(run.code == (run.output.isEmpty ? 1 : 0) && run.words.isEmpty, "\(options): \(run.words)")
    return try run.objects().map { "\($0["id"] ?? "")" }.joined()
  }

  @Test func `products are found by a condition, ordered and limited`() throws {
    let root = try root()
    #expect(try ids(root) == "abcde")
    #expect(try ids(root, "--where", "weight > 10 && isSaleProduct") == "ae")
    #expect(try ids(root, "--where", "weight > 10 && isSaleProduct && delFlag == 0") == "a")
    #expect(try ids(root, "--where", "!isSaleProduct") == "cd")
    #expect(try ids(root, "--where", "name like '%LAMP%' nocase", "--order", "-weight") == "eab")
    #expect(try ids(root, "--order", "brand, weight desc") == "ceabd" && ids(root, "--order=-brand,id") == "dabec")
    #expect(try ids(root, "--where", "barcode == '6902'", "--order", "name desc", "--limit", "1") == "c")
    #expect(try ids(root, "--where", "id in ['e', 'b', 'x']") == "be")
    #expect(try ids(root, "--limit", "2", "--offset", "1") == "bc")
    #expect(try ids(root, "--order", "id desc", "--offset", "3", "--limit", "9223372036854775807") == "ba")
    #expect(try ids(root, "--where", "weight > 100") == "")
    #expect(try ids(root, "--offset", "9223372036854775807") == "")
    // All fields, as 'find' and 'get' print them.
    let run = try root.run("products", "--where", "id == 'a'", "--json")
    #expect(try run.lines == root.run("get", "--id", "a", "--json").lines)
    #expect(try run.object().sortedKeys == Contract.productKeys)
  }

  @Test func `columns are chosen and ordered, in JSON, CSV and tables`() throws {
    let root = try root()
    let sold = ["products", "--where", "isSaleProduct", "--columns", "weight, name,isSaleProduct"]
    #expect(
      try root.run(sold + ["--json"]).lines == [
        #"{"weight":11.5,"name":"Lamp, \"red\"","isSaleProduct":true}"#,
        #"{"weight":0.25,"name":"lamp shade","isSaleProduct":true}"#,
        #"{"weight":12.0,"name":"Old lamp","isSaleProduct":true}"#,
      ])
    #expect(
      try root.run(sold + ["--csv"]).text
        == "weight,name,isSaleProduct\r\n11.5,\"Lamp, \"\"red\"\"\",true\r\n0.25,lamp shade,true\r\n12.0,Old lamp,true\r\n"
    )
    let table = try root.run(sold)
    #expect(table.code == 0 && table.words.isEmpty)
    #expect(
      table.lines == [
        "weight  name                isSaleProduct", "  11.5  Lamp, \"red\"         true",
        "  0.25  lamp shade          true", "  12.0  [deleted] Old lamp  true",
      ], "\(table.text)")
    // Without columns: the table of 'find', and every field in CSV.
    let usual = try root.run("products", "--where", "name contains 'lamp'")
    #expect(usual.lines.count == 3 && usual.text.contains("[deleted] Old lamp") && usual.lines[0].hasPrefix("ID"))
    let csv = try root.run("products", "--csv")
    #expect(csv.lines[0] == Contract.productKeys.joined(separator: ",") + "\r" && csv.lines.count == 6)
    #expect(try root.run("products", "--columns", "weight", "--where", "id == 'e'").lines[1].contains("[deleted] 12.0"))
  }

  @Test func `CSV of products is imported again`() throws {
    let root = try root()
    let csv = try root.run("products", "--csv", "--where", "delFlag == 0")
    let other = try TestRoot(answers: [])
    #expect(try other.run("import", "-", "--format", "csv", input: csv.output).code == 0)
    let kept = try root.run("products", "--json", "--where", "delFlag == 0").lines
    #expect(try kept.count == 4 && other.run("products", "--json", "--order", "id").lines == kept)
  }

  @Test func `a count prints the number and nothing else`() throws {
    let root = try root()
    #expect(try root.run("products", "--count").text == "5\n")
    #expect(try root.run("products", "--count", "--where", "isSaleProduct").text == "3\n")
    #expect(try root.run("products", "--count", "--where", "isSaleProduct", "--json").text == "{\"count\":3}\n")
    #expect(try root.run("products", "--count", "--where", "isSaleProduct", "--csv").text == "count\r\n3\r\n")
    #expect(try root.run("products", "--count", "--limit", "2", "--order", "name").text == "2\n")
    let none = try root.run("products", "--count", "--where", "weight > 100", "--json")
    #expect(none.code == 0 && none.text == "{\"count\":0}\n" && none.words.isEmpty)
    let null = try root.run("products", "--count", "--where", "brand is null")
    #expect(null.code == 0 && null.text == "0\n" && null.words.contains("compare with ''"))
    let sums = try root.run("products", "--sum", "weight", "--max", "name", "--where", "weight > 100", "--json")
    #expect(sums.code == 0 && sums.lines == [#"{"count":0,"sum":{"weight":0},"max":{"name":null}}"#], "\(sums.text)")
  }

  @Test func `groups have counts and sums, and can be ordered by them`() throws {
    let root = try root()
    #expect(
      try root.run("products", "--group-by", "brand", "--count", "--json").lines == [
        #"{"group":{"brand":""},"count":1}"#, #"{"group":{"brand":"GREE"},"count":3}"#,
        #"{"group":{"brand":"格力"},"count":1}"#,
      ])
    let groups = try root.run(
      "products", "--group-by", "brand,isSaleProduct", "--sum", "weight,groupNum", "--min", "name", "--max", "weight",
      "--avg", "weight", "--order", "-count, brand", "--json")
    #expect(
      groups.lines == [
        #"{"group":{"brand":"GREE","isSaleProduct":true},"count":3,"sum":{"weight":23.75,"groupNum":3}"#
          + #","min":{"name":"Lamp, \"red\""},"max":{"weight":12.0},"avg":{"weight":7.916666666666667}}"#,
        #"{"group":{"brand":"","isSaleProduct":false},"count":1,"sum":{"weight":40.0,"groupNum":12}"#
          + #","min":{"name":"空调"},"max":{"weight":40.0},"avg":{"weight":40.0}}"#,
        #"{"group":{"brand":"格力","isSaleProduct":false},"count":1,"sum":{"weight":0.0,"groupNum":1}"#
          + #","min":{"name":"Fan"},"max":{"weight":0.0},"avg":{"weight":0.0}}"#,
      ], "\(groups.text)\(groups.words)")
    let csv = try root.run(
      "products", "--group-by", "brand", "--sum", "weight", "--order", "sum(weight) desc", "--limit", "2", "--offset",
      "1",
      "--columns", "sum(weight),brand", "--csv")
    #expect(csv.text == "sum(weight),brand\r\n23.75,GREE\r\n0.0,格力\r\n", "\(csv.text)\(csv.words)")
    let table = try root.run("products", "--group-by", "brand", "--where", "brand != ''")
    #expect(table.lines == ["brand  count", "GREE       3", "格力       1"], "\(table.text)")
    // Over all products.
    #expect(
      try root.run("products", "--max", "weight", "--where", "isSaleProduct", "--json").lines == [
        #"{"count":3,"max":{"weight":12.0}}"#
      ])
    let none = try root.run("products", "--group-by", "brand", "--where", "weight > 100", "--json")
    #expect(none.code == 1 && none.output.isEmpty && none.words.isEmpty)
    #expect(try root.run("products", "--group-by", "brand", "--offset", "9").code == 1)
  }

  @Test func `a query explains how it finds products`() throws {
    let root = try root()
    func plan(_ condition: String, _ options: String...) throws -> [String: Any] {
      try root.run(["products", "--explain", "--json", "--where", condition] + options).object()
    }
    let scan = try plan("weight > 10")
    #expect(scan.sortedKeys == ["indexes", "keys", "plan", "productsFound", "productsRead", "scan"])
    #expect(scan.text("plan") == "scan all products" && scan["scan"] as? Bool == true && scan["keys"] is NSNull)
    #expect(scan.number("productsRead") == 5 && scan.number("productsFound") == 3)
    #expect(try plan("weight > 10", "--limit", "1").number("productsRead") == 1)
    let lookup = try plan("weight > 10 && barcode in ['6901', '6902']")
    #expect(lookup.text("plan") == "index on barcode (2 keys)" && lookup["scan"] as? Bool == false)
    #expect(lookup.number("keys") == 2 && lookup["indexes"] as? [String] == ["barcode"])
    #expect(lookup.number("productsRead") == 3 && lookup.number("productsFound") == 2)
    let words = try root.run("products", "--explain", "--where", "id == 'a'")
    #expect(words.lines == ["index on id (1 key)", "1 product read, 1 found"])
    #expect(try root.run("products", "--explain", "--where", "id == 'x'").code == 1)
  }

  @Test func `a mistake in an expression is shown where it stands`() throws {
    let root = try root()
    let mistakes: [(options: [String], column: Int, message: String)] = [
      (["--where", "wieght > 10"], 1, "did you mean 'weight'?"),
      (["--where", "weight == 'x'"], 11, "weight is a number"),
      (["--where", "isSaleProduct && weight"], 18, "as in weight > 0"), (["--where", "weight > "], 10, "a value"),
      (["--where", ""], 1, "a field"), (["--where", "name == '空' && nmae == 'x'"], 16, "did you mean 'name'?"),
      (["--order", "name, wieght desc"], 7, "did you mean 'weight'?"), (["--order", "name,"], 6, "a field"),
      (["--columns", "id, nmae"], 5, "did you mean 'name'?"), (["--columns", "id,,name"], 4, "a field"),
      (["--columns", "id,id"], 4, "id is in the list twice"), (["--group-by", "brnd"], 1, "did you mean 'brand'?"),
      (["--sum", "wieght"], 1, "did you mean 'weight'?"), (["--min", ""], 1, "a field"),
      (["--group-by", "brand", "--order", "count, weight"], 8, "they have brand, count"),
    ]
    for (options, column, message) in mistakes {
      let run = try root.run(["products"] + options)
      #expect(run.code == 64 && run.output.isEmpty && run.isOrderly, "\(options)")
      let lines = run.words.split(separator: "\n", omittingEmptySubsequences: false)
      let (option, text) = (options[options.count - 2], options[options.count - 1])
      #expect(lines[0].hasPrefix("catalogctl: \(option): column \(column):"), "\(options): \(run.words)")
      #expect(lines[0].contains(message), "\(options): \(run.words)")
      #expect(lines[1] == "  " + text)
      let wide = text.unicodeScalars.prefix(column - 1).count { $0.value > 0x2000 }
      #expect(lines[2] == String(repeating: " ", count: 2 + column - 1 + wide) + "^", "\(options): \(run.words)")
    }
    let others: [([String], String)] = [
      (["--sum", "name"], "name is not a number"), (["--avg", "isSaleProduct"], "is not a number"),
      (["--group-by", "brand", "--columns", "id"], "they have brand, count"),
      (["--group-by", "brand", "--columns", "brand,brand"], "twice"),
      (["--sum", "weight", "--sum", "weight"], "twice"),
      (["--csv", "--json"], "one of them"), (["--explain", "--csv"], "--explain"),
      (["--explain", "--count"], "--count"),
      (["--explain", "--group-by", "brand"], "--explain"), (["--count", "--columns", "id"], "--columns"),
      (["--limit", "-1"], "--limit"), (["--offset", "-1"], "--offset"), (["--limit", "x"], "--limit"),
      (["--at", "x"], "--at"), (["weight > 1"], "weight > 1"),
    ]
    for (options, message) in others {
      let run = try root.run(["products"] + options)
      #expect(
        run.code == 64 && run.output.isEmpty && run.isOrderly && run.words.contains(message), "\(options): \(run.words)"
      )
    }
  }

  @Test func `hostile expressions are refused in a few words`() throws {
    let root = try root()
    let long = String(repeating: "a", count: 100_000)
    let hostile = [
      String(repeating: "(", count: 100_000), String(repeating: "!", count: 100_000), "name == '\u{1B}[2J\u{202E}",
      long,
      "\(long) == 1", "weight == '\(long)'", "name in [\(String(repeating: "1,", count: 10_000))1]", "\\",
      "\u{202E} == 1",
      "a\u{1B}[31m == 1", "weight == 1e999999 &&", String(repeating: "weight>1&&", count: 5000) + "wieght",
    ]
    for text in hostile {
      for option in ["--where", "--order", "--columns", "--group-by", "--sum"] {
        let run = try root.run("products", option, text)
        #expect(run.code == 64 && run.isOrderly && run.output.isEmpty, "\(option) \(text.prefix(30))")
        #expect(run.words.utf8.count < 4000 && !run.words.contains("\u{1B}") && !run.words.contains("\u{202E}"))
      }
    }
    let many = String(repeating: "weight > 1 && ", count: 5000) + "isSaleProduct"
    #expect(try ids(root, "--where", many) == "ae")
    #expect(try ids(root, "--where", "id in ['a'" + String(repeating: ", 'x'", count: 10_000) + "]") == "a")
  }

  @Test func `null is found nowhere, and the message says why`() throws {
    let root = try root()
    let run = try root.run("products", "--where", "brand is null")
    #expect(run.code == 1 && run.output.isEmpty && run.words.contains("none is null: compare with '' or 0"))
    #expect(try root.run("products", "--where", "brand is null", "--json").words.isEmpty)
    let other = try root.run("products", "--where", "weight > 100")
    #expect(other.code == 1 && other.words == "catalogctl: no product meets that\n")
    let past = try root.run("products", "--where", "isSaleProduct", "--offset", "3")
    #expect(past.code == 1 && past.words == "catalogctl: no product meets that after the first 3\n")
  }

  @Test func `an earlier commit is read with --at`() throws {
    let root = try root()
    var later = Payload(cursor: "later")
    later.product("a", #""barcode":"6901","name":"Torch","delFlag":0"#)
    _ = try root.apply([root.payload(later, "later.json")])
    #expect(try ids(root, "--where", "name hasprefix 'Lamp'") == "")
    #expect(try ids(root, "--where", "name hasprefix 'Lamp'", "--at", "1") == "a")
    let missing = try root.run("products", "--at", "9")
    #expect(missing.code == 1 && missing.words.contains("commit 9 is not kept"))
  }

  @Test func `the help says what the language is, and what happens to deleted products`() throws {
    let help = try TestRoot().run("products", "--help").text.replacing(/\s+/, with: " ")
    for words in [
      "a field alone", "sent as deleted are listed too", "delFlag == 0 leaves them out", "in the order of the file",
      "isSaleProduct", "--group-by",
    ] {
      #expect(help.contains(words), "\(words)")
    }
    let documents = try TestRoot().run("documents", "query", "--help").text.replacing(/\s+/, with: " ")
    #expect(documents.contains("a field alone means == true"))
  }
}
