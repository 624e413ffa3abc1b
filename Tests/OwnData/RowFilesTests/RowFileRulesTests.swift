import CatalogRows
import RandomTestSupport
import RowTestSupport
import Testing
@testable import RowFiles
@testable import ServerAnswers

/// The rules for a person's own files, which are the same whatever the format.
@Suite struct RowFileRulesTests {
  @Test func `a dump reads back, in both formats to the same rows`() throws {
    var rows = RowGenerator(random: SeededGenerator(for: "RowFileRulesTests"))
    var dump = Collector()
    var csv: [UInt8] = []
    RowCSV.appendHeader(to: &csv)
    for _ in 0..<200 {
      let (product, relation) = (rows.product(), rows.relation())
      try dump.product(product)
      try dump.relation(relation)
      RowCSV.append(product, to: &csv)
      RowCSV.append(relation, to: &csv)
    }
    var rules = RowRules()
    rules.allowsEmptyIds = true
    rules.duplicates = .last
    let lines = RowFileReading.ndjson(dump.lines.joined(separator: "\n") + "\n", rules: rules)
    #expect(lines.failures.isEmpty && lines.lines == dump.lines)
    #expect(RowFileReading.csv(csv, rules: rules).lines == dump.lines)
    #expect(lines.summary?.rows == 400 && lines.summary?.lines == 400)
  }

  @Test func `a number where a text is expected is taken by its literal text`() {
    let reading = RowFileReading.ndjson(
      """
      {"id":101,"barcode":6901234567892,"name":1.50,"skuCode":1e3,"unit":-0}
      {"type":"relation","id":7,"productId":101,"subProductId":1020304050607080901020304050607080901,"groupNum":"3"}
      """)
    #expect(reading.failures.isEmpty)
    #expect(reading.lines[0].contains(#""barcode":"6901234567892""#) && reading.lines[0].contains(#""id":"101""#))
    #expect(reading.lines[0].contains(#""name":"1.50""#) && reading.lines[0].contains(#""skuCode":"1e3""#))
    #expect(reading.lines[0].contains(#""unit":"-0""#))
    #expect(
      reading.lines[1]
        == #"{"type":"relation","groupNum":3,"id":"7","orgId":"","productId":"101","subProductId":"1020304050607080901020304050607080901"}"#
    )
  }

  @Test func `texts are taken for numbers and Booleans, and nothing is the default`() {
    let json = RowFileReading.ndjson(
      #"{"id":"a","weight":"1.50","groupNum":"2.0","categoryId":"-9223372036854775808","isSaleProduct":"TRUE","wide":"","tall":null}"#
    )
    let csv = RowFileReading.csv(
      "id,weight,groupNum,categoryId,isSaleProduct,wide,tall\na,1.50,2.0,-9223372036854775808,TRUE,,\n")
    #expect(json.failures.isEmpty && json.lines == csv.lines)
    #expect(json.lines[0].contains(#""weight":1.5,"#) && json.lines[0].contains(#""groupNum":2,"#))
    #expect(json.lines[0].contains(#""categoryId":-9223372036854775808,"#))
  }

  @Test func `rows without an id can be left out`() {
    var rules = RowRules()
    rules.missingIDs = .ignore
    let reading = RowFileReading.csv("id,weight\na,1\n,heavy\n,\n", rules: rules)
    #expect(reading.failures.isEmpty && reading.summary?.products == 1 && reading.summary?.withoutID == 2)
  }

  @Test func `a key of a rule that no row has is an error if another one may be meant`() throws {
    func faults(_ column: String, _ rows: String) throws -> [String] {
      var mapping = RowMapping()
      mapping.rules[.name] = RowMapping.Rule(columns: [column])
      var rules = RowRules()
      rules.unknownKeys = .ignore
      var reader = RowFileReader(.ndjson, rules: rules, mapping: mapping)
      var sink = Collector()
      let bytes = Array(rows.utf8)
      try reader.consume(bytes.span, into: &sink)
      do throws(RowFileError) { _ = try reader.finish(into: &sink) } catch {
        guard case .refused(let faults) = error else { throw error }
        return faults.first.map(\.description)
      }
      #expect(reader.columns.first { $0.name == column }?.isAbsent == !rows.contains("\"\(column)\""))
      return []
    }
    let row = #"{"id":"1","title":"Mug"}"#
    #expect(try faults("titel", row).first?.contains("is \"title\" meant?") == true)
    #expect(try faults("titel", "[" + row + "]").count == 1)
    #expect(try faults("title.en", #"{"id":"1","title":{"en":"Mug"}}"#).first?.contains("inside of \"title\"") == true)
    #expect(try faults("title", row).isEmpty && faults("colour", row).isEmpty && faults("titel", "").isEmpty)
  }

  @Test(arguments: [
    (#"{"name":"a"}"#, "Line 1, column id: a product needs an id"),
    (#"{"id":null}"#, "Line 1, column id: a product needs an id"),
    (#"{"id":""}"#, "--allow-empty-id"),
    (#"{"id":"a","colour":"red"}"#, "Line 1, column colour, value \"red\": a product has no field of this name"),
    (#"{"id":"a","colour":{"a":[1]}}"#, "Line 1, column colour, value \"{…}\""),
    (#"{"id":"a","productId":"b"}"#, "Line 1, column productId, value \"b\": a product has no field of this name"),
    (#"{"id":"a","productId":"b"}"#, "only a relation has; give the row the type \"relation\" if it is one"),
    (#"{"type":"product","id":"a","productId":"b"}"#, "only a relation has; remove it"),
    (
      #"{"type":"relation","id":"a","productId":"p","subProductId":"s","name":"x"}"#,
      "Line 1, column name, value \"x\": a relation has no field of this name, only a product has; remove it"
    ),
    (#"{"id":"a","Name":"x"}"#, "a product has no field of this name; rename it to \"name\", remove it, leave"),
    (
      #"{"type":"relation","id":"a","productId":"p","subProductId":"s","Name":"x"}"#,
      "a relation has no field of this name; remove it, or"
    ),
    (#"{"id":"a","id":"b"}"#, "Line 1, column id, value \"a\": this key is in the row twice"),
    ("{\"id\":\"a\"}\n\n{\"id\":\"a\"}", "Line 3, column id, value \"a\": line 1 has this id too"),
    (#"{"id":"a","weight":"heavy"}"#, "Line 1, column weight, value \"heavy\": this is not a number"),
    (#"{"id":"a","weight":true}"#, "Line 1, column weight, value \"true\": this is not a number"),
    (#"{"id":"a","name":{"b":1}}"#, "Line 1, column name, value \"{…}\": an object where a text is expected"),
    (#"{"id":"a","name":["b"]}"#, "an array where a text is expected"),
    (#"{"id":"a","name":false}"#, "Line 1, column name, value \"false\": true or false where a text is expected"),
    (#"{"id":"a","groupNum":2.5}"#, "Line 1, column groupNum, value \"2.5\": this is not a whole number"),
    (#"{"id":"a","isSaleProduct":1}"#, "Line 1, column isSaleProduct, value \"1\": this is neither true nor false"),
    (#"{"id":"a","type":"thing"}"#, "Line 1, column type, value \"thing\": a row is a product, a relation or a code"),
    (#"{"type":"relation","id":"a","subProductId":"b"}"#, "Line 1, column productId: a relation needs"),
    (#"{"id":"\ud800"}"#, "Line 1: a \\u escape is half of a character"),
    (#"[{"id":"a"}]"#, "Line 1, value \"[{\"id\":\"a\"}]\": this is an array instead of an object"),
    (#"{"id":"a"} {"id":"b"}"#, "Line 1, value"),
    ("PK\u{3}\u{4}", "this looks like a spreadsheet"),
  ])
  func `what is wrong is told with line, column, value and remedy`(text: String, message: String) {
    let reading = RowFileReading.ndjson(text)
    #expect(reading.failures.count == 1 && reading.failures[0].contains(message), "\(reading.failures)")
    #expect(reading.summary == nil)
  }

  @Test func `an id that is no text is one fault, and not a duplicate of another one`() {
    let lines = [#"{"id":[1]}"#, #"{"id":{"a":1}}"#, #"{"id":[1]}"#, #"{"id":true}"#, #"{"id":true}"#]
    let reading = RowFileReading.ndjson(lines.joined(separator: "\n"))
    #expect(reading.faults?.count == 5 && reading.faults?[.value] == 5, "\(reading.failures)")
  }

  @Test func `the first faults are kept, and all are counted`() {
    let bad = (0..<30).map { "{\"colour\":\($0)}\n" }.joined()
    let reading = RowFileReading.ndjson("{\"id\":1}\n" + bad + "{\"id\":2}\n")
    let faults = reading.faults
    #expect(faults?.count == 60 && faults?.first.count == 20)
    #expect(faults?[.missingId] == 30 && faults?[.unknownKey] == 30 && faults?.summary.rows == 32)
    #expect(faults?.first.first?.line == 2)
    #expect(
      faults?.description
        == "60 errors in 32 rows: 30 rows without an id, 30 unknown keys; the first 20 are shown")
  }

  @Test func `what is meant that way is accepted and counted`() {
    var rules = RowRules()
    rules.duplicates = .last
    rules.unknownKeys = .ignore
    let lines = RowFileReading.ndjson(
      "{\"id\":1,\"name\":\"a\",\"colour\":1}\n{\"id\":1,\"name\":\"b\",\"size\":{\"x\":2}}\n{\"id\":2,\"productId\":3}",
      rules: rules)
    #expect(lines.failures.isEmpty && lines.summary?.duplicates == 1 && lines.summary?.rows == 3)
    #expect(lines.summary?.ignored == ["colour": 1, "size": 1, "productId": 1])
    let csv = RowFileReading.csv("id,name,colour,size,productId\n1,a,1,,\n1,b,,x,\n2,,,,3\n", rules: rules)
    #expect(csv.lines == lines.lines && csv.summary?.ignored == lines.summary?.ignored)
    #expect(csv.summary?.duplicates == 1)
    rules.allowsEmptyIds = true
    #expect(RowFileReading.ndjson(#"{"id":""}"#, rules: rules).failures.isEmpty)
    #expect(RowFileReading.ndjson("{}", rules: rules).failures.count == 1)
  }

  @Test func `relations may share an id, or lack one, as a server's may`() {
    let row = #"{"type":"relation","id":"","productId":"a","subProductId":""}"#
    let reading = RowFileReading.ndjson(row + "\n" + row)
    #expect(reading.failures.isEmpty && reading.summary?.relations == 2)
  }

  @Test func `a mark at the beginning is passed over, and lines have an end`() {
    #expect(RowFileReading.ndjson("\u{FEFF}{\"id\":1}\r\n").summary?.products == 1)
    let limits = WireLimits(tokenByteCount: 10)
    let long = RowFileReading.ndjson(Array("{\"id\":1}\n{\"id\":\"aaaa\"}\n".utf8), limits: limits)
    #expect(long.failures == ["Line 2: longer than 10 bytes; end each line with a line feed"])
  }

  @Test func `a sink may refuse a row, and the longest text is named`() {
    struct Narrow: RowSink {
      func product(_ row: borrowing ProductRow) throws { throw RowRefusal("too long") }
      func relation(_ row: borrowing RelationRow) throws {}
      func code(_ row: borrowing CodeRow) throws {}
    }
    var reader = NDJSONRows()
    var sink = Narrow()
    #expect(throws: RowFileError.self) {
      try reader.consume(Array(#"{"id":"a","name":"bcd"}"#.utf8).span, into: &sink)
      _ = try reader.finish(into: &sink)
    }
    #expect(reader.faultCount == 1)
  }

  @Test func `ids are told apart, and the first line of each is remembered`() {
    var random = SeededGenerator(for: "RowIDs")
    var ids = RowIDs()
    var lines: [[UInt8]: Int] = [:]
    for line in 1...20_000 {
      let id = Array(String(Int.random(in: 0..<12_000, using: &random)).utf8)
      #expect(ids.insert(id.span, line: line) == lines[id])
      if lines[id] == nil { lines[id] = line }
    }
  }

  @Test func `numbers as text are those that the standard library reads`() {
    var random = SeededGenerator(for: "NumberText")
    for _ in 0..<20_000 {
      let scale = Int.random(in: -6...25, using: &random)
      let digits = String(UInt64.random(in: 0...UInt64.max, using: &random)).suffix(
        Int.random(in: 1...20, using: &random))
      var text = (Bool.random(using: &random) ? "-" : "") + digits
      if scale > 0, scale < digits.count { text.insert(".", at: text.index(text.endIndex, offsetBy: -scale)) }
      if scale < -4 { text += "e\(scale)" }
      let bytes = Array(text.utf8)
      #expect(NumberText.double(bytes.span)?.bitPattern == Double(text)?.bitPattern, "\(text)")
      if let value = Int64(text) { #expect(NumberText.integer(bytes.span) == value, "\(text)") }
    }
    for text in ["", "-", ".", "1 ", "nan", "inf", "0x1", "1,5", "1e400", "--1", "9223372036854775808", "1e19"] {
      #expect(NumberText.integer(Array(text.utf8).span) == nil, "\(text)")
    }
    for text in ["", "-", "1 ", "nan", "inf", "0x1", "1,5", "1e400", "--1"] {
      #expect(NumberText.double(Array(text.utf8).span) == nil, "\(text)")
    }
    #expect(NumberText.integer(Array("1e3".utf8).span) == 1000)
    #expect(NumberText.integer(Array("-2.00".utf8).span) == -2)
  }
}
