import CatalogRows
import RandomTestSupport
import RowFiles
import RowTestSupport
import ServerAnswers
import Testing

@Suite struct CSVRowsTests {
  @Test func `what was written reads back the same`() throws {
    var rows = RowGenerator(random: SeededGenerator(for: "CSVRowsTests"))
    var csv: [UInt8] = []
    var expected = Collector()
    RowCSV.appendHeader(to: &csv)
    for _ in 0..<300 {
      let product = rows.product()
      RowCSV.append(product, to: &csv)
      try expected.product(product)
      let relation = rows.relation()
      RowCSV.append(relation, to: &csv)
      try expected.relation(relation)
    }
    var rules = RowRules()
    rules.allowsEmptyIds = true
    rules.duplicates = .last
    let reading = RowFileReading.csv(csv, rules: rules)
    #expect(reading.failures.isEmpty)
    #expect(reading.lines == expected.lines)
    #expect(reading.summary?.products == 300 && reading.summary?.relations == 300 && reading.summary?.rows == 600)
  }

  @Test func `texts with commas, quotes and line ends stand in quotes`() {
    var row = ProductRow()
    row.texts.set(ProductText.id.rawValue, "a")
    row.texts.set(ProductText.name.rawValue, "say \"hi\",\r\nthen go")
    var csv: [UInt8] = []
    RowCSV.append(row, to: &csv)
    #expect(String(decoding: csv, as: UTF8.self).contains(",\"say \"\"hi\"\",\r\nthen go\","))
    #expect(csv.suffix(2) == [0x0D, 0x0A])
  }

  @Test(arguments: ["sep=;\nid;name\n1;a,b\n", "\u{FEFF}sep=;\r\nid;name\r\n1;a,b"], [nil, UInt8(ascii: ";")])
  func `a line that declares the separator is no row`(text: String, delimiter: UInt8?) throws {
    var reader = CSVRows(mapping: RowMapping(), delimiter: delimiter)
    var sink = Collector()
    let bytes = Array(text.utf8)
    for byte in bytes { try reader.consume([byte].span, into: &sink) }
    let summary = try reader.finish(into: &sink)
    #expect(summary.products == 1 && summary.lines == 3, "\(summary)")
    #expect(sink.lines.first?.contains("\"name\":\"a,b\"") == true)
  }

  @Test(arguments: ["1;a,b\n", "sep=;\nid;name\n1;a,b\nx"])
  func `lines before the names of the columns are passed over`(end: String) throws {
    var mapping = RowMapping()
    mapping.skippedLines = 2
    let text = "\u{FEFF}Version=1,\"2\r\n,,;\"\n" + (end.hasPrefix("sep") ? end : "id;name\n" + end)
    for size in [1, 7, text.utf8.count] {
      var reader = CSVRows(mapping: mapping, delimiter: nil)
      var sink = Collector()
      let bytes = Array(text.utf8)
      for start in stride(from: 0, to: bytes.count, by: size) {
        try reader.consume(bytes[start..<min(start + size, bytes.count)].span, into: &sink)
      }
      let result = Result { () throws(RowFileError) in try reader.finish(into: &sink) }
      #expect(sink.lines.first?.contains("\"name\":\"a,b\"") == true, "\(sink.lines)")
      if end.hasSuffix("x") {
        // The lines of the file are counted, not those that are read.
        guard case .failure(.refused(let faults)) = result else {
          Issue.record("a record of one field was taken")
          continue
        }
        #expect(faults.first.map(\.line) == [6])
      } else {
        #expect(try result.get().lines == 4)
      }
    }
  }

  @Test func `a file without a line after those that are passed over has no columns`() throws {
    var mapping = RowMapping()
    mapping.skippedLines = 3
    var reader = CSVRows(mapping: mapping, delimiter: nil)
    var sink = Collector()
    try reader.consume(Array("id\n1\n".utf8).span, into: &sink)
    do throws(RowFileError) {
      _ = try reader.finish(into: &sink)
      Issue.record("it was taken")
    } catch {
      #expect("\(error)".contains("1 error"), "\(error)")
    }
  }

  @Test func `a zero byte is written in quotes, and is text there`() {
    var row = ProductRow()
    row.texts.set(ProductText.id.rawValue, "a")
    row.texts.set(ProductText.name.rawValue, "b\0c")
    var csv: [UInt8] = []
    RowCSV.appendHeader(to: &csv)
    RowCSV.append(row, to: &csv)
    let reading = RowFileReading.csv(csv)
    #expect(reading.failures.isEmpty)
    #expect(reading.lines.first?.contains("\"name\":\"b\\u0000c\"") == true, "\(reading.lines)")
  }

  @Test func `columns come in any order, missing ones take their defaults, and a mark is passed over`() {
    let reading = RowFileReading.csv("\u{FEFF}weight,id,isSaleProduct\n0.5,a,TRUE\n\n,\"b\",")
    #expect(reading.failures.isEmpty && reading.summary?.products == 2)
    #expect(reading.lines.count == 2)
    #expect(reading.lines[0].contains("\"weight\":0.5") && reading.lines[0].contains("\"isSaleProduct\":true"))
    #expect(reading.lines[1].contains("\"id\":\"b\"") && reading.lines[1].contains("\"groupNum\":1"))
  }

  @Test(arguments: [
    ("", ["Line 1: the names of the columns are missing"]),
    ("barcode,name\n1,\n", ["Line 1, column id: the column id is missing; add it"]),
    ("id,nam\na,b\n", ["Line 1, column 2 (nam): no row has a field of this name;"]),
    ("id,sku_code\na,b\n", ["Line 1, column 2 (sku_code): no row has a field of this name; rename it to \"skuCode\","]),
    ("id;name\na;b\n", ["separated by something else than a comma?", "Line 1, column 1 (id;name)"]),
    ("id,Name\na,b\n", ["Line 1, column 2 (Name): no row has a field of this name; rename it to \"name\","]),
    ("id,id\na,b\n", ["Line 1, column 2 (id): this column is there twice"]),
    ("id,name\na\n", ["Line 2: 1 field in a record where the first one names 2"]),
    ("id,weight\na,1\nb,heavy\n", ["Line 3, column 2 (weight), value \"heavy\": this is not a number"]),
    ("id,weight\na,inf\n", ["Line 2, column 2 (weight), value \"inf\": this is not a number"]),
    ("id,weight\na,0x10\nb,1e999\n", ["value \"0x10\": this is not a number", "Line 3, column 2 (weight)"]),
    ("id,groupNum\na,1.5\n", ["Line 2, column 2 (groupNum), value \"1.5\": this is not a whole number"]),
    ("id,isSaleProduct\na,1\n", ["Line 2, column 2 (isSaleProduct), value \"1\": this is neither true nor false"]),
    ("type,id\nthing,a\n", ["Line 2, column 1 (type), value \"thing\": a row is a product, a relation or a code"]),
    (
      "type,id,name,productId,subProductId\nrelation,a,b,c,d\n",
      ["Line 2, column 3 (name), value \"b\": a relation has no field of this name"]
    ),
    ("type,id,productId\nproduct,a,b\n", ["Line 2, column 3 (productId), value \"b\": a product has no field"]),
    ("id,name\na,\"b\"c\n", ["Line 2, column 2 (name), value \"b\": something between closing quotes"]),
    ("id,name\na,b\"c\n", ["Line 2, column 2 (name), value \"b\": quotes inside a field that does not begin"]),
    ("id\na\rb\n", ["Line 2, column 1 (id), value \"a\": a carriage return without a line feed"]),
    (
      "id,name\na,\"b\nc\n",
      ["Line 4, column 2 (name), value \"b\nc\n\": the text ends inside of the quotes that line 2 opens"]
    ),
    ("id,name\n\"a\nb\",\"c\nd\"\ne,f,g\n", ["Line 5: 3 fields"]),
    ("id,name,weight\n\"a\nb\",\"c\nd\",x\n", ["Line 4, column 3 (weight), value \"x\""]),
    (
      "id,name\na,b\0c\0\nb,\0\n",
      ["Line 2, column 2 (name)", "Line 3, column 2 (name), value \"\0\": this has a zero byte"]
    ),
    ("name,id\nb,\n", ["Line 2, column 2 (id): a product needs an id"]),
    ("id\na\nb\na\na\n", ["Line 4, column 1 (id), value \"a\": line 2 has this id too", "Line 5"]),
    ("type,id\nrelation,a\n", ["Line 2, column productId: a relation needs", "Line 2, column subProductId"]),
  ])
  func `what is wrong is told with line, column and value`(text: String, messages: [String]) {
    let reading = RowFileReading.csv(text)
    #expect(reading.failures.count == messages.count, "\(reading.failures)")
    for (failure, message) in zip(reading.failures, messages) { #expect(failure.contains(message), "\(failure)") }
  }

  @Test func `bytes that are no text, and records without an end, are refused`() {
    let cut = RowFileReading.csv(Array("id\n".utf8) + [0xFF, 0x0A])
    #expect(cut.failures.first?.contains("Line 2, column 1 (id), value \"\u{FFFD}\": this is not UTF-8") == true)
    let limits = WireLimits(tokenByteCount: 10)
    func failures(_ text: String) -> [String] { RowFileReading.csv(Array(text.utf8), limits: limits).failures }
    #expect(failures("id\n" + String(repeating: "x", count: 11)).first?.contains("longer than 10") == true)
    #expect(failures("id\n" + String(repeating: "x", count: 10)).isEmpty)
    #expect(failures("id\n" + String(repeating: ",", count: 11)).first?.contains("longer than 10") == true)
  }
}
