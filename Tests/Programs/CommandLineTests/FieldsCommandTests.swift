import Foundation
import Testing

/// `fields`, and `extra.NAME` in the other commands.
@Suite(.timeLimit(.minutes(10))) struct FieldsCommandTests {
  private func root() throws -> TestRoot {
    let rows = """
      id,barcode,name,price,color,carton_ean,arrival
      1,4006381333931,Lamp,2.50,red,9300675001007,2026-01-31
      2,6901234567892,Table,10,ultramarine,,soon
      3,036000291452,Chair,0.75,red,,2025-12-24

      """
    let root = try TestRoot(answers: [])
    let file = root.folder.path + "/own.csv"
    try Data(rows.utf8).write(to: URL(filePath: file))
    #expect(try root.run("import", file, "--unknown", "keep").code == 0)
    return root
  }

  private func declare(_ root: TestRoot) throws {
    #expect(try root.run("fields", "set", "price", "--type", "decimal", "--order").code == 0)
    #expect(try root.run("fields", "set", "color", "--search").code == 0)
    let code = try root.run(
      "fields", "set", "carton_ean", "--role", "code", "--quantity", "12", "--unit", "case", "--json")
    #expect(
      code.text == #"{"name":"carton_ean","type":"text","role":"code","quantity":12,"unit":"case","search":false,"#
        + "\"order\":false}\n")
    #expect(code.words.contains("catalogctl compact"))
    #expect(try root.run("fields", "set", "arrival", "--type", "date").code == 0)
  }

  @Test func `a declared code is scanned, and words of a declared field are found, once the catalogue is compacted`()
    throws
  {
    let root = try root()
    try declare(root)
    #expect(try root.run("scan", "9300675001007").code == 1)
    let waiting = try root.run("fields", "list", "--json")
    #expect(waiting.words.contains("carton_ean, color, price"))
    #expect(try waiting.objects().map { $0["indexed"] as? Bool } == [true, false, false, false])
    #expect(try root.run("compact").code == 0)
    let scan = try root.run("scan", "9300675001007", "--json").object()
    let package = scan.object("package")
    #expect(package.text("unit") == "case" && package.text("kind") == "carton_ean" && package["quantity"] as? Int == 12)
    #expect(try root.run("scan", "4006381333931", "--json").object()["package"] is NSNull)
    #expect(try root.run("search", "ultramarine", "--json").object().object("product").text("id") == "2")
    let list = try root.run("fields", "list", "--json").objects()
    #expect(list.map { $0.text("name") } == ["arrival", "carton_ean", "color", "price"])
    #expect(list.map { $0["products"] as? Int } == [2, 1, 3, 3] && list.map { $0["unfit"] as? Int } == [1, 0, 0, 0])
    #expect(try root.run("fields", "list").text.contains("code of 12 (case)"))
    #expect(try root.run("verify").code == 0)
    // The lookups of a written code find what the scan finds; a beginning finds nothing.
    for code in ["9300675001007", "09300675001007"] {
      #expect(try root.run("get", "--barcode", code, "--json").object().text("id") == "1")
      #expect(try root.run("find", "--field", "barcode", code, "--json").object().text("id") == "1")
      #expect(try root.run("search", code, "--json").object().object("product").text("id") == "1")
    }
    #expect(try root.run("search", "93006750").code == 1 && root.run("get", "--barcode", "93006750").code == 1)
    // The words of a field are found by their beginnings.
    let both = ["fields", "set", "carton_ean", "--role", "code", "--quantity", "12", "--unit", "case", "--search"]
    #expect(try root.run(both).code == 0 && root.run("compact").code == 0)
    #expect(try root.run("search", "93006750", "--json").object().object("product").text("id") == "1")
  }

  @Test func `conditions, orders, columns and groups take a field`() throws {
    let root = try root()
    try declare(root)
    func run(_ arguments: String...) throws -> ProgramRun { try root.run(["products"] + arguments) }
    let found = try run(
      "--where", "extra.price > 0.7 && extra.color == \"red\"", "--order", "-extra.price", "--columns",
      "id,extra.price", "--csv")
    #expect(found.text == "id,extra.price\r\n1,2.50\r\n3,0.75\r\n" || found.text == "id,extra.price\n1,2.50\n3,0.75\n")
    #expect(
      try run("--order", "extra.price", "--columns", "id,extra.price", "--json").text
        == "{\"id\":\"3\",\"extra.price\":\"0.75\"}\n{\"id\":\"1\",\"extra.price\":\"2.50\"}\n{\"id\":\"2\",\"extra.price\":\"10\"}\n"
    )
    #expect(try run("--group-by", "extra.color", "--sum", "extra.price", "--json").objects().count == 2)
    #expect(try run("--where", "extra.arrival is null", "--json").objects().map { $0.text("id") } == ["2"])
    let wrong = try run("--where", "extra.prise > 2")
    #expect(wrong.code == 64 && wrong.words.contains("did you mean 'extra.price'?"))
    #expect(try run("--where", "price > 2").words.contains("'extra.price'"))
  }

  @Test func `an export has columns of fields`() throws {
    let root = try root()
    try declare(root)
    let lines = try root.run("export", "-", "--columns", "id,extra.price,name")
    #expect(
      lines.text.split(separator: "\n").first == #"{"id":"1","extra.price":"2.50","name":"Lamp"}"#, "\(lines.text)")
    let products = try root.run("products", "--columns", "id,extra.price,name", "--json")
    #expect(lines.text == products.text)
    for (name, separator) in [("own.csv", ","), ("own.tsv", "\t")] {
      let path = root.folder.path + "/out-" + name
      #expect(try root.run("export", path, "--columns", "extra.arrival,extra.none,id").code == 0)
      let rows = try String(contentsOf: URL(filePath: path), encoding: .utf8).split(whereSeparator: \.isNewline)
      let expected = [["extra.arrival", "extra.none", "id"], ["2026-01-31", "", "1"], ["soon", "", "2"]]
      #expect(rows.prefix(3).map(String.init) == expected.map { $0.joined(separator: separator) }, "\(rows)")
    }
    let sheet = root.folder.path + "/sheet.csv"
    #expect(try root.run("export", sheet, "--excel", "--columns", "extra.carton_ean,weight").code == 0)
    let rows = try String(contentsOf: URL(filePath: sheet), encoding: .utf8)
    #expect(rows.contains(#""=""9300675001007""",0.0"#), "\(rows)")
    let wrong = try root.run("export", "-", "--columns", "id,extra.prise")
    #expect(wrong.code == 64 && wrong.words.contains("did you mean 'extra.price'?"))
    let mapped = try root.run("export", sheet, "--column", "id=Nr", "--columns", "id,extra.price")
    #expect(mapped.code == 64 && mapped.words.contains("leave the mapping out"))
    // Both ways that the message names.
    #expect(try root.run("export", sheet, "--column", "id=Nr").code == 0)
    #expect(try root.run("export", sheet, "--columns", "id,extra.price").code == 0)
  }

  @Test func `what is no declaration is refused, and nothing changes`() throws {
    let root = try root()
    for arguments in [
      ["price", "--type", "money"], ["price", "--quantity", "2"], ["price", "--role", "barcode"],
      ["price", "--role", "code", "--type", "decimal"], ["price", "--type", "int", "--search"],
      ["price", "--role", "code", "--quantity", "-1"], [""],
    ] {
      let run = try root.run(["fields", "set"] + arguments)
      #expect(run.code == 64 && run.output.isEmpty && run.isOrderly, "\(arguments): \(run.words)")
    }
    #expect(try root.run("fields", "list", "--json").output.isEmpty)
    #expect(try root.run("config", "set", "fields", #"{"price": {"ordr": true}}"#).words.contains("is order meant?"))
    #expect(try root.run("config", "set", "fields", #"{"price": {"type": "decimal"}}"#).code == 0)
    #expect(try root.run("fields", "unset", "prise").words.contains("did you mean price?"))
    #expect(try root.run("fields", "unset", "price").code == 0)
    #expect(try root.run("fields", "unset", "price").code == 1)
  }

  @Test func `a declaration that takes the place of another one says so, and what is still to be written`() throws {
    let root = try root()
    func set(_ arguments: String...) throws -> ProgramRun { try root.run(["fields", "set"] + arguments) }
    let first = try set("price", "--type", "decimal", "--order")
    #expect(first.words.contains("catalogctl compact") && !first.words.contains("before it"))
    let again = try set("price", "--type", "decimal", "--order", "--json")
    #expect(again.code == 0 && again.words.contains("nothing changed") && again.words.contains("catalogctl compact"))
    #expect(try root.run("compact").code == 0)
    let built = try set("price", "--type", "decimal", "--order")
    #expect(built.words.contains("has its index already") && !built.words.contains("compact"), "\(built.words)")
    let changed = try set("price", "--type", "int", "--json")
    #expect(changed.words.contains("price is declared as int; before it was decimal, ordered"), "\(changed.words)")
    #expect(!changed.words.contains("index"), "\(changed.words)")
    #expect(try changed.object().object("former").text("type") == "decimal")
    #expect(try changed.object()["order"] as? Bool == false)
    // The index of words is one for all fields.
    #expect(try set("color", "--search").code == 0 && root.run("compact").code == 0)
    #expect(try set("name2", "--search").words.contains("color, name2"))
  }

  @Test func `a list of codes fits, and a number beyond the range of decimals does not`() throws {
    let root = try TestRoot(answers: [])
    let file = root.folder.path + "/own.ndjson"
    let rows = """
      {"type":"product","id":"1","extra":{"codes":["9300675001007","9300675001014"],"price":1e400}}
      {"type":"product","id":"2","extra":{"codes":[7,{"a":1}],"price":"9e299"}}
      {"type":"product","id":"3","extra":{"codes":[],"price":9e299,"free":1e400}}
      {"type":"product","id":"4","extra":{"codes":{"a":"1"},"price":"x"}}

      """
    try Data(rows.utf8).write(to: URL(filePath: file))
    #expect(try root.run("import", file).code == 0)
    #expect(try root.run("fields", "set", "codes", "--role", "code").code == 0)
    #expect(try root.run("fields", "set", "price", "--type", "decimal").code == 0)
    #expect(try root.run("compact").code == 0)
    let list = try root.run("fields", "list", "--json").objects()
    #expect(list.map { $0["products"] as? Int } == [1, 2] && list.map { $0["unfit"] as? Int } == [2, 2], "\(list)")
    #expect(try root.run("scan", "9300675001014", "--json").text.contains(#""id":"1""#))
    #expect(try root.run("products", "--where", "extra.price > 0", "--columns", "id", "--json").objects().count == 2)
    // What no double holds is in no sum, and is shown as it is.
    let run = try root.run("products", "--sum", "extra.price", "--sum", "extra.free", "--json")
    #expect(try run.object().object("sum")["extra.price"] as? Double == 1.8e300, "\(run.text)")
    #expect(!run.text.contains("Infinity"), "\(run.text)")
    #expect(try root.run("products", "--columns", "extra.free", "--csv").text.contains("1e400"))
  }

  @Test(arguments: [
    ("extra.arrival > \"banana\"", "extra.arrival is a date; compare it with a text such as '2026-01-31'"),
    ("extra.arrival == '31.01.2026'", "'2026-01-31'"), ("extra.arrival in ['2026-01-31', '2026-02-30']", "2026-02-30"),
    ("extra.arrival == ''", "extra.arrival is null"), ("extra.arrival > 20260131", "is a date"),
    ("extra.arrival >= '2026-13'", "is a date"),
    ("extra.arrival", "as in extra.arrival >= '2026-01-31'"),
    ("extra.price > 'x'", "compare it with a number such as 2.5, without quotes, not with 'x'"),
    ("extra.stock == '7'", "extra.stock is a whole number; compare it with a number such as 12"),
    ("extra.gone == 'yes'", "extra.gone is true or false; compare it with one of these"),
    ("extra.gone > 1", "extra.gone is true or false"), ("extra.price like '2%'", "extra.price is a number, and like"),
    ("extra.price > 1e400", "a number up to about 1.8e308"),
  ])
  func `a condition with another kind of value is refused`(condition: String, words: String) throws {
    let root = try root()
    try declare(root)
    #expect(try root.run("fields", "set", "stock", "--type", "int").code == 0)
    #expect(try root.run("fields", "set", "gone", "--type", "bool").code == 0)
    let run = try root.run("products", "--where", condition)
    #expect(run.code == 64 && run.output.isEmpty && run.words.contains(words), "\(condition): \(run.words)")
    for sound in [
      "extra.arrival >= '2026-01-31'", "extra.arrival < '2026-01-31 12:00:00'", "extra.arrival is null",
      "extra.arrival >= '2026-01-31T08:00'", "extra.arrival < '2026'", "extra.arrival >= '2026-01'",
      "extra.arrival like '2026-01%'", "extra.gone", "extra.stock == 2.5",
    ] {
      #expect(try root.run("products", "--where", sound).code < 2, "\(sound)")
    }
  }

  @Test func `a mapping declares fields, and the import writes their indexes`() throws {
    let root = try root()
    let map = root.folder.path + "/map.json"
    let json = #"{"unknown": "keep", "extra": {"carton_ean": {"role": "code", "quantity": 12}}}"#
    try Data(json.utf8).write(to: URL(filePath: map))
    let file = root.folder.path + "/own.csv"
    #expect(try root.run("import", file, "--map", map).code == 0)
    #expect(try root.run("scan", "9300675001007", "--json").object().object("package")["quantity"] as? Int == 12)
    try Data(#"{"extra": {"carton_ean": {"role": "cod"}}}"#.utf8).write(to: URL(filePath: map))
    let wrong = try root.run("import", file, "--map", map)
    #expect(wrong.code != 0 && wrong.words.contains("the field \"carton_ean\", role"))
  }

  @Test func `init proposes declarations of the columns that it keeps`() throws {
    let root = try TestRoot()
    let file = root.folder.path + "/own.csv"
    let rows = "id,barcode,name,price,color,carton ean,gone\n1,4006381333931,Lamp,2.50,red,9300675001007,no\n"
    try Data(rows.utf8).write(to: URL(filePath: file))
    let run = try root.run("init", "--from", file, "--user", "u", "--unknown", "keep", "--yes")
    #expect(run.code == 0)
    // A column of codes is proposed as one, not as a field.
    #expect(run.words.contains(#""codes":[{"columns":["carton ean"]"#), "\(run.words)")
    for command in ["gone --type bool", "price --type decimal --order"] {
      #expect(run.words.contains("catalogctl fields set \(command)"), "\(run.words)")
    }
    #expect(!run.words.contains("fields set color"))
  }
}
