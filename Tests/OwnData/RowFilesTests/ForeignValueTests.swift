import CatalogRows
import RowTestSupport
import ServerAnswers
import Testing

@testable import RowFiles

/// Values as programs of other countries and habits write them, and what tells the parts of a file apart.
@Suite struct ForeignValueTests {
  private struct Reading: Equatable {
    var lines: [String] = []
    var faults: [String] = []
    var summary: RowFileSummary?
    var columns: [RowColumnUse] = []
  }

  private func read(
    _ text: String, _ format: RowFileFormat = .csv, _ mapping: RowMapping = RowMapping(),
    unknown: RowRules.UnknownKeys = .fail
  ) -> (products: [[String: Any]], faults: [String], summary: RowFileSummary?, columns: [RowColumnUse]) {
    let bytes = Array(text.utf8)
    var rules = RowRules()
    rules.unknownKeys = unknown
    var whole: Reading?
    var products: [[String: Any]] = []
    for size in [bytes.count, 1, 5] {
      var reader = RowFileReader(format, rules: rules, mapping: mapping)
      var sink = Collector()
      var reading = Reading()
      do throws(RowFileError) {
        for start in stride(from: 0, to: bytes.count, by: size) {
          try reader.consume(bytes[start..<min(start + size, bytes.count)].span, into: &sink)
        }
        reading.summary = try reader.finish(into: &sink)
      } catch {
        if case .refused(let faults) = error { reading.faults = faults.first.map(\.description) }
      }
      reading.lines = sink.lines
      reading.columns = reader.columns
      #expect(whole == nil || whole == reading, "in pieces of \(size)")
      whole = reading
      products = sink.products
    }
    return (products, whole?.faults ?? [], whole?.summary, whole?.columns ?? [])
  }

  private func stepping(_ steps: [RowMapping.Step], _ field: ProductField = .name) -> RowMapping {
    var mapping = RowMapping()
    mapping.rules[field] = RowMapping.Rule(columns: ["v"], steps: steps)
    mapping.delimiter = UInt8(ascii: "|")
    return mapping
  }

  // MARK: Booleans

  @Test(arguments: [
    ("WAHR", "FALSCH"), ("VRAI", "FAUX"), ("VERDADERO", "FALSO"), ("VERO", "FALSO"), ("真", "假"), ("是", "否"),
    ("ja", "nein"), ("oui", "non"), ("sí", "no"), ("si\u{301}", "No"), ("Verdadeiro", "Falso"), ("PRAWDA", "FAŁSZ"),
    ("ИСТИНА", "ЛОЖЬ"), ("DOĞRU", "YANLIŞ"), ("TRUE", "False"), ("Yes", "NO"),
  ])
  func `a word of a spreadsheet in another language is true or false`(yes: String, no: String) {
    let (products, faults, _, _) = read("id,isSaleProduct,delFlag\n1,\(yes),\(no)\n2,\(no),\(yes)\n3,,\n")
    #expect(faults == [])
    #expect(products.map { $0["isSaleProduct"] as? Bool } == [true, false, false])
    #expect(products.map { $0["delFlag"] as? Int } == [0, 1, 0])
  }

  @Test(arguments: ["maybe", "j", "2", "X", "tru", "wahr?"])
  func `any other word is still refused`(word: String) {
    #expect(read("id,isSaleProduct\n1,\(word)\n").faults.first?.contains("neither true nor false") == true)
  }

  // MARK: Texts for nothing

  @Test(arguments: [RowFileFormat.csv, .ndjson])
  func `texts that stand for nothing are empty, if they are named`(format: RowFileFormat) {
    var mapping = RowMapping()
    mapping.nullWords = ["N/A", "NaN", "NULL", #"\N"#, "-", "-999"]
    let text =
      format == .csv
      ? "id,name,weight,barcode,color\n1,n/a,NaN,\\N,-\n2,Banana,-999,null,red\n"
      : #"{"id":"1","name":"n/a","weight":"NaN","barcode":"\\N","color":"-"}"# + "\n"
        + #"{"id":"2","name":"Banana","weight":-999,"barcode":"null","color":"red"}"# + "\n"
    let (products, faults, _, _) = read(text, format, mapping, unknown: .keep)
    #expect(faults == [])
    #expect(products.map { $0["name"] as? String } == ["", "Banana"])
    #expect(products.map { $0["weight"] as? Double } == [0, 0])
    #expect(products.map { $0["barcode"] as? String } == ["", ""])
    #expect((products[1]["extra"] as? [String: Any])?["color"] as? String == "red")
    let plain = read("id,name,barcode\n1,N/A,-\n").products
    #expect(plain.first?["name"] as? String == "N/A" && plain.first?["barcode"] as? String == "-")
    #expect(read("id,name\nNULL,a\n", .csv, mapping).faults.first?.contains("needs an id") == true)
  }

  @Test func `a text that counts as nothing goes before the next column, and counts after the steps`() {
    var mapping = RowMapping()
    mapping.nullWords = ["-"]
    mapping.rules[.barcode] = RowMapping.Rule(columns: ["a", "b"])
    mapping.rules[.name] = RowMapping.Rule(columns: ["c"], steps: [.trim])
    let products = read("id,a,b,c\n1,-,222, - \n", .csv, mapping).products
    #expect(products.first?["barcode"] as? String == "222" && products.first?["name"] as? String == "")
  }

  // MARK: Money

  @Test(arguments: [
    ("$5.00", "5.00"), ("5,00 €", "5.00"), ("1.234,56 €", "1234.56"), ("US$ 1,234.56", "1234.56"), ("¥500", "500"),
    ("CHF 5.-", "5"), ("5,-", "5"), ("5,-- EUR", "5"), ("1\u{A0}234,50\u{A0}kr", "1234.50"), ("-$3.10", "-3.10"),
    ("$-3.10", "-3.10"), ("3,10- €", "-3.10"), ("(4.20)", "-4.20"), ("\u{2212}4.20", "-4.20"),
    ("R$ 1.234.567,8", "1234567.8"),
    ("Rs.500", "500"), ("$.50", "0.50"), ("￥５００", "500"), ("1'234.50 Fr.", "1234.50"), ("zł 12,5", "12.5"),
    ("USD 0.125", "0.125"), ("1234.567", "1234.567"), ("12 500 руб.", "12500"), ("0", "0"), ("S/.500", "500"),
    ("€ ,50", "0.50"), ("$5.00 USD", "5.00"),
    (" ", ""),
  ])
  func `an amount of money gives its number`(text: String, number: String) throws {
    #expect(try MoneyText.number(text, decimal: nil) == number)
  }

  @Test(arguments: [
    "1,234", "$1.234", "5 kg", "abc", "--5", "5-5", "-(5)", "5 -", "1.23.4", "1,23,456", "€", "5%", "5 x 3", "12/5",
    "1e5",
    "$ 5 €5", "ABC 5", "5.00.", "USD.50", "Xy.50",
  ])
  func `what is no amount, or means two numbers, is refused`(text: String) {
    #expect(throws: RowRefusal.self) { _ = try MoneyText.number(text, decimal: nil) }
  }

  @Test func `the separator of decimals decides where it is given`() throws {
    #expect(try MoneyText.number("1.234", decimal: ",") == "1234" && MoneyText.number("1.234", decimal: ".") == "1.234")
    #expect(
      try MoneyText.number("1,234 €", decimal: ",") == "1.234" && MoneyText.number("$1,234", decimal: ".") == "1234")
    for (text, decimal) in [("$5.00", ","), ("5,00 €", ".")] as [(String, Character)] {
      let error = #expect(throws: RowRefusal.self) { _ = try MoneyText.number(text, decimal: decimal) }
      #expect(error?.message.contains("--decimal \(decimal == "," ? "." : ",")") == true)
    }
    var mapping = stepping([.money], .weight)
    let (_, faults, _, _) = read("id|v\n1|$1,234\n", .csv, mapping)
    #expect(faults.first?.contains("two numbers") == true && faults.first?.contains("Line 2, column weight") == true)
    mapping.decimal = UInt8(ascii: ",")
    #expect(read("id|v\n1|1.234,5 €\n", .csv, mapping).products.first?["weight"] as? Double == 1234.5)
    // A number of JSON keeps its point.
    #expect(read(#"{"id":"1","v":1.234}"#, .ndjson, mapping).products.first?["weight"] as? Double == 1.234)
  }

  // MARK: HTML and blanks

  @Test func `character references of HTML are characters, once`() {
    for (text, value) in [
      ("A &amp; B", "A & B"), ("&#228;&#xE4;&#XE4;&auml;", "ääää"), ("caf&eacute;", "café"), ("a&nbsp;b", "a\u{A0}b"),
      ("&amp;amp;", "&amp;"), ("&bogus; &; & AT&T R&D;", "&bogus; &; & AT&T R&D;"), ("&#150;&#x80;", "–€"),
      ("&#0;&#xD800;&#x110000;&#-5;", "&#0;&#xD800;&#x110000;&#-5;"), ("&apos;&QUOT;&lt;&thetasym;", "'\"<ϑ"),
      ("&amp", "&amp"),
      ("&#0000000228;", "ä"),
    ] { #expect(HTMLText.decoded(text) == value, "\(text)") }
    #expect(read("id|v\n1|&lt;b&gt;\n", .csv, stepping([.html])).products.first?["name"] as? String == "<b>")
  }

  @Test(arguments: [
    " ", "\u{A0}", "\u{3000}", "\u{200B}", "\u{200D}", "\u{FEFF}", "\u{2060}", "\u{2009}", "\u{85}", "\t", "\u{AD}",
    "\u{200E}",
  ])
  func `an id with a blank at either end is counted, and trimmed by its step`(blank: String) {
    let text = "{\"v\":\"a\(blank)\"}\n{\"v\":\"\(blank)b\"}\n{\"v\":\"c\(blank)d\"}\n".replacing("\t", with: "\\t")
    let plain = read(text, .ndjson, stepping([], .id))
    #expect(plain.faults == [] && plain.summary?.paddedIDs == 2)
    #expect(plain.summary?.notices.first?.contains("trim") == true)
    let trimmed = read(text, .ndjson, stepping([.trim], .id))
    #expect(trimmed.products.map { $0["id"] as? String } == ["a", "b", "c\(blank)d"])
    #expect(trimmed.summary?.paddedIDs == 0 && trimmed.summary?.notices == [])
  }

  // MARK: Dates

  @Test func `each column has its own form of dates`() {
    var mapping = RowMapping()
    mapping.rules[.updateTime] = RowMapping.Rule(columns: ["u"], steps: [.date("dd.MM.yyyy")])
    mapping.rules[.createTime] = RowMapping.Rule(columns: ["c"], steps: [.trim, .date("yyyy-MM-dd'T'HH:mm")])
    mapping.dateFormat = "%m/%d/%Y"
    let (products, faults, _, _) = read(
      "id,u,c\n1,31.12.2024, 2024-12-31T23:59 \n2,,00-00\n3,00.00.0000,\n", .csv, mapping)
    #expect(faults.count == 0 || faults.allSatisfy { $0.contains("00-00") })
    #expect(products.first?["updateTime"] as? String == "2024-12-31 00:00:00")
    #expect(products.first?["createTime"] as? String == "2024-12-31 23:59:00")
    let wrong = read("id,u,c\n1,12/31/2024,\n", .csv, mapping).faults
    #expect(
      wrong.first?.contains("no date of the form dd.MM.yyyy") == true && wrong.first?.contains("12/31/2024") == true)
  }

  @Test func `a form of dates is written with letters or percent signs`() {
    for form in [
      "dd.MM.yyyy", "yyyy-MM-dd HH:mm:ss", "M/d/yy", "d MMM yyyy h:mm a", "yyyyMMdd", "%d.%m.%Y", "yyyy'年'MM'月'dd",
    ] {
      #expect(RowMapping.isDateFormat(form), "\(form)")
    }
    for form in ["dd.MM", "dd.mm.yyyy", "dd.MM.yyy", "QQ dd.MM.yyyy", "dd.MM.yyyy 'x", "", "hh:mm dd.MM.yyyy"] {
      #expect(!RowMapping.isDateFormat(form), "\(form)")
    }
  }

  // MARK: The separator and the format

  @Test(arguments: [
    ("id, long;name, short;unit, kg\n1;a, b;1,5\n2;c;2\n3;d;3\n", ";"), ("id,name\n1,a;b;c\n2,d;e;f\n", ","),
    ("id;name\n1;2,5\n2;3,5\n", ";"), ("id|a, b, c\n1|x\n2|y\n", "|"), ("id\tname, size; unit; x\n1\ta\n", "\t"),
    ("id\n1\n", ","), ("\"a,b,c\";d\n1;2\n", ";"), ("id, a;b\n1;2,5\n2;3,5\n", ";"),
    ("\n\nid;name\n1;a,b,c\n", ";"), ("id;v 5\" x;n\n1;2\";3\n2;a,b;c\n", ";"),
  ])
  func `the separator is the one that the lines share`(text: String, separator: String) {
    let bytes = Array(text.utf8)
    let found = CSVRows.delimiter(of: bytes.span, true, isWhole: true)
    #expect(found == separator.utf8.first, "\(text)")
    // It is the same in any pieces.
    _ = read(text, .csv, RowMapping(), unknown: .ignore)
  }

  @Test func `a table with another separator is told how to name it`() {
    let one = read("id:name\n1:a\n").faults.first
    #expect(one?.contains("something else than a comma?") == true && one?.contains("--delimiter") == true)
    #expect(read("id,name\n1,a,b\n2,c\n3,d\n").faults.first?.contains("--delimiter") == true)
  }

  @Test(arguments: [
    ("{\"id\":1}\n", "rows.csv", RowFileFormat.ndjson), (" \n{ \"id\":1}", "rows.txt", .ndjson),
    ("[ {\"id\":1}]", "rows.tsv", .ndjson),
    ("[]", "rows", .ndjson), ("id;name\n1;a\n", "rows.txt", .csv), ("id\tname\n1\ta\n", "rows", .csv),
    ("id,name\n1,a\n", "-", .csv),
    ("id;name\n1;a\n2;b\n", "rows.json", .csv), ("oops\n{\"id\":1}\n", "rows.ndjson", .ndjson),
    ("[id],[name]\n1,a\n", "rows.csv", .csv),
    ("\u{FEFF}{}", "rows.csv", .ndjson), ("", "rows.csv", .csv), ("", "rows.txt", .ndjson), ("\n \n", "rows.tsv", .tsv),
    ("id\tname\n", "rows.TSV.gz", .tsv), ("id;name\n1;a\n", "rows.tsv", .csv), ("{broken\n", "rows.txt", .ndjson),
    ("id\n1\n", "rows.jsonl", .ndjson),
  ])
  func `the contents say the format, and the name where they do not`(text: String, name: String, format: RowFileFormat)
  {
    #expect(RowFileFormat(of: Array(text.utf8), named: name) == format)
  }

  // MARK: Names of keys

  @Test(arguments: [
    #"{"_id":"65a","id":"SKU1"}"#, #"{"id":"SKU1","_id":"65a"}"#, #"{"x":0,"_id":{"$oid":"65a"},"id":"SKU1"}"#,
  ])
  func `a key with the field's own name goes before a common name, wherever it comes`(row: String) {
    let (products, faults, _, columns) = read(row + "\n", .ndjson, RowMapping(), unknown: .keep)
    #expect(faults == [] && products.first?["id"] as? String == "SKU1")
    #expect((products.first?["extra"] as? [String: Any])?["_id"] != nil)
    #expect(columns.first { $0.name == "_id" }?.fields == ["extra._id"])
    #expect(read(row + "\n", .ndjson).faults.contains { $0.contains("column _id") })
  }

  @Test func `each row is judged by its own keys`() {
    let text = """
      {"id":"1","ean":"111"}
      {"id":"2","ean":"111","barcode":"222"}
      {"id":"3","barcode":"333"}
      {"id":"4","barcode":"444","ean":"x"}
      {"id":"5","ean":"555"}

      """
    let (products, faults, summary, columns) = read(text, .ndjson, RowMapping(), unknown: .ignore)
    #expect(faults == [] && products.map { $0["barcode"] as? String } == ["111", "222", "333", "444", "555"])
    #expect(summary?.ignored == ["ean": 2])
    #expect(columns.first { $0.name == "ean" }?.fields == ["barcode"])
  }

  @Test func `values that are converted follow the same rule`() {
    var mapping = RowMapping()
    mapping.decimal = UInt8(ascii: ",")
    let text = """
      {"id":"1","gewicht":"1,5"}
      {"id":"2","gewicht":"9,9","weight":"2,5"}
      {"id":"3","weight":"3,5","gewicht":"9,9"}

      """
    let (products, faults, _, _) = read(text, .ndjson, mapping, unknown: .ignore)
    #expect(faults == [] && products.map { $0["weight"] as? Double } == [1.5, 2.5, 3.5])
    mapping = RowMapping()
    mapping.rules[.id] = RowMapping.Rule(columns: ["ean"])
    let own = read("{\"ean\":\"1\",\"barcode\":\"2\"}\n{\"ean\":\"3\"}\n", .ndjson, mapping)
    #expect(own.faults == [] && own.products.map { $0["barcode"] as? String } == ["2", "3"])
  }

  // MARK: Limits

  @Test(arguments: ["id\n1\n", "", "{\"id\":1}\n", "[{\"id\":1},"])
  func `endless empty lines end the file`(beginning: String) throws {
    let bytes = Array(beginning.utf8)
    let format: RowFileFormat = beginning.contains("{") ? .ndjson : .csv
    let isArray = beginning.hasPrefix("[")
    for count in [RowRules.blankLineLimit, RowRules.blankLineLimit + 1] {
      var reader = RowFileReader(format, mapping: RowMapping())
      var sink = Collector()
      try reader.consume(bytes.span, into: &sink)
      try reader.consume(Array(repeating: 0x0A, count: count).span, into: &sink)
      #expect(reader.isOver == (count > RowRules.blankLineLimit), "\(count)")
      guard count > RowRules.blankLineLimit || isArray else { continue }
      let error = #expect(throws: RowFileError.self) { _ = try reader.finish(into: &sink) }
      if count > RowRules.blankLineLimit { #expect("\(error as Any)".contains("empty lines")) }
    }
  }

  @Test(arguments: [RowFileFormat.csv, .ndjson]) func `very many faults end the file`(format: RowFileFormat) throws {
    var reader = RowFileReader(format, mapping: RowMapping())
    var sink = Collector()
    let lines = Array(String(repeating: "x\n", count: RowRules.faultLimit + 100).utf8)
    let text = format == .csv ? Array("id,name\n".utf8) + lines : lines
    try reader.consume(text.span, into: &sink)
    #expect(reader.isOver && reader.faultCount == RowRules.faultLimit)
    let error = #expect(throws: RowFileError.self) { _ = try reader.finish(into: &sink) }
    guard case .refused(let faults) = error else { return }
    #expect("\(faults)".contains("the rest of the file was not read"), "\(faults)")
  }

  // MARK: The way back

  @Test func `a table of a mapping refuses what the mapping would read as something else`() throws {
    var row = ProductRow()
    row.texts.set(ProductText.id.rawValue, "1")
    row.texts.set(ProductText.name.rawValue, "a &amp; b")
    var html = stepping([.html])
    #expect(throws: RowRefusal.self) { _ = try written(row, html) }
    row.texts.set(ProductText.name.rawValue, "a & b")
    #expect(try written(row, html).contains("a & b"))
    html.nullWords = ["A & B"]
    #expect(throws: RowRefusal.self) { _ = try written(row, html) }
    var dates = RowMapping()
    dates.rules[.updateTime] = RowMapping.Rule(columns: ["u"], steps: [.date("dd.MM.yyyy")])
    row.texts.set(ProductText.updateTime.rawValue, "2024-12-31 00:00:00")
    #expect(try written(row, dates).contains("31.12.2024"))
    row.texts.set(ProductText.updateTime.rawValue, "2024-12-31 10:00:00")
    #expect(throws: RowRefusal.self) { _ = try written(row, dates) }
  }

  private func written(_ row: ProductRow, _ mapping: RowMapping) throws -> String {
    var table = try ReverseMapping(mapping)
    try table.scan(row)
    var csv: [UInt8] = []
    table.appendHeader(to: &csv)
    try table.append(row, to: &csv)
    return String(decoding: csv, as: UTF8.self)
  }

  @Test func `a table with a byte order mark is read as one for spreadsheets`() throws {
    let cells = "id,\"=\"\"-x\"\"\",name,brand\n\"=\"\"007\"\"\",a,=\"=1\",'b\n"
    let marked = read("\u{FEFF}" + cells, .csv, RowMapping(), unknown: .keep)
    #expect(marked.faults == [] && marked.products.first?["id"] as? String == "007")
    #expect(marked.products.first?["name"] as? String == "=1" && marked.products.first?["brand"] as? String == "'b")
    #expect((marked.products.first?["extra"] as? [String: Any])?["-x"] as? String == "a")
    let declared = read("\u{FEFF}sep=;\nid;name\n1;=\"2\"\n")
    #expect(declared.products.first?["name"] as? String == "2")
    #expect(read(cells, .csv, RowMapping(), unknown: .keep).faults.first?.contains("--excel") == true)
    let long = "'Tis " + String(repeating: "long ", count: 60)
    #expect(read("\u{FEFF}id,name\n1,\(long)\n").products.first?["name"] as? String == long)
  }

  @Test func `a word for true is no formula either`() throws {
    var mapping = RowMapping()
    mapping.rules[.isSaleProduct] = RowMapping.Rule(columns: ["sale"])
    mapping.trueWords = ["=1+1"]
    mapping.decimal = UInt8(ascii: ",")
    var row = ProductRow()
    row.texts.set(ProductText.id.rawValue, "1")
    row.isSaleProduct = true
    row.weight = -1.5
    var style = RowCSV.Style()
    style.isForExcel = true
    style.delimiter = UInt8(ascii: ";")
    var table = try ReverseMapping(mapping)
    try table.scan(row)
    var csv: [UInt8] = []
    try table.append(row, to: &csv, style: style)
    let text = String(decoding: csv, as: UTF8.self)
    #expect(text.contains("\"=\"\"=1+1\"\"\"") && text.contains("-1,5"), "\(text)")
  }

  @Test(arguments: [
    "=1+1", " =cmd|' /C calc'!A0", "\n=1", "\r=1", "\t=1", "@SUM(A1)", "+x", "-x", "＝1+1", "＠x", "'=1", "\u{A0}=x",
    "=\"a\"&B1", "\u{200B}=x", "－x",
  ])
  func `no cell for a spreadsheet is a formula but a constant`(text: String) throws {
    for value in [text, text + String(repeating: "x", count: 300)] {
      var row = ProductRow()
      row.texts.set(ProductText.id.rawValue, "x")
      row.texts.set(ProductText.name.rawValue, value)
      var style = RowCSV.Style()
      style.isForExcel = true
      var csv: [UInt8] = []
      RowCSV.append([value], to: &csv, style: style)
      let cell = String(decoding: csv, as: UTF8.self)
      #expect(cell.hasPrefix("\"=\"\"") || cell.hasPrefix("'") || cell.hasPrefix("\"'"), "\(cell)")
      var table: [UInt8] = []
      RowCSV.appendHeader(to: &table, style: style)
      RowCSV.append(row, to: &table, style: style)
      var rules = RowRules()
      rules.readsExcelTexts = true
      var reader = RowFileReader(.csv, rules: rules, mapping: RowMapping())
      var sink = Collector()
      try reader.consume(table.span, into: &sink)
      _ = try reader.finish(into: &sink)
      #expect(sink.products.first?["name"] as? String == value)
    }
  }
}
