import CatalogRows
import DocumentFormat
import RowTestSupport
import ServerAnswers
import Testing

@testable import RowFiles

/// The condition of the rows that are taken, the values of cells with several, and what is said of barcodes.
@Suite struct RowConditionTests {
  private struct Reading {
    var ids: [String] = []
    var barcodes: [String] = []
    var summary = RowFileSummary()
    var failures: [String] = []
    var columns: [RowColumnUse] = []
  }

  private struct IDs: RowSink {
    var ids: [String] = []
    var barcodes: [String] = []
    mutating func product(_ row: borrowing ProductRow) {
      ids.append(row[.id])
      barcodes.append(row[.barcode])
    }
    mutating func relation(_ row: borrowing RelationRow) { ids.append(row[.id]) }
    mutating func code(_ row: borrowing CodeRow) { ids.append(row[.id]) }
  }

  private func read(
    _ text: String, _ rows: String? = nil, _ format: RowFileFormat = .csv, rules: RowRules = RowRules(),
    _ change: (inout RowMapping) -> Void = { _ in }
  ) throws -> Reading {
    var mapping = RowMapping()
    mapping.rows = try rows.map { try RowCondition(parsing: $0) }
    change(&mapping)
    var reading = Reading()
    var sink = IDs()
    var reader = RowFileReader(format, rules: rules, mapping: mapping)
    do throws(RowFileError) {
      // Pieces are no boundary of anything.
      for byte in Array(text.utf8) { try reader.consume([byte].span, into: &sink) }
      reading.summary = try reader.finish(into: &sink)
    } catch {
      reading.summary = reader.summary
      guard case .refused(let faults) = error else { throw error }
      reading.failures = faults.first.map(\.description)
    }
    (reading.ids, reading.barcodes, reading.columns) = (sink.ids, sink.barcodes, reader.columns)
    return reading
  }

  private static let table = """
    id,Variant Price,Stock,Active,a.b,name
    1,12.50,7,TRUE,x,one
    2,,,false,,
    3,3,0,true,y,Three
    4,n/a,-2,no,x,"four, five"

    """

  @Test(arguments: [
    ("'Variant Price' != ''", "1 3 4"), ("\"Variant Price\" = ''", "2"), ("'Variant Price' > 3", "1"),
    ("'Variant Price' >= 3 && Active == true", "1 3"), ("Active", "1 3"), ("!Active", "2 4"), ("'Active'", "1 3"),
    ("not 'Active' and Stock != null", "4"), ("Stock is null", "2"), ("Stock is not null", "1 3 4"),
    ("Stock == 0", "3"),
    ("Stock < 0", "4"), ("Stock in [7, -2]", "1 4"), ("Stock in ['7', 0]", "1 3"), ("a.b == 'x'", "1 4"),
    ("'a.b' in ['x', 'y']", "1 3 4"), ("name like '%ee'", "3"), ("name hasprefix 'T'", "3"),
    ("name contains 'O' nocase", "1 4"), ("name contains ','", "4"), ("id == 2", "2"), ("id == '2'", "2"),
    ("('Variant Price' == 12.5 || id = 4) && true", "1 4"), ("Stock != 0", "1 2 4"), ("'Variant Price' == 'n/a'", "4"),
  ]) func `rows that do not meet a condition are left out, in a table and in JSON`(
    condition: String, ids: String
  ) throws {
    let ids = ids.split(separator: " ").map(String.init)
    var rules = RowRules()
    rules.unknownKeys = .ignore
    let table = try read(Self.table, condition, rules: rules)
    #expect(table.ids == ids && table.failures.isEmpty, "\(condition): \(table.ids) \(table.failures)")
    #expect(table.summary.rows == 4 && table.summary.leftOut == 4 - ids.count)
    let lines = """
      {"id":1,"Variant Price":12.50,"Stock":7,"Active":true,"a.b":"x","name":"one"}
      {"id":2,"Active":false,"Stock":null}
      {"id":"3","Variant Price":"3","Stock":0,"Active":true,"a.b":"y","name":"Three"}
      {"id":4,"Variant Price":"n/a","Stock":-2,"Active":"no","a.b":"x","name":"four, five"}
      """
    for text in [lines, "[" + lines.split(separator: "\n").joined(separator: ",\n") + "]"] {
      let rows = try read(text, condition, .ndjson, rules: rules)
      #expect(rows.ids == ids && rows.failures.isEmpty, "\(condition): \(rows.ids) \(rows.failures)")
      #expect(rows.summary.leftOut == 4 - ids.count)
    }
  }

  @Test func `numbers and words are read as the mapping has them`() throws {
    let text = "id;Preis;Aktiv\n1;1.234,50;ja\n2;0,99;nein\n"
    let ids = try ["Preis > 1000", "Preis < 1", "Aktiv", "Aktiv == false"].map { condition in
      try read(text, condition) { mapping in
        mapping.decimal = UInt8(ascii: ",")
        mapping.trueWords = ["ja"]
      }.ids
    }
    #expect(ids == [["1"], ["2"], ["1"], ["2"]])
  }

  @Test func `a column that only the condition asks for is no unknown one`() throws {
    let taken = try read("id,Typ\n1,a\n2,b\n", "Typ = 'a'")
    #expect(taken.ids == ["1"] && taken.failures.isEmpty && taken.columns[1].isCondition)
    let keys = try read("{\"id\":1,\"Typ\":\"a\"}\n{\"id\":2,\"Typ\":\"b\"}\n", "Typ = 'a'", .ndjson)
    #expect(keys.ids == ["1"] && keys.failures.isEmpty, "\(keys.failures)")
    // A row that is left out may be wrong.
    let wrong = try read("id,weight,Typ\n1,1,a\n1,x,b\n,,b\n", "Typ = 'a'")
    #expect(wrong.ids == ["1"] && wrong.failures.isEmpty, "\(wrong.failures)")
  }

  @Test(
    arguments: [
      ("p > 10", "$12.50", nil, "compare with a text, as in 'p' != ''"),
      ("p != 0", "12,50 €", nil, "compare with a text"),
      ("p > 10", "1.234,50", nil, "--decimal ,"), ("p > 10", "1,234.50", nil, "--decimal ."),
      ("p in [1, 2]", "12.5", ",", "--decimal ."), ("p == 5 && id != ''", "n/a", nil, "--null n/a, or compare with"),
      ("p < 1", "-", nil, "--null='-'"),
    ] as [(String, String, String?, String)])
  func `a text that is compared with a number is counted in a warning with its remedy`(
    condition: String, value: String, decimal: String?, remedy: String
  ) throws {
    var rules = RowRules()
    rules.isIncrement = true
    let table = "id;p\n1;0\n2;\(value)\n3;\n4;\(value)\n"
    let lines = "{\"id\":1,\"p\":0}\n{\"id\":2,\"p\":\"\(value)\"}\n{\"id\":3}\n{\"id\":4,\"p\":\"\(value)\"}\n"
    for (text, format, line) in [(table, RowFileFormat.csv, 3), (lines, .ndjson, 2)] {
      let summary = try read(text, condition, format, rules: rules) {
        $0.decimal = decimal?.utf8.first
        $0.rules[.weight] = RowMapping.Rule(columns: ["w"])
        if format == .csv { $0.rules = [:] }
      }.summary
      let warning = try #require(summary.warnings.first, "\(condition) \(value)")
      #expect(warning.count == 2 && warning.line == line && warning.value == value && warning.column == "p")
      #expect(warning.message.contains(remedy) && warning.message.contains("2 rows have a text"), "\(warning.message)")
    }
  }

  @Test(arguments: ["p > '1'", "p in ['a', 5]", "p != ''", "id > 1", "p like '%a'"])
  func `other comparisons are no matter for a warning`(condition: String) throws {
    #expect(try read("id,p\n1,a\n2,ba\n3,\n4,7\n", condition).summary.warnings.isEmpty)
  }

  @Test func `a source of which no row is left says what its numbers were`() throws {
    let failures = try read("id,p\n1,$5.00\n2,$20.00\n", "p > 10").failures.joined()
    #expect(failures.contains("none of its 2 rows") && failures.contains("value \"$5.00\""), "\(failures)")
  }

  @Test(
    arguments: [
      ("Artikelnr.", ["Artikelnr."], nil, #"{"fields": {"id": {"columns": "Artikelnr.", "steps": ["trim"]}}}"#),
      ("id", [], nil, #"{"columns": "id", "steps": ["trim"]}"#),
      ("no", ["no", "x"], nil, #"{"columns": ["no", "x"], "steps": ["trim"]}"#),
      ("no", ["no"], .upper, #"write "trim" before the other steps of the field id"#),
    ] as [(String, [String], RowMapping.Step?, String)])
  func `the warning about ids names the column and the first one`(
    name: String, columns: [String], step: RowMapping.Step?, remedy: String
  ) throws {
    for (text, format, line) in [
      ("\(name),x\n1,\n 2 ,\n3\u{200B},\n", RowFileFormat.csv, 3),
      ("{\"\(name)\":\"1\",\"x\":null}\n{\"\(name)\":\" 2 \"}\n{\"\(name)\":\"3\u{200B}\"}\n", .ndjson, 2),
    ] {
      var rules = RowRules()
      rules.unknownKeys = .ignore
      let summary = try read(text, nil, format, rules: rules) {
        if !columns.isEmpty { $0.rules[.id] = RowMapping.Rule(columns: columns, steps: [step].compactMap(\.self)) }
      }.summary
      let warning = try #require(summary.warnings.first)
      #expect(warning.line == line && warning.column == name && warning.value == " 2 " && warning.count == 2)
      #expect(warning.message.contains(remedy) && summary.paddedIDs == 2, "\(warning.message)")
    }
  }

  @Test func `relations are not subject to a condition`() throws {
    let lines = """
      {"id":"1","Status":"a"}
      {"id":"2","Status":"b"}
      {"type":"relation","id":"r","productId":"1","subProductId":"2"}
      {"productId":"1","subProductId":"2","id":"s","type":"relation"}
      """
    #expect(try read(lines, "Status = 'a'", .ndjson).ids == ["1", "r", "s"])
    let array = "[" + lines.split(separator: "\n").joined(separator: ",") + "]"
    #expect(try read(array, "Status = 'a'", .ndjson).ids == ["1", "r", "s"])
    let table = "type,id,Status,productId,subProductId\nproduct,1,a,,\n,2,b,,\nrelation,r,,1,2\nproduct,3,b,,\n"
    let reading = try read(table, "Status = 'a'")
    #expect(reading.ids == ["1", "r"] && reading.summary.leftOut == 2, "\(reading)")
    // Newer rows of a database may be relations alone, which have no key that the condition asks for.
    var rules = RowRules()
    rules.isIncrement = true
    let relation = String(lines.split(separator: "\n")[2])
    let alone = try read(relation, "Status = 'a'", .ndjson, rules: rules)
    #expect(alone.ids == ["r"] && alone.failures.isEmpty, "\(alone)")
    // A column of this name may say something else.
    rules.unknownKeys = .ignore
    #expect(try read("id,type\n1,a\n2,b\n", "type = 'a'", rules: rules).ids == ["1"])
  }

  @Test(arguments: [
    ("a != ''", "2"), ("a is null", "1 3 4"), ("a = '-'", ""), ("a in ['', 'x']", "1 2 3 4"), ("not a = ''", "2"),
  ]) func `a text that counts as no value is none in a condition either`(condition: String, ids: String) throws {
    var rules = RowRules()
    rules.isIncrement = true
    let table = "id,a\n1,-\n2,x\n3,N/A\n4,\n"
    let lines = "{\"id\":1,\"a\":\"-\"}\n{\"id\":2,\"a\":\"x\"}\n{\"id\":3,\"a\":\"n/a\"}\n{\"id\":4,\"a\":null}\n"
    for (text, format) in [(table, RowFileFormat.csv), (lines, .ndjson)] {
      let reading = try read(text, condition, format, rules: rules) { $0.nullWords = ["-", "n/a"] }
      #expect(reading.ids == ids.split(separator: " ").map(String.init), "\(condition) \(reading)")
    }
  }

  @Test(arguments: [RowFileFormat.csv, .ndjson])
  func `a column that the file does not have is an error with those that it has`(format: RowFileFormat) throws {
    let text = format == .csv ? "id,Variant Price,name\n1,2,x\n" : "{\"id\":1,\"Variant Price\":2,\"name\":\"x\"}\n"
    var rules = RowRules()
    rules.unknownKeys = .ignore
    let reading = try read(text, "'Variant Pric' != ''", format, rules: rules)
    let words = reading.failures.joined()
    #expect(words.contains("Variant Pric") && words.contains("is \"Variant Price\" meant?"), "\(words)")
    #expect(words.contains("are id, Variant Price, name"), "\(words)")
  }

  @Test func `a file of which no row is taken is an error with the reason`() throws {
    var rules = RowRules()
    rules.missingIDs = .ignore
    let none = try read("id,Typ\n1,a\n2,b\n,c\n", "Typ = 'c'", rules: rules)
    #expect(
      none.failures.joined().contains("none of its 3 rows is a product to take: 2 did not meet the condition"),
      "\(none.failures)")
    #expect(none.failures.joined().contains("1 had no id"), "\(none.failures)")
    let empty = try read("id,name\n,a\n", rules: rules)
    #expect(empty.failures.joined().contains("its only row is not taken: 1 had no id"), "\(empty.failures)")
    // Newer rows alone need not have one that is taken.
    rules.isIncrement = true
    let newer = try read("id,Typ\n1,a\n,c\n", "Typ = 'c'", rules: rules)
    #expect(newer.failures.isEmpty && newer.summary.leftOut == 1 && newer.summary.withoutID == 1, "\(newer)")
    rules.isIncrement = false
    // A file without rows is another matter.
    #expect(try read("id,name\n", rules: rules).failures.isEmpty)
  }

  @Test(arguments: [
    ("Price >", 8), ("'Price", 7), ("== 1", 1), ("'' = 'a'", 1), ("a = date('2026-01-01T00:00:00Z')", 5),
    ("a in [1, bytes('YQ==')]", 10), ("", 1), ("a = 1 b", 7), ("(a = 1", 7),
  ]) func `a mistake in a condition is refused with its column`(condition: String, column: Int) {
    let error = #expect(throws: QuerySyntaxError.self, "\(condition)") { try RowCondition(parsing: condition) }
    #expect(error?.column == column, "\(condition): \(error.map { "\($0)" } ?? "")")
  }

  @Test func `conditions elsewhere take no field in quotes`() {
    #expect(throws: QuerySyntaxError.self) { try Condition(parsing: "'a' = 1") }
  }

  // MARK: Barcodes

  @Test func `the barcodes of a file are counted by what is the matter, with the first row of each`() throws {
    let text = """
      id,barcode
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
      13,"AB
      C"

      """
    let health = try read(text).summary.barcodes
    #expect(health[.sound] == 2 && health[.lostZero] == 1 && health[.exponent] == 1 && health[.decorated] == 3)
    #expect(health[.several] == 1 && health[.wrongCheckDigit] == 1 && health[.text] == 3 && health[.none] == 1)
    #expect(health.total == 13)
    #expect(health.first(.lostZero)?.line == 4 && health.first(.lostZero)?.text == "36000291452")
    #expect(health.first(.decorated)?.line == 6 && health.first(.none)?.line == 12)
    #expect(health.unscannable[.lineEnd]?.first.line == 14 && health.unscannable[.address]?.count == 1)
    let array = try read("[{\"id\":1,\"barcode\":4006381333931},\n{\"id\":2,\"barcode\":36000291452}]", nil, .ndjson)
    #expect(array.summary.barcodes.first(.lostZero)?.line == 2)
    #expect(array.summary.barcodes.first(.lostZero)?.element == 2)
    // Relations have none.
    let relation = try read(
      "{\"id\":1}\n{\"type\":\"relation\",\"id\":\"r\",\"productId\":\"1\",\"subProductId\":\"2\"}\n", nil, .ndjson)
    #expect(relation.summary.barcodes.total == 1)
  }

  @Test(arguments: [RowFileFormat.csv, .ndjson])
  func `the step gtin and split mend what can be mended`(format: RowFileFormat) throws {
    let codes = [
      "36000291452", "'4006381333931", "978-3-16-148410-0", "4006381333931.0", "4.00638E+12", "ABC-1", "#N/A",
      " ; 36000291452 ;4006381333948;x",
    ]
    let text =
      format == .csv
      ? "id,EAN\n" + codes.enumerated().map { "\($0),\"\($1)\"\n" }.joined()
      : codes.enumerated().map { "{\"id\":\($0),\"EAN\":\"\($1)\"}\n" }.joined()
    let reading = try read(text, nil, format) { mapping in
      mapping.rules[.barcode] = RowMapping.Rule(columns: ["EAN"], split: ";", steps: [.gtin])
    }
    #expect(
      reading.barcodes == [
        "036000291452", "4006381333931", "9783161484100", "4006381333931", "4.00638E+12", "ABC-1", "", "036000291452",
      ])
    #expect(reading.summary.furtherParts == 2)
    #expect(reading.summary.barcodes[.sound] == 5 && reading.summary.barcodes[.exponent] == 1)
  }

  @Test(arguments: [RowFileFormat.csv, .tsv, .ndjson])
  func `a field of one column takes the first value of a cell, whatever else the rule has`(format: RowFileFormat) throws
  {
    struct Rows: RowSink {
      var values: [String] = []
      mutating func product(_ row: borrowing ProductRow) {
        values.append([row[.id], row[.barcode], row[.skuCode], row[.category], "\(row.weight)"].joined(separator: " "))
      }
      mutating func relation(_ row: borrowing RelationRow) {}
      mutating func code(_ row: borrowing CodeRow) {}
    }
    let names = ["no", "EAN", "ref", "group", "kg"]
    let cells = ["7|8", "a|4006381333931", " |x|y", "A|B", "1.5|2"]
    let comma = format == .tsv ? "\t" : ","
    let text =
      format == .ndjson
      ? "{" + zip(names, cells).map { "\"\($0)\":\"\($1)\"" }.joined(separator: ",") + "}"
      : names.joined(separator: comma) + "\n" + cells.joined(separator: comma) + "\n"
    for isPlain in [true, false] {
      var mapping = RowMapping()
      for (field, name) in zip([ProductField.id, .barcode, .skuCode, .category, .weight], names) {
        mapping.rules[field] = RowMapping.Rule(columns: [name], split: "|", steps: isPlain ? [] : [.trim])
      }
      var reader = RowFileReader(format, mapping: mapping)
      var sink = Rows()
      try reader.consume(Array(text.utf8).span, into: &sink)
      let summary = try reader.finish(into: &sink)
      #expect(sink.values == ["7 a x A 1.5"] && summary.furtherParts == 5, "\(sink.values) \(summary)")
    }
  }

  @Test(arguments: [
    ("1.234", ["trim"], 1.234), ("12.5", ["trim"], 12.5), ("12.5", ["split"], 12.5),
    ("1.234", ["split", "trim"], 1.234),
    ("1.234", ["money"], 1.234), ("1.234", ["trim", "money"], 1.234), ("1.234", ["capture"], 1.234),
    ("1.234e1", ["upper"], 12.34), ("1234", ["trim"], 1234), ("\"1.234\"", ["trim"], 1234), ("\"1,5\"", ["trim"], 1.5),
    ("1.234", [], 1.234), ("1.234,\"g\":null", ["join"], 1.234), ("1.5,\"g\":20", ["join"], 1.52),
    ("1.5,\"g\":\"20\"", ["join"], 1.52), ("\"1,5\",\"g\":20", ["join"], 1.52),
  ]) func `a number of JSON keeps its point, whatever steps there are`(value: String, steps: [String], weight: Double)
    throws
  {
    struct Weight: RowSink {
      var weight = 0.0
      mutating func product(_ row: borrowing ProductRow) { weight = row.weight }
      mutating func relation(_ row: borrowing RelationRow) {}
      mutating func code(_ row: borrowing CodeRow) {}
    }
    var mapping = RowMapping()
    mapping.decimal = UInt8(ascii: ",")
    let known: [String: RowMapping.Step] = [
      "trim": .trim, "money": .money, "upper": .upper, "capture": .capture("^[0-9.]+"),
    ]
    mapping.rules[.weight] = RowMapping.Rule(
      columns: steps.contains("join") ? ["kg", "g"] : ["kg"], separator: steps.contains("join") ? "" : nil,
      split: steps.contains("split") ? ";" : nil, steps: steps.compactMap { known[$0] })
    for isArray in [false, true] {
      let row = "{\"id\":1,\"kg\":\(value)}"
      var reader = RowFileReader(.ndjson, mapping: mapping)
      var sink = Weight()
      try reader.consume(Array((isArray ? "[\(row)]" : row).utf8).span, into: &sink)
      _ = try reader.finish(into: &sink)
      #expect(sink.weight == weight, "\(value) \(steps)")
    }
  }

  @Test(arguments: [
    ("kg < 2", "1 2"), ("kg > 1000", "3"), ("kg == 1.234", "1"), ("kg in [1.5, 1234]", "2 3"),
  ]) func `a number of JSON keeps its point in a condition, and a text has a decimal comma`(
    condition: String, ids: String
  ) throws {
    let text = "{\"id\":1,\"kg\":1.234}\n{\"id\":2,\"kg\":\"1,5\"}\n{\"id\":3,\"kg\":\"1.234\"}\n"
    let reading = try read(text, condition, .ndjson) { $0.decimal = UInt8(ascii: ",") }
    #expect(reading.ids == ids.split(separator: " ").map(String.init), "\(reading)")
  }

  @Test func `the first value that is not empty after the steps counts`() throws {
    let text = "id,EAN,UPC\n1,#N/A|4006381333931,a\n2,#N/A,036000291452\n3,-|#N/A|a|b,x\n4,#N/A|-,\n"
    let reading = try read(text) { mapping in
      mapping.nullWords = ["-"]
      mapping.rules[.barcode] = RowMapping.Rule(columns: ["EAN", "UPC"], split: "|", steps: [.gtin])
    }
    #expect(reading.barcodes == ["4006381333931", "036000291452", "a", ""], "\(reading)")
    #expect(reading.summary.furtherParts == 1)
  }

  @Test(arguments: [
    (",", "4,00638E+12"), (" ", "4 006381 333931"), (" ", "4 006381 333932"),
    ("/", "https://id.gs1.org/01/04006381333931"),
    (".", "4.006.381.333.931"), (".", "4006381333931.0"), ("-", "978-3-16-148410-0"),
  ]) func `a cell that is one code as a whole is not cut`(separator: String, code: String) throws {
    let list = "4006381333931\(separator)4006381333948"
    for steps in [[], [RowMapping.Step.trim]] {
      let reading = try read("id;EAN\n1;\(code)\n2;\(list)\n3;A\(separator)B\n") { mapping in
        mapping.rules[.barcode] = RowMapping.Rule(columns: ["EAN"], split: separator, steps: steps)
      }
      #expect(reading.barcodes == [code, "4006381333931", "A"], "\(reading)")
    }
    let mended = try read("id;EAN\n1;\(code)\n") { mapping in
      mapping.rules[.skuCode] = RowMapping.Rule(columns: ["EAN"], split: separator, steps: [.gtin])
      mapping.rules[.barcode] = RowMapping.Rule(columns: ["EAN"], split: separator, steps: [.gtin])
    }
    #expect(mended.summary.furtherParts == 0, "\(mended)")
  }

  @Test func `texts with a separator in them are known, as split would cut them`() throws {
    let text = "id;barcode\n1;4006381333931/4006381333948\n2;AB/12\n3;https://a.b/c\n4;x|y\n5;A-1.5_b\n6;4,5E+12\n"
    #expect(try read(text).summary.barcodes.separated == ["/": "AB/12", "|": "x|y"])
  }

  @Test func `a cell of separators alone is empty, so the next column counts`() throws {
    let reading = try read("id,EAN,UPC\n1,;,a\n2,; b;c,a\n3,,;a\n4,;,\n") { mapping in
      mapping.rules[.barcode] = RowMapping.Rule(columns: ["EAN", "UPC"], split: ";")
    }
    #expect(reading.barcodes == ["a", "b", "a", ""] && reading.summary.furtherParts == 1, "\(reading)")
  }

  @Test func `a row is found by its barcode instead of an id, and needs one`() throws {
    var rules = RowRules()
    rules.matchesCodes = true
    let reading = try read(
      "EAN,weight\n4006381333931,1\n,2\n  ,2\n\u{A0},2\n#N/A,2\n\u{A0},2\n036000291452,3\n", rules: rules)
    #expect(reading.barcodes == ["4006381333931", "036000291452"] && reading.summary.withoutCode == 5)
    #expect(reading.summary.barcodes.total == 7 && reading.summary.barcodes[.none] == 4, "\(reading)")
    let short = try read("EAN\n959742\n00959742\n", rules: rules)
    #expect(short.failures.joined().contains("line 2 has this barcode too"), "\(short.failures)")
    let twice = try read("EAN,weight\n036000291452,1\n0036000291452,2\n", rules: rules)
    #expect(twice.failures.joined().contains("line 2 has this barcode too"), "\(twice.failures)")
    rules.duplicates = .last
    #expect(try read("EAN\n036000291452\n36000291452\n", rules: rules).summary.duplicates == 1)
    let none = try read("name\nx\n", rules: rules)
    #expect(none.failures.joined().contains("--column barcode="), "\(none.failures)")
  }

  // MARK: Limits

  @Test(arguments: ["csv", "ndjson", "array"]) func `empty lines are limited by the number of rows`(kind: String) throws
  {
    let blank = [UInt8](repeating: 0x0A, count: 400_000)
    func row(_ index: Int) -> [UInt8] {
      let text = kind == "csv" ? "\(index)\n" : "{\"id\":\(index)}" + (kind == "array" ? "," : "\n")
      return Array(text.utf8)
    }
    for rows in [3, 1300] {
      var reader = RowFileReader(kind == "csv" ? .csv : .ndjson, mapping: RowMapping())
      var sink = IDs()
      try reader.consume(Array((kind == "csv" ? "id\n" : kind == "array" ? "[" : "").utf8).span, into: &sink)
      for index in 1..<rows { try reader.consume(row(index).span, into: &sink) }
      for index in 0..<3 {
        try reader.consume(blank.span, into: &sink)
        try reader.consume(row(rows + index).span, into: &sink)
      }
      #expect(reader.isOver == (rows == 3), "\(kind) \(rows)")
      if rows > 3 { continue }
      let error = #expect(throws: RowFileError.self) { _ = try reader.finish(into: &sink) }
      guard case .refused(let faults) = error else { continue }
      #expect(faults.first[0].message.contains("more than 1000 for each row"), "\(faults.first)")
    }
  }

  // MARK: Remedies

  @Test(
    arguments: [
      ("weight", "$5.00", nil, "step money"), ("weight", "5,00 €", ".", "step money"),
      ("weight", "$5.00", ",", "step money"),
      ("weight", "CHF 5.-", nil, "step money"), ("weight", "(3.10)", nil, "step money"),
      ("weight", "5,5", nil, "--decimal ,"),
      ("weight", "5 kg", nil, "--decimal ,"), ("weight", "1,234", nil, "--decimal ."),
      ("weight", "N/A", nil, "--null N/A"),
      ("weight", "NaN", ",", "--null NaN"), ("weight", "-", nil, "--null='-'"),
      ("weight", "n. a.", ".", "--null 'n. a.'"),
      ("groupNum", "N/A", nil, "--null N/A"), ("groupNum", "-", ",", "--null='-'"),
      ("groupNum", "$5", nil, "step money"),
      ("isSaleProduct", "N/A", nil, "--null N/A"), ("isSaleProduct", "-", nil, "--null='-'"),
      ("delFlag", "X", nil, "--true X"), ("delFlag", "-", nil, "--null='-'"),
      ("weight", "a,b", nil, "\"null\" in a mapping"),
    ] as [(String, String, String?, String)])
  func `a fault of a value names what helps`(field: String, value: String, decimal: String?, remedy: String) throws {
    for (text, format) in [
      ("id;\(field)\n1;\(value)\n", RowFileFormat.csv), ("{\"id\":1,\"\(field)\":\"\(value)\"}\n", .ndjson),
    ] {
      let failures = try read(text, nil, format) { $0.decimal = decimal?.utf8.first }.failures.joined()
      #expect(failures.contains(remedy), "\(failures)")
      if remedy == "step money" { #expect(!failures.contains("--decimal"), "\(failures)") }
    }
  }

  @Test func `false where a text is expected may stand for none`() throws {
    let text =
      "[{\"id\":7,\"barcode\":false,\"isSaleProduct\":false},{\"id\":8,\"barcode\":\"x\",\"isSaleProduct\":true}]"
    let failures = try read(text, nil, .ndjson).failures.joined()
    #expect(failures.contains("false where a text is expected") && failures.contains("--null false"), "\(failures)")
    let reading = try read(text, nil, .ndjson) { $0.nullWords = ["false"] }
    #expect(reading.barcodes == ["", "x"] && reading.failures.isEmpty, "\(reading)")
    let stepped = try read(text, "barcode = ''", .ndjson) { mapping in
      mapping.nullWords = ["false"]
      mapping.rules[.barcode] = RowMapping.Rule(columns: ["barcode"], steps: [.gtin])
    }
    #expect(stepped.ids == ["7"] && stepped.barcodes == [""], "\(stepped)")
  }

  @Test(arguments: [
    ("yyyyMMdd", "20231231", true), ("yyyyMMdd", "2023123", false), ("yyyyMMdd", "202311", false),
    ("ddMMyy", "311223", true), ("ddMMyy", "31123", false), ("%d%m%Y", "1122023", false),
    ("yyyyMMddHHmmss", "20231231235", false),
    ("yyyyMMddHHmmss", "20231231235959", true), ("d.M.yy", "1.2.23", true), ("dd.MM.yyyy", "1.2.2023", true),
    ("yyyyMMdd HH:mm", "20231231 9:05", true), ("yyyyMMdd HH:mm", "2023123 9:05", false),
    ("yyyyMMdd'T'Hmm", "20231231T905", false),
    ("d MMM yyyy", "1 Dec 2023", true), ("yyMMdd", "23123", false),
  ]) func `parts of a date without anything between them have all their digits`(
    form: String, text: String, isDate: Bool
  ) {
    #expect((DatePattern.reformatted(text, DatePattern.bytes(form)) != nil) == isDate)
  }

  @Test(arguments: [
    ("$5.00 €", false), ("USD 5 EUR", false), ("€5 USD", false), ("$5.00 EUR", false), ("£5 €", false),
    ("5 EUR GBP", false),
    ("$5.00 USD", true), ("$5.00 CAD", true), ("5,00 € EUR", true), ("R$ 5 BRL", true), ("EUR 5 EUR", true),
    ("¥500 円", true), ("¥500 JPY", true), ("£5 GBP", true), ("CHF 5.- Fr.", true), ("US$ 5", true),
  ]) func `an amount has one currency`(text: String, isAmount: Bool) {
    #expect(
      ((try? MoneyText.number(text, decimal: ".")) != nil || (try? MoneyText.number(text, decimal: ",")) != nil)
        == isAmount)
  }

  @Test(arguments: [
    "4006381333931’", "‘4006381333931’", "“4006381333931”", "„4006381333931“", "«4006381333931»", "4006381333931'",
    "4006381333931”", "'4006381333931’", "4006381333931\"",
  ]) func `quotes around a barcode are no part of it`(code: String) throws {
    let reading = try read("{\"id\":1,\"EAN\":\"\(code.replacing("\"", with: "\\\""))\"}", nil, .ndjson) { mapping in
      mapping.rules[.barcode] = RowMapping.Rule(columns: ["EAN"], steps: [.gtin])
    }
    #expect(reading.barcodes == ["4006381333931"], "\(reading)")
    #expect(try read("id,barcode\n1,AB\u{2019}\n").summary.barcodes[.text] == 1)
  }

  @Test(arguments: ["sì", "SÌ", "sí", "si", "oui"]) func `yes in other languages is true`(word: String) {
    #expect(TruthWords.value(of: word) == true)
  }

  // MARK: Common names

  @Test(arguments: [
    ("gtin_upc", ProductField.barcode as ProductField?), ("EAN_UPCS", .barcode), ("Reference #", .skuCode),
    ("Model_Name", .name), ("Bezeichnung 1", .name), ("nombre (es)", .name), ("nombre (fr) ", .name),
    ("Weight (kg)", .weight), ("Gewicht [kg]", .weight), ("名称（中文）", .name), ("EAN (13)", .barcode), ("(x)", nil),
    ("nombre (", .name), ("foo (name)", nil), ("SKU()", .skuCode),
  ]) func `common names may have something in brackets`(name: String, field: ProductField?) {
    #expect(RowMapping.field(named: name) == field, "\(name)")
  }

  @Test func `a whole name goes before one with brackets, wherever it is`() throws {
    var rules = RowRules()
    rules.unknownKeys = .ignore
    let reading = try read("id,EAN (old),EAN\n1,a,b\n", rules: rules)
    #expect(reading.barcodes == ["b"])
    #expect(try read("id,EAN (old)\n1,a\n").barcodes == ["a"])
  }
}
