import CatalogRows
import Foundation
import RandomTestSupport
import RowTestSupport
import ServerAnswers
import Testing

@Suite struct PayloadDecoderTests {
  private func decode(_ json: String) -> Outcome {
    let bytes = Array(json.utf8)
    func run(_ size: Int) -> Outcome { Outcome(bytes, chunks: [size], allowsBarePayload: true) }
    let whole = run(.max)
    #expect(run(1) == whole)
    return whole
  }

  private func product(_ members: String) throws -> (row: [String: Any], summary: PayloadSummary) {
    let outcome = decode(payload(product: members))
    let summary = try #require(outcome.summary, "\(outcome.failure ?? "")")
    return (try #require(Collector(lines: outcome.lines).products.first), summary)
  }

  @Test func `a row without members has the defaults`() {
    let text =
      "{\"appProductVOList\":[{}],\"appProductRelVOList\":[{}],\"updateTime\":\"\"}"
    #expect(
      decode(text).lines == [
        "{\"type\":\"product\",\"barcode\":\"\",\"brand\":\"\",\"brandId\":\"\",\"category\":\"\",\"categoryId\":0,"
          + "\"createBy\":\"\",\"createTime\":\"\",\"delFlag\":0,\"groupNum\":1,\"id\":\"\",\"isGreeProduct\":false,"
          + "\"isGroupedProduct\":false,\"isMarketingProduct\":false,\"isSaleProduct\":false,\"length\":0.0,"
          + "\"name\":\"\",\"orgId\":\"\",\"skuCode\":\"\",\"tall\":0.0,\"unit\":\"\",\"updateBy\":\"\","
          + "\"updateTime\":\"\",\"volume\":0.0,\"weight\":0.0,\"wide\":0.0}",
        "{\"type\":\"relation\",\"groupNum\":0,\"id\":\"\",\"orgId\":\"\",\"productId\":\"\",\"subProductId\":\"\"}",
      ])
  }

  @Test func `extra is read whole, and written in one form`() {
    let lines = decode(
      payload(product: #""id":"a", "extra": {"b": 1.50, "a": {"id": "x", "y": [1, null]}}, "name":"n""#)
    ).lines
    #expect(lines.first?.hasSuffix(#""wide":0.0,"extra":{"a":{"id":"x","y":[1,null]},"b":1.50}}"#) == true, "\(lines)")
    #expect(lines.first?.contains(#""id":"a""#) == true && lines.first?.contains(#""name":"n""#) == true)
    let empty = decode(payload(product: #""extra":{},"id":"a""#))
    #expect(empty.lines.first?.contains("extra") == false && empty.summary?.defaulted.total == 0)
  }

  @Test(arguments: [
    "1", "\"x\"", "[1]", #"{"a":1,"a":2}"#, #"{"a":{"b":1,"b":1}}"#,
    #"{"a":"# + String(repeating: "[", count: 40) + String(repeating: "]", count: 40) + "}",
    #"{"a":""# + String(repeating: "x", count: 70_000) + "\"}",
  ])
  func `an extra that cannot be stored is left out and counted`(value: String) throws {
    let (row, summary) = try product("\"extra\":\(value),\"id\":\"a\"")
    #expect(row["extra"] == nil && row["id"] as? String == "a")
    #expect(summary.defaulted.extra == 1 && summary.defaulted.total == 1)
    #expect(summary.defaulted.byField.map(\.name) == ["product.extra"] && summary.defaulted.first?.field == "extra")
  }

  @Test(arguments: ["1", "true", "[\"x\"]", "{\"id\":\"x\"}", "1.5"])
  func `a text of another type is empty and counted`(value: String) throws {
    let (row, summary) = try product("\"name\":\(value),\"id\":\"a\"")
    #expect(row["name"] as? String == "")
    #expect(row["id"] as? String == "a")
    #expect(summary.defaulted[product: .name] == 1)
    #expect(summary.defaulted.total == 1)
    #expect(summary.defaulted.first?.field == "name")
    #expect(summary.defaulted.first?.row == 0)
  }

  @Test(arguments: ["\"2\"", "true", "2.5", "[2]", "{}", "9223372036854775808", "1e400", "1e-1"])
  func `an integer of another type is its default and counted`(value: String) throws {
    let (row, summary) = try product("\"groupNum\":\(value),\"delFlag\":\(value)")
    #expect(row["groupNum"] as? Int == 1)
    #expect(row["delFlag"] as? Int == 0)
    #expect(summary.defaulted[product: .groupNum] == 1)
    #expect(summary.defaulted[product: .delFlag] == 1)
    #expect(summary.defaulted.byField.map(\.name) == ["product.delFlag", "product.groupNum"])
  }

  @Test(arguments: [("2.0", 2), ("1e3", 1000), ("-0", 0), ("20e-1", 2)])
  func `an integer may be written with fraction and exponent`(value: String, expected: Int) throws {
    let (row, summary) = try product("\"groupNum\":\(value)")
    #expect(row["groupNum"] as? Int == expected)
    #expect(summary.defaulted.total == 0)
  }

  @Test(arguments: ["1", "0", "\"true\"", "[]"]) func `a Boolean is true or false only`(value: String) throws {
    let (row, summary) = try product("\"isGreeProduct\":\(value),\"isSaleProduct\":true")
    #expect(row["isGreeProduct"] as? Bool == false)
    #expect(row["isSaleProduct"] as? Bool == true)
    #expect(summary.defaulted[product: .isGreeProduct] == 1)
  }

  @Test(arguments: [("1e400", 0.0, 1), ("-1e-400", -0.0, 0), ("\"1.5\"", 0, 1), ("5", 5, 0), ("0.1", 0.1, 0)])
  func `doubles are rounded and an overflow is the default`(value: String, expected: Double, count: Int) {
    let outcome = decode(payload(product: "\"weight\":\(value)"))
    #expect(outcome.lines.first?.contains("\"weight\":\(expected),") == true)
    #expect(outcome.summary?.defaulted[product: .weight] == count)
  }

  @Test func `null is the default and not counted`() throws {
    let (row, summary) = try product("\"name\":null,\"groupNum\":null,\"weight\":null,\"isSaleProduct\":null")
    #expect(row["groupNum"] as? Int == 1)
    #expect(summary.defaulted.total == 0)
  }

  @Test func `of duplicate keys in a row the first counts`() throws {
    let (row, summary) = try product(
      "\"id\":\"a\",\"id\":\"b\",\"name\":null,\"name\":\"x\",\"unit\":3,\"unit\":\"y\",\"i\\u0064\":\"c\"")
    #expect(row["id"] as? String == "a")
    #expect(row["name"] as? String == "")
    #expect(row["unit"] as? String == "")
    #expect(summary.defaulted.total == 1)
  }

  @Test func `of duplicate keys at the top the first counts`() {
    let text =
      "{\"appProductVOList\":[{}],\"appProductRelVOList\":[],\"updateTime\":\"t\","
      + "\"appProductVOList\":[{},{}],\"updateTime\":7,\"appProductRelVOList\":3}"
    #expect(decode(text).summary?.products == 1)
    #expect(decode(text).summary?.updateTime == "t")
  }

  @Test func `unknown keys are skipped whatever they hold`() throws {
    let (row, summary) = try product(
      "\"x\":{\"id\":\"no\",\"y\":[{\"name\":1}]},\"idx\":1,\"i\":\"\",\"isMarketingProductIsLongerThan24\":true,\"id\":\"a\""
    )
    #expect(row["id"] as? String == "a")
    #expect(summary.defaulted.total == 0)
  }

  @Test func `the members of a row come in any order`() throws {
    var random = SeededGenerator(for: "the members of a row come in any order")
    var lines: [String] = []
    for _ in 0..<50 {
      let members = ProductField.allCases.shuffled(using: &random).map { field in
        let value =
          switch field.slot {
          case .text: "\"\(field.key)\""
          case .integer(let slot): "\(slot + 2)"
          case .flag: "true"
          case .double(let slot): "\(slot).5"
          }
        return "\"\(field.key)\":\(value)"
      }
      lines.append(try #require(decode(payload(product: members.joined(separator: ","))).lines.first))
    }
    #expect(Set(lines).count == 1)
    #expect(lines.first?.contains("\"weight\":3.5") == true)
  }

  @Test(arguments: ["null", "1", "\"x\"", "[]", "true"])
  func `a row that is no object refuses the payload`(row: String) {
    let outcome = decode("{\"appProductVOList\":[{},\(row)],\"appProductRelVOList\":[],\"updateTime\":\"t\"}")
    #expect(outcome.failure?.contains("row 1 (from 0) of appProductVOList at byte 24") == true)
  }

  @Test(arguments: [
    (
      "{\"appProductVOList\":{},\"appProductRelVOList\":[],\"updateTime\":\"t\"}",
      "an object instead of an array"
    ),
    (
      "{\"appProductVOList\":[],\"appProductRelVOList\":null,\"updateTime\":\"t\"}",
      "null instead of an array"
    ),
    ("{\"appProductVOList\":[],\"appProductRelVOList\":[],\"updateTime\":5}", "a number instead of a text"),
    ("{\"appProductVOList\":[],\"appProductRelVOList\":[]}", "no updateTime"),
    ("{\"appProductRelVOList\":[],\"updateTime\":\"\"}", "no appProductVOList"),
    ("{\"appProductVOList\":[{\"id\":\"a\"},{\"id\":}],", "in row 1 (from 0) of appProductVOList"),
    ("{\"appProductVOList\":[{\"id\":\"a\"},]", "a value was expected"),
    ("{\"updateTime\":\"a\"", "ends at byte 17"),
  ])
  func `a payload without the required keys is refused`(text: String, reason: String) {
    let failure = decode(text).failure ?? "accepted"
    #expect(failure.contains(reason), "\(failure)")
  }

  @Test func `half a surrogate pair is replaced and counted`() throws {
    let (row, summary) = try product("\"name\":\"a\\ud83d\"")
    #expect(row["name"] as? String == "a\u{FFFD}")
    #expect(summary.replacedSurrogates == 1)
  }

  @Test func `arbitrary bytes never trap`() {
    var random = SeededGenerator(for: "PayloadDecoderFuzz")
    let pieces = [
      "{", "}", "[", "]", ",", ":", "\"appProductVOList\":[", "\"appProductRelVOList\":[",
      "\"updateTime\":\"t\"",
      "\"id\":", "\"a\"", "1", "1e999", "null", "true", "\"weight\":", "\"\\ud83d\"", "\u{0}", " ",
      "{\"id\":\"a\"}",
    ]
    for _ in 0..<10_000 {
      let text =
        "{"
        + (0..<Int.random(in: 0..<14, using: &random)).map { _ in pieces.randomElement(using: &random)! }
        .joined()
      var decoder = PayloadDecoder()
      var sink = Collector()
      try? decoder.consume(Array(text.utf8).span, into: &sink)
      _ = try? decoder.finish()
    }
  }
}
