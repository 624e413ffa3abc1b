import CatalogRows
import RandomTestSupport
import RowFiles
import RowTestSupport
import ServerAnswers
import Testing

/// Files of rows in both formats.
@Suite struct RowFileTests {
  @Test(arguments: [RowFileFormat.csv, .tsv])
  func `what is written for Excel reads back as it was`(format: RowFileFormat) throws {
    var random = SeededGenerator(for: "what is written for Excel reads back as it was")
    let characters = Array("='\"+-@,;\t\r\n07eEaé格 \u{FEFF}")
    var rows: [ProductRow] = []
    for number in 0..<400 {
      var row = ProductRow()
      row.texts.set(ProductText.id.rawValue, Array("\(number)".utf8).span)
      for field in [ProductText.name, .brand, .barcode] {
        let count = Int.random(in: 0..<8, using: &random) * (Int.random(in: 0..<8, using: &random) == 0 ? 64 : 1)
        let text = String((0..<count).map { _ in characters.randomElement(using: &random)! })
        row.texts.set(field.rawValue, Array(text.utf8).span)
      }
      rows.append(row)
    }
    var writer = RowFileWriter(format)
    writer.isForExcel = true
    var text: [UInt8] = []
    writer.appendHeader(to: &text)
    for row in rows { writer.append(row, to: &text) }
    var expected = Collector()
    for row in rows { try expected.product(row) }
    var rules = RowRules()
    rules.readsExcelTexts = true
    var reader = RowFileReader(format, rules: rules)
    var sink = Collector()
    try reader.consume(text.span, into: &sink)
    #expect(try reader.finish(into: &sink).rows == rows.count && reader.faultCount == 0)
    #expect(sink.lines == expected.lines)
  }

  @Test(arguments: RowFileFormat.allCases)
  func `what is written reads back as it was`(format: RowFileFormat) throws {
    var rows = RowGenerator(random: SeededGenerator(for: "RowFileTests"))
    let writer = RowFileWriter(format)
    var text: [UInt8] = []
    var expected = Collector()
    writer.appendHeader(to: &text)
    for _ in 0..<50 {
      let (product, relation) = (rows.product(), rows.relation())
      writer.append(product, to: &text)
      writer.append(relation, to: &text)
      try expected.product(product)
      try expected.relation(relation)
    }
    var rules = RowRules()
    rules.duplicates = .last
    rules.allowsEmptyIds = true
    var reader = RowFileReader(format, rules: rules)
    var sink = Collector()
    try reader.consume(text.span, into: &sink)
    #expect(try reader.finish(into: &sink).rows == 100 && reader.faultCount == 0)
    #expect(sink.lines == expected.lines)
  }

  @Test func `some fields of a product are a record or an object of their own, in their order`() throws {
    var row = ProductRow()
    row.texts.set(ProductText.name.rawValue, "a \"big\", red\r\nlamp")
    row.texts.set(ProductText.id.rawValue, "7")
    row.weight = 11.5
    row.length = .infinity
    var csv: [UInt8] = []
    RowCSV.append(["name", "id, or code"], to: &csv)
    RowCSV.append(row, [.name, .isSaleProduct, .length, .weight, .brand, .id], to: &csv)
    // One empty cell is not an empty line, which readers skip.
    RowCSV.append(row, [.brand], to: &csv)
    RowCSV.append([""], to: &csv)
    RowCSV.append(["", ""], to: &csv)
    #expect(
      String(decoding: csv, as: UTF8.self)
        == "name,\"id, or code\"\r\n\"a \"\"big\"\", red\r\nlamp\",false,,11.5,,7\r\n\"\"\r\n\"\"\r\n,\r\n")
    var json: [UInt8] = []
    RowJSON.append(row, [.weight, .id, .isSaleProduct], to: &json)
    RowJSON.append(row, [], to: &json)
    #expect(String(decoding: json, as: UTF8.self) == #"{"weight":11.5,"id":"7","isSaleProduct":false}{}"#)
  }

  @Test(
    arguments: [
      ("rows.csv", .csv), ("rows.CSV.gz", .csv), ("a/b.c/rows.ndjson", .ndjson), ("rows.jsonl.gz", .ndjson),
      ("rows", .ndjson), (".csv", .ndjson), ("rows.txt", nil), ("rows.xlsx.gz", nil), ("rows.gz", nil),
    ] as [(String, RowFileFormat?)])
  func `a file's name tells its format`(path: String, format: RowFileFormat?) {
    #expect(RowFileFormat(path: path) == format)
  }

  @Test func `faults are counted, and the summary stays after a refusal`() {
    var reader = RowFileReader(.csv)
    var sink = Collector()
    let text = Array("type,id,name\nproduct,1,a\nproduct,1,b\nnothing,2,c\n".utf8)
    #expect(throws: RowFileError.self) {
      try reader.consume(text.span, into: &sink)
      _ = try reader.finish(into: &sink)
    }
    #expect(reader.faultCount > 0)
    #expect(reader.summary.rows > 0)
  }
}
