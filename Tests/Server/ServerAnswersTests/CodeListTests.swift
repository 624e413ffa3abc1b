import Barcodes
import CatalogRows
import RowTestSupport
import ServerAnswers
import Testing

/// The optional list of codes in a payload.
@Suite struct CodeListTests {
  private func decode(_ list: String) -> Outcome {
    let text = #"{"appProductVOList":[{"id":"p"}],"appProductRelVOList":[],"updateTime":"t"\#(list)}"#
    let whole = Outcome(Array(text.utf8), allowsBarePayload: true)
    for sizes in [[1], [7], [64, 3]] {
      #expect(Outcome(Array(text.utf8), chunks: sizes, allowsBarePayload: true) == whole)
    }
    #expect(Outcome(envelope(text), onTwoThreads: true).lines == whole.lines)
    return whole
  }

  private func code(_ members: String) throws -> (line: String, summary: PayloadSummary) {
    let outcome = decode(#","appProductCodeVOList":[{\#(members)}]"#)
    let summary = try #require(outcome.summary, "\(outcome.failure ?? "")")
    #expect(summary.codes == 1 && summary.hasCodes)
    return (try #require(outcome.lines.last), summary)
  }

  @Test func `a code is read with all its fields`() throws {
    let (line, summary) = try code(
      #""id":"c1","productId":"p","barcode":"16910884277929","quantity":24,"unit":"case","kind":"carton","x":[{}]"#)
    #expect(
      line
        == #"{"type":"code","code":"16910884277929","id":"c1","kind":"carton","productId":"p","quantity":24,"unit":"case"}"#
    )
    #expect(summary.defaulted.total == 0)
  }

  @Test func `a code without members has the defaults`() throws {
    let (line, summary) = try code("")
    #expect(line == #"{"type":"code","code":"","id":"","kind":"","productId":"","quantity":1,"unit":""}"#)
    #expect(summary.defaulted.total == 0)
  }

  @Test func `null is the default and not counted`() throws {
    let (line, summary) = try code(
      #""id":null,"productId":null,"barcode":null,"quantity":null,"unit":null,"kind":null"#)
    #expect(line.contains(#""quantity":1,"#) && summary.defaulted.total == 0)
  }

  @Test(arguments: [
    ("1", "1"), ("24", "24"), ("2.50", "2.5"), ("1e2", "100"), ("0.125", "0.125"), ("\"6\"", "6"), ("\"0.5\"", "0.5"),
    ("123456789012345678", "123456789012345678"), ("5E-1", "0.5"), ("\"+3\"", "3"),
  ])
  func `a quantity is an exact decimal, as a number or as a text`(value: String, expected: String) throws {
    let (line, summary) = try code("\"quantity\":\(value),\"barcode\":\"1\"")
    #expect(line.contains("\"quantity\":\(expected),"), "\(line)")
    #expect(summary.defaulted.total == 0)
  }

  @Test(arguments: [
    "0", "-1", "0.0", "\"\"", "\"six\"", "\" 6\"", "\"1,5\"", "1e400", "1e19", "1234567890123456789", "true", "[6]",
    #"{"value":6}"#, "0.0000000000000000001", "\"0x10\"", "\"NaN\"",
  ])
  func `a quantity that is none is 1 and counted`(value: String) throws {
    let (line, summary) = try code("\"quantity\":\(value),\"barcode\":\"1\"")
    #expect(line.contains(#""code":"1""#) && line.contains(#""quantity":1,"#), "\(line)")
    #expect(summary.defaulted[code: .quantity] == 1 && summary.defaulted.total == 1)
    #expect(summary.defaulted.byField.map(\.name) == ["code.quantity"])
    #expect(summary.defaulted.first?.list == .codes && summary.defaulted.first?.field == "quantity")
  }

  @Test(arguments: [CodeField.id, .productId, .code, .unit, .kind], ["1", "true", "[\"x\"]", #"{"a":"x"}"#])
  func `a text of another type is empty and counted`(field: CodeField, value: String) throws {
    let (line, summary) = try code("\"\(field.payloadKey)\":\(value),\"quantity\":2")
    #expect(line.contains("\"\(field.key)\":\"\"") && line.contains(#""quantity":2,"#), "\(line)")
    #expect(summary.defaulted[code: field] == 1 && summary.defaulted.total == 1)
    #expect(summary.defaulted.byField.map(\.name) == ["code.\(field.payloadKey)"])
  }

  @Test func `of duplicate keys the first counts, under both names of the code`() throws {
    let (line, summary) = try code(#""barcode":"1","code":"2","quantity":"x","quantity":3,"id":null,"id":"i""#)
    #expect(line == #"{"type":"code","code":"1","id":"","kind":"","productId":"","quantity":1,"unit":""}"#)
    #expect(summary.defaulted.total == 1)
    #expect(try code(#""code":"2","barcode":"1""#).line.contains(#""code":"2""#))
  }

  @Test func `an absent list is told from an empty one`() {
    #expect(decode("").summary?.hasCodes == false)
    #expect(decode(#","appProductCodeVOList":null"#).summary?.hasCodes == false)
    #expect(decode(#","appProductCodeVOList":[]"#).summary?.hasCodes == true)
    #expect(decode(#","appProductCodeVOList":[]"#).summary?.codes == 0)
    // Of a key that comes twice the first counts, here too.
    let twice = decode(#","appProductCodeVOList":null,"appProductCodeVOList":[{"barcode":"1"}]"#)
    #expect(twice.summary?.hasCodes == false && twice.summary?.codes == 0)
    #expect(decode(#","appProductCodeVOList":[{}],"appProductCodeVOList":7"#).summary?.codes == 1)
  }

  @Test func `the list may stand anywhere`() {
    let rows = [
      #""appProductVOList":[{"id":"p"}]"#, #""appProductRelVOList":[{"id":"r"}]"#, #""updateTime":"t""#,
      #""appProductCodeVOList":[{"id":"c"},{"id":"d"}]"#,
    ]
    for first in rows.indices {
      let order = rows[first...] + rows[..<first]
      let outcome = Outcome(Array("{\(order.joined(separator: ","))}".utf8), allowsBarePayload: true)
      #expect(outcome.summary?.products == 1 && outcome.summary?.relations == 1 && outcome.summary?.codes == 2)
      #expect(outcome.lines.count == 4)
    }
  }

  @Test(arguments: [
    ("{}", "appProductCodeVOList at byte", "an object instead of an array"),
    ("\"\"", "appProductCodeVOList at byte", "a text instead of an array"),
    ("false", "appProductCodeVOList at byte", "a Boolean instead of an array"),
    ("[{},1]", "row 1 (from 0) of appProductCodeVOList", "a number instead of an object"),
    ("[null]", "row 0 (from 0) of appProductCodeVOList", "null instead of an object"),
    ("[{\"id\":}]", "in row 0 (from 0) of appProductCodeVOList", "not JSON"),
  ])
  func `a list that is none refuses the payload`(value: String, place: String, reason: String) {
    let failure = decode(",\"appProductCodeVOList\":\(value)").failure ?? "accepted"
    #expect(failure.contains(place) && failure.contains(reason), "\(failure)")
  }

  @Test func `codes count as rows`() {
    let text =
      #"{"appProductCodeVOList":[{},{},{}],"appProductVOList":[{}],"appProductRelVOList":[{}],"updateTime":"t"}"#
    func read(_ limit: Int) -> Outcome {
      Outcome(Array(text.utf8), limits: WireLimits(absoluteRowCount: limit), allowsBarePayload: true)
    }
    #expect(read(5).failure == nil)
    #expect(read(4).failure?.contains("more than 4 rows") == true)
  }

  @Test func `a sink that takes no code names the row`() throws {
    var decoder = PayloadDecoder()
    var sink = Collector(capacity: 1)
    let text = #"{"appProductVOList":[{}],"appProductCodeVOList":[{"id":"c7"}]"#
    do throws(WireError) {
      try decoder.consume(Array(text.utf8).span, into: &sink)
      Issue.record("the sink's error is lost")
    } catch {
      #expect(error.description.contains(#"row 0 (from 0) of appProductCodeVOList, id "c7""#), "\(error)")
    }
  }

  // MARK: The encoder

  private func codeRow(_ id: String, quantity: ExactDecimal) -> CodeRow {
    var row = CodeRow()
    row.texts.set(CodeText.id.rawValue, id)
    row.texts.set(CodeText.productId.rawValue, "p\"1")
    row.texts.set(CodeText.code.rawValue, "16910884277929")
    row.texts.set(CodeText.unit.rawValue, "case")
    row.texts.set(CodeText.kind.rawValue, "箱")
    row.quantity = quantity
    return row
  }

  @Test func `what is encoded is decoded again`() throws {
    let rows = [ExactDecimal(24), ExactDecimal(1), ExactDecimal(5, decimals: 1), ExactDecimal(2500, decimals: 3)]
      .enumerated().map { codeRow("c\($0)", quantity: $1) }
    let encoder = PayloadEncoder()
    var expected = Collector()
    for row in rows {
      encoder.code(row)
      try expected.code(row)
    }
    encoder.finish(updateTime: "t")
    let outcome = Outcome(encoder.takeOutput())
    #expect(outcome.lines == expected.lines)
    #expect(outcome.summary?.codes == 4 && outcome.summary?.defaulted.total == 0)
  }

  @Test func `the list is written where there are codes, or where it is asked for`() {
    func text(_ fill: (PayloadEncoder) -> Void) -> String {
      let encoder = PayloadEncoder(form: .plain)
      fill(encoder)
      encoder.finish(updateTime: "t")
      return String(decoding: encoder.takeOutput(), as: UTF8.self)
    }
    #expect(text { _ in } == #"{"appProductRelVOList":[],"appProductVOList":[],"updateTime":"t"}"#)
    #expect(
      text { $0.writesCodes = true }
        == #"{"appProductRelVOList":[],"appProductVOList":[],"appProductCodeVOList":[],"updateTime":"t"}"#)
    #expect(
      text { $0.code(codeRow("c", quantity: ExactDecimal(24))) }
        == #"{"appProductCodeVOList":[{"id":"c","productId":"p\"1","barcode":"16910884277929","quantity":24,"unit":"case","#
        + #""kind":"箱"}],"appProductRelVOList":[],"appProductVOList":[],"updateTime":"t"}"#)
  }
}
