import CatalogRows
import RandomTestSupport
import RowFiles
import ServerAnswers
import Testing

@Suite struct ReverseMappingTests {
  private static let comma = UInt8(ascii: ",")

  /// Reads a table.
  private func rows(_ csv: String, _ mapping: RowMapping) throws -> ([ProductRow], [String]) {
    var rules = RowRules()
    rules.unknownKeys = .keep
    var reader = RowFileReader(.csv, rules: rules, mapping: mapping)
    var sink = Products()
    let bytes = Array(csv.utf8)
    do throws(RowFileError) {
      try reader.consume(bytes.span, into: &sink)
      _ = try reader.finish(into: &sink)
    } catch {
      if case .refused(let faults) = error {
        Issue.record("\(faults.first.map(\.description)) in \(csv)")
      } else {
        Issue.record(error)
      }
    }
    return (sink.rows, sink.rows.map(Self.dump))
  }

  private struct Products: RowSink {
    var rows: [ProductRow] = []
    mutating func product(_ row: borrowing ProductRow) { rows.append(copy row) }
    mutating func relation(_ row: borrowing RelationRow) {}
    mutating func code(_ row: borrowing CodeRow) {}
  }

  private static func dump(_ row: ProductRow) -> String {
    var text: [UInt8] = []
    RowJSON.appendDump(row, to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  private func table(_ rows: [ProductRow], _ mapping: RowMapping, fields: [ProductField]? = nil) throws -> String {
    var style = RowCSV.Style()
    style.delimiter = mapping.delimiter ?? Self.comma
    var table = try ReverseMapping(mapping, fields: fields)
    for row in rows { try table.scan(row) }
    var csv: [UInt8] = []
    table.appendHeader(to: &csv, style: style)
    for row in rows { try table.append(row, to: &csv, style: style) }
    return String(decoding: csv, as: UTF8.self)
  }

  private static var german: RowMapping {
    var mapping = RowMapping()
    mapping.rules[.id] = RowMapping.Rule(columns: ["Artikelnummer"])
    mapping.rules[.name] = RowMapping.Rule(columns: ["Bezeichnung"], steps: [.trim])
    mapping.rules[.barcode] = RowMapping.Rule(columns: ["GTIN", "EAN"])
    mapping.rules[.weight] = RowMapping.Rule(columns: ["Gewicht"])
    mapping.rules[.isSaleProduct] = RowMapping.Rule(columns: ["Aktiv"])
    mapping.rules[.createTime] = RowMapping.Rule(columns: ["Angelegt"])
    mapping.constants[.brand] = "ACME"
    mapping.decimal = Self.comma
    mapping.delimiter = UInt8(ascii: ";")
    mapping.trueWords = ["Ja"]
    mapping.dateFormat = "%d.%m.%y"
    return mapping
  }

  @Test(arguments: [
    ("%m/%d/%Y %I:%M %p", "1/5/2026 12:07 AM", "2026-01-05 00:07:00", "01/05/2026 12:07 AM"),
    ("%m/%d/%Y %I:%M %p", "12/31/2026 3:45 pm", "2026-12-31 15:45:00", "12/31/2026 03:45 PM"),
    ("%d-%b-%y", "07-DEC-24", "2024-12-07 00:00:00", "07-Dec-24"),
    ("%Y-%m-%dT%H:%M:%SZ", "2024-02-29T23:59:59Z", "2024-02-29 23:59:59", "2024-02-29T23:59:59Z"),
  ])
  func `dates are read and written in a form`(form: String, text: String, stored: String, written: String) throws {
    var mapping = RowMapping()
    mapping.dateFormat = form
    let (rows, _) = try rows("id,updateTime\n1,\(text)\n", mapping)
    #expect(rows.map { $0[.updateTime] } == [stored])
    #expect(try table(rows, mapping, fields: [.id, .updateTime]) == "id,updateTime\r\n1,\(written)\r\n")
  }

  @Test(arguments: [
    ("%m/%d/%Y %I:%M %p", "1/5/2026 13:07 PM"), ("%m/%d/%Y %I:%M %p", "1/5/2026 1:07"), ("%d-%b-%y", "07-DEZ-24"),
    ("%d.%m.%Y", "30.02.2024"),
  ])
  func `a date in another form is an error`(form: String, text: String) throws {
    var mapping = RowMapping()
    mapping.dateFormat = form
    var reader = RowFileReader(.csv, mapping: mapping)
    var sink = Products()
    let bytes = Array("id,updateTime\n1,\(text)\n".utf8)
    try reader.consume(bytes.span, into: &sink)
    #expect(throws: RowFileError.self) { try reader.finish(into: &sink) }
  }

  @Test func `a product whose value is not the constant is an error`() throws {
    var row = ProductRow()
    row.texts.set(ProductText.id.rawValue, "007")
    row.texts.set(ProductText.brand.rawValue, "Other")
    var table = try ReverseMapping(Self.german)
    let error = #expect(throws: RowRefusal.self) { try table.scan(row) }
    #expect(error?.message.contains("Other") == true && error?.message.contains("ACME") == true)
  }

  @Test func `a spreadsheet gets numbers as numbers, and texts as texts`() throws {
    var row = ProductRow()
    row.texts.set(ProductText.id.rawValue, "007")
    row.weight = 1.5
    var style = RowCSV.Style()
    style.delimiter = UInt8(ascii: ";")
    style.isForExcel = true
    let table = try ReverseMapping(Self.german, fields: [.id, .weight])
    var csv: [UInt8] = []
    try table.append(row, to: &csv, style: style)
    #expect(String(decoding: csv, as: UTF8.self) == "\"=\"\"007\"\"\";1,5\r\n")
  }

  @Test func `a table has the names and the forms of the mapping`() throws {
    let (rows, dumps) = try rows(
      """
      Artikelnummer;EAN;GTIN;Bezeichnung;Gewicht;Aktiv;Angelegt;Lager
      1;11;; Größe ;1.234,5;ja;31.12.24;"a;b"
      2;;22;x;;nein;;

      """, Self.german)
    let csv = try table(rows, Self.german)
    #expect(
      csv == """
        GTIN;Angelegt;Artikelnummer;Aktiv;Bezeichnung;skuCode;Gewicht;Lager\r
        11;31.12.24;1;Ja;Größe;1;1234,5;"a;b"\r
        22;;2;Nein;x;2;0,0;\r

        """)
    #expect(try self.rows(csv, Self.german).1 == dumps)
    #expect(try table(rows, Self.german, fields: [.weight, .id]) == "Gewicht;Artikelnummer\r\n1234,5;1\r\n0,0;2\r\n")
  }

  @Test func `digits may stand in groups of three, and a date of zeros is no date`() throws {
    let table = """
      Artikelnummer;Gewicht;Angelegt
      1;1.234.567,5;31.12.24
      2;1 234,5;00.00.00
      3;1\u{202F}234\u{202F}567;
      4;1'234,5;
      """
    let (rows, _) = try rows(table, Self.measured)
    #expect(rows.map(\.weight) == [1_234_567.5, 1234.5, 1_234_567, 1234.5])
    #expect(rows.map { $0[.createTime].count } == [19, 0, 0, 0])
    for number in ["1.23,5", "1 234.567,5", "1,234,5", "12345.678", "1,234.5", ".5", "1..234"] {
      let faults = try faults("Artikelnummer;Gewicht;Angelegt\n1;\(number);\n", .csv)
      #expect(faults.count == 1 && faults.first?.contains("no number with a decimal comma") == true, "\(number)")
    }
  }

  /// A weight and a date.
  private static var measured: RowMapping {
    var mapping = RowMapping()
    mapping.rules = german.rules.filter { [.id, .weight, .createTime].contains($0.key) }
    mapping.dateFormat = "%d.%m.%y"
    mapping.decimal = comma
    mapping.delimiter = UInt8(ascii: ";")
    return mapping
  }

  private func faults(_ text: String, _ format: RowFileFormat) throws -> [String] {
    var reader = RowFileReader(format, mapping: Self.measured)
    var sink = Products()
    let bytes = Array(text.utf8)
    do throws(RowFileError) {
      try reader.consume(bytes.span, into: &sink)
      _ = try reader.finish(into: &sink)
    } catch {
      guard case .refused(let faults) = error else { throw error }
      return faults.first.map(\.description)
    }
    return []
  }

  @Test(arguments: [
    ("GTIN-13", ProductField.barcode), ("Code-barres", .barcode), ("Código de barras", .barcode),
    ("Штрихкод", .barcode), ("JANコード", .barcode), ("Nazwa produktu", .name), ("НАИМЕНОВАНИЕ", .name),
    ("商品名", .name), ("商品名稱", .name),
    ("Artikel-Nr.", .skuCode), ("Référence", .skuCode), ("Marca", .brand), ("Peso", .weight), ("Reference", nil),
  ])
  func `columns have common names in many languages`(_ name: String, _ field: ProductField?) {
    #expect(RowMapping.field(named: name) == field)
  }

  @Test func `a fault in an array on one line names the row`() throws {
    let faults = try faults(
      #"[{"Artikelnummer":"1"},{"Artikelnummer":"2","Gewicht":"x"},{"Artikelnummer":"1"},7]"#, .ndjson)
    #expect(faults.count == 3)
    #expect(zip(faults, [2, 3, 4]).allSatisfy { $0.hasPrefix("Line 1, row \($1) of the array") }, "\(faults)")
  }

  @Test func `what cannot be taken apart is named`() throws {
    var mapping = RowMapping()
    mapping.rules[.name] = RowMapping.Rule(columns: ["make", "model"], separator: " ")
    let joined = #expect(throws: RowRefusal.self) { try ReverseMapping(mapping) }
    #expect(joined?.message.contains("joins name from the columns make, model") == true)
    #expect(joined?.message.contains("--columns") == true)
    _ = try ReverseMapping(mapping, fields: [.id])
    mapping.rules[.name] = RowMapping.Rule(columns: ["size"], steps: [.capture("[a-z]+")])
    let captured = #expect(throws: RowRefusal.self) { try ReverseMapping(mapping) }
    #expect(captured?.message.contains("takes name from a part of a text") == true)
  }

  @Test func `values that one column cannot hold are refused`() throws {
    var mapping = RowMapping()
    mapping.rules[.id] = RowMapping.Rule(columns: ["ean"])
    mapping.rules[.barcode] = RowMapping.Rule(columns: ["ean"])
    var row = ProductRow()
    row.texts.set(ProductText.id.rawValue, Array("1".utf8).span)
    row.texts.set(ProductText.barcode.rawValue, Array("2".utf8).span)
    let both = #expect(throws: RowRefusal.self) { try table([row], mapping) }
    #expect(both?.message.contains("takes both from the column \"ean\"") == true)
    mapping = RowMapping()
    mapping.dateFormat = "%d.%m.%Y"
    row.texts.set(ProductText.updateTime.rawValue, Array("2024-12-31 10:00:00".utf8).span)
    let date = #expect(throws: RowRefusal.self) { try table([row], mapping) }
    #expect(date?.message.contains("updateTime \"2024-12-31 10:00:00\"") == true)
    mapping = RowMapping()
    mapping.rules[.name] = RowMapping.Rule(columns: ["barcode"])
    let taken = #expect(throws: RowRefusal.self) { try table([row], mapping) }
    #expect(taken?.message.contains("takes name from a column \"barcode\"") == true)
  }

  @Test func `a file that never quotes has quotes as characters`() throws {
    var mapping = RowMapping()
    mapping.hasQuotes = false
    mapping.delimiter = 0x09
    mapping.trueWords = ["X"]
    let text = "id\tname\tdeleted\tLager\n1\t\"12\" mug\t\ta\"\n2\t\"x\tX\t\n"
    let (rows, dumps) = try rows(text, mapping)
    #expect(rows.map { $0[.name] } == ["\"12\" mug", "\"x"] && rows.map(\.delFlag) == [0, 1])
    let csv = try table(rows, mapping)
    #expect(csv == "delFlag\tid\tname\tLager\r\nFALSE\t1\t\"12\" mug\ta\"\r\nX\t2\t\"x\t\r\n")
    #expect(try self.rows(csv, mapping).1 == dumps)
    var row = rows[0]
    row.texts.set(ProductText.name.rawValue, Array("a\tb".utf8).span)
    let error = #expect(throws: RowRefusal.self) { try table([row], mapping) }
    #expect(error?.message.contains("the product 1 has \"a\tb\" in the column \"name\"") == true)
  }

  @Test func `fields beyond the 25 that no column can hold stay in extra`() throws {
    let (rows, dumps) = try rows(
      #"""
      id,name,extra,Lager
      1,a,"{""price"":1.50,""unit"":""x"",""ean"":""9"",""empty"":""""}",
      2,b,,A

      """#, RowMapping())
    let csv = try table(rows, RowMapping())
    #expect(csv.hasPrefix("id,name,Lager,extra\r\n1,a,,\"{"))
    #expect(try self.rows(csv, RowMapping()).1 == dumps)
  }

  @Test func `a table that was written with a mapping is read back with it`() throws {
    var random = SeededGenerator(for: "ReverseMappingTests")
    for _ in 0..<400 {
      let mapping = Self.mapping(&random)
      let csv = Self.foreignTable(mapping, &random)
      let (rows, dumps) = try rows(csv, mapping)
      let table = try table(rows, mapping)
      let (_, again) = try self.rows(table, mapping)
      #expect(again == dumps, "\(mapping)\n\(csv)\n\(table)")
      if again != dumps { return }
    }
  }

  /// A mapping of some fields from columns of other names.
  private static func mapping(_ random: inout SeededGenerator) -> RowMapping {
    var mapping = RowMapping()
    mapping.isAutomatic = Bool.random(using: &random)
    let names =
      (["Nr", "ean", "EAN 13", "Größe;x", "title", "品名", "a,b", "Preis", "brand", "q\"q"] + (0..<10).map { "c\($0)" })
      .shuffled(
        using: &random)
    let fields: [ProductField] = [
      .barcode, .name, .weight, .isSaleProduct, .createTime, .updateTime, .groupNum, .skuCode,
    ].shuffled(using: &random)
    var next = 1
    mapping.rules[.id] = RowMapping.Rule(columns: [names[0]])
    for field in fields.prefix(Int.random(in: 0...7, using: &random)) {
      var rule = RowMapping.Rule(columns: [names[next]])
      next += 1
      if field.text != nil {
        let steps: [RowMapping.Step] = [.trim, .upper, .lower]
        rule.steps = steps.filter { _ in Int.random(in: 0..<4, using: &random) == 0 }
        if rule.steps.contains(.upper) { rule.steps.removeAll { $0 == .lower } }
        if next < names.count - 1, Bool.random(using: &random) {
          rule.columns.append(names[next])
          next += 1
        }
      }
      mapping.rules[field] = rule
    }
    if Bool.random(using: &random), !mapping.rules.values.contains(where: { $0.columns.contains("brand") }) {
      mapping.constants[.brand] = "ACME"
    }
    mapping.decimal = Bool.random(using: &random) ? comma : UInt8(ascii: ".")
    mapping.trueWords = [[], ["1"], ["Ja", "x"], ["是"]].randomElement(using: &random) ?? []
    mapping.dateFormat =
      [nil, "%d.%m.%Y", "%m/%d/%y %H:%M", "%Y%m%d", "%m/%d/%Y %I:%M:%S %p"].randomElement(using: &random) ?? nil
    mapping.delimiter = [nil, UInt8(ascii: ";"), 0x09, UInt8(ascii: "|")].randomElement(using: &random) ?? nil
    return mapping
  }

  /// A table with the columns of a mapping, and others.
  private static func foreignTable(_ mapping: RowMapping, _ random: inout SeededGenerator) -> String {
    var names: [(name: String, field: ProductField?)] = []
    for (field, rule) in mapping.rules.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      for name in rule.columns where !names.contains(where: { $0.name == name }) { names.append((name, field)) }
    }
    for name in ["Lager", "仓库", "x;y", "unit", "category"] where Bool.random(using: &random) {
      names.append((name, nil))
    }
    names.shuffle(using: &random)
    var style = RowCSV.Style()
    style.delimiter = mapping.delimiter ?? comma
    var csv: [UInt8] = []
    // Quoted, so that the separator is recognised.
    csv +=
      names.map { "\"" + $0.name.replacing("\"", with: "\"\"") + "\"" }
      .joined(separator: String(UnicodeScalar(style.delimiter))).utf8
    csv += "\r\n".utf8
    for number in 0..<Int.random(in: 1..<6, using: &random) {
      let cells = names.map { name, field in
        field == .id ? "\(number) é" : value(field, mapping, &random)
      }
      RowCSV.append(cells, to: &csv, style: style)
    }
    return String(decoding: csv, as: UTF8.self)
  }

  private static func value(
    _ field: ProductField?, _ mapping: RowMapping, _ random: inout SeededGenerator
  ) -> String {
    if Int.random(in: 0..<4, using: &random) == 0 { return "" }
    switch field {
    case .weight:
      let number = "\(Double(Int.random(in: -99999...99999, using: &random)) / 1000)"
      return mapping.decimal == comma ? number.replacing(".", with: ",") : number
    case .groupNum: return "\(Int.random(in: 0...9, using: &random))"
    case .isSaleProduct:
      let word = mapping.trueWords.last ?? "true"
      return Bool.random(using: &random) ? word : "false"
    case .createTime, .updateTime:
      switch mapping.dateFormat {
      case "%d.%m.%Y": return "1.\(Int.random(in: 1...12, using: &random)).2023"
      case "%m/%d/%y %H:%M": return "12/31/\(Int.random(in: 10...99, using: &random)) 7:05"
      case "%Y%m%d": return "20240229"
      case "%m/%d/%Y %I:%M:%S %p": return "1/5/2026 \(Int.random(in: 1...12, using: &random)):07:09 pm"
      default: return "2024-01-02"
      }
    default:
      return ["a", " B\tc ", "x;y", "\"q\"", "007", "=1", "Größe\nL", "品", "a,b|c"].randomElement(using: &random) ?? ""
    }
  }
}
