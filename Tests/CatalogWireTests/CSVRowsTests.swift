import CatalogRows
import CatalogWire
import RandomTestSupport
import Testing

@Suite struct CSVRowsTests {
  private struct Reading: Equatable {
    var lines: [String] = []
    var summary: RowLines.Summary?
    var failure: String?
  }

  private func read(_ bytes: [UInt8], limits: WireLimits = WireLimits()) -> Reading {
    func run(_ size: Int) -> Reading {
      var reader = CSVRows(limits: limits)
      var sink = Collector()
      var result = Reading()
      do throws(WireError) {
        var start = 0
        while start < bytes.count {
          let stop = min(bytes.count, start + size)
          try reader.consume(bytes.span.extracting(start..<stop), into: &sink)
          start = stop
        }
        result.summary = try reader.finish(into: &sink)
      } catch {
        result.failure = error.description
      }
      result.lines = sink.lines
      return result
    }
    let whole = run(1 << 20)
    #expect(run(1) == whole)
    #expect(run(7) == whole)
    return whole
  }

  private func read(_ text: String, limits: WireLimits = WireLimits()) -> Reading {
    read(Array(text.utf8), limits: limits)
  }

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
    let reading = read(csv)
    #expect(reading.failure == nil)
    #expect(reading.lines == expected.lines)
    #expect(reading.summary?.products == 300 && reading.summary?.relations == 300)
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

  @Test func `columns come in any order, missing ones take their defaults, and a mark is passed over`() {
    let reading = read("\u{FEFF}weight,id,isSaleProduct\n0.5,a,TRUE\n\n,\"b\",")
    #expect(reading.failure == nil && reading.summary?.products == 2)
    #expect(reading.lines.count == 2)
    #expect(reading.lines[0].contains("\"weight\":0.5") && reading.lines[0].contains("\"isSaleProduct\":true"))
    #expect(reading.lines[1].contains("\"id\":\"b\"") && reading.lines[1].contains("\"groupNum\":1"))
  }

  @Test(arguments: [
    ("", "Line 1, column 0: the names of the columns are missing"),
    ("barcode\n1\n", "the column id is missing"),
    ("id,nam\n", "Line 1, column 2: no row has a field \"nam\""),
    ("id,id\n", "Line 1, column 2: the column id is there twice"),
    ("id,name\na\n", "Line 2, column 2: 1 fields in a record where the first one names 2"),
    ("id,weight\na,1\nb,heavy\n", "Line 3, column 2: weight is no number"),
    ("id,weight\na,inf\n", "weight is no number"),
    ("id,groupNum\na,1.5\n", "Line 2, column 2: groupNum is no whole number"),
    ("id,isSaleProduct\na,1\n", "Line 2, column 2: isSaleProduct is neither true nor false"),
    ("type,id\nthing,a\n", "Line 2, column 1: type is neither product nor relation"),
    ("type,id,name\nrelation,a,b\n", "Line 2, column 3: name has a value, which a relation has not"),
    ("type,id,productId\nproduct,a,b\n", "Line 2, column 3: productId has a value, which a product has not"),
    ("id,name\na,\"b\"c\n", "Line 2, column 6: something between closing quotes and the next comma"),
    ("id,name\na,b\"c\n", "Line 2, column 4: quotes inside a field that does not begin with them"),
    ("id\na\rb\n", "Line 2, column 3: a carriage return without a line feed"),
    ("id,name\na,\"b\nc\n", "Line 4, column 0: the text ends inside of quotes that line 2 or a later one opened"),
    ("id,name\n\"a\nb\",\"c\nd\"\ne,f,g\n", "Line 5, column 6: 3 fields"),
  ])
  func `what is wrong is told with its place`(text: String, message: String) {
    let reading = read(text)
    #expect(reading.failure?.contains(message) == true, "\(reading.failure ?? "nothing")")
  }

  @Test func `bytes that are no text, and records without an end, are refused`() {
    #expect(read(Array("id\n".utf8) + [0xFF, 0x0A]).failure?.contains("Line 2, column 1: id is no UTF-8") == true)
    let limits = WireLimits(tokenByteCount: 10)
    #expect(
      read("id\n" + String(repeating: "x", count: 11), limits: limits).failure?.contains("longer than 10") == true)
    #expect(read("id\n" + String(repeating: "x", count: 10), limits: limits).failure == nil)
    #expect(
      read("id\n" + String(repeating: ",", count: 11), limits: limits).failure?.contains("longer than 10") == true)
  }
}
