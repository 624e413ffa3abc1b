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
    #expect(try root.run("export", "-", "--columns", "id,extra.price").code == 64)
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
