import RowTestSupport
import ServerAnswers
import Testing

/// Keys of a product, beyond the 25, that are kept because they are named.
@Suite struct ExtraKeysTests {
  private func decode(_ members: String, _ keys: Set<String>) -> Outcome {
    let bytes = Array(payload(product: members).utf8)
    let whole = Outcome(bytes, allowsBarePayload: true, extraKeys: keys)
    for sizes in [[1], [5], [31, 2]] {
      #expect(Outcome(bytes, chunks: sizes, allowsBarePayload: true, extraKeys: keys) == whole)
    }
    let packed = envelope(payload(product: members))
    #expect(Outcome(packed, extraKeys: keys, onTwoThreads: true).lines == whole.lines)
    return whole
  }

  private func extra(_ members: String, _ keys: Set<String>) throws -> (json: String?, summary: PayloadSummary) {
    let outcome = decode(members, keys)
    let summary = try #require(outcome.summary, "\(outcome.failure ?? "")")
    let parts = try #require(outcome.lines.first).split(separator: #","extra":"#, omittingEmptySubsequences: false)
    return (parts.count > 1 ? String(parts[1].dropLast()) : nil, summary)
  }

  @Test func `a named key is kept, in one form, and others are skipped`() throws {
    let (json, summary) = try extra(
      #""price": 1.50,"id":"a","color":"r\u00e9d","list":[1, {"b":2,"a":null}],"on":true,"size":{"w": 1},"other":3"#,
      ["price", "color", "list", "on", "size", "missing"])
    #expect(json == #"{"color":"réd","list":[1,{"a":null,"b":2}],"on":true,"price":1.50,"size":{"w":1}}"#)
    #expect(summary.defaulted.total == 0)
    #expect(try extra(#""price":1,"id":"a""#, []).json == nil)
    #expect(try extra(#""id":"a""#, ["price"]).json == nil)
  }

  @Test func `null is no value, and of a key that comes twice the first counts`() throws {
    #expect(try extra(#""price":null"#, ["price"]).json == nil)
    #expect(try extra(#""price":null,"price":2"#, ["price"]).json == nil)
    #expect(try extra(#""price":1,"price":2,"pr\u0069ce":3"#, ["price"]).json == #"{"price":1}"#)
  }

  @Test func `a member of the row's extra comes before a key beside it`() throws {
    let expected = #"{"a":1,"b":3}"#
    #expect(try extra(#""extra":{"a":1},"a":2,"b":3"#, ["a", "b"]).json == expected)
    #expect(try extra(#""a":2,"b":3,"extra":{"a":1}"#, ["a", "b"]).json == expected)
    #expect(try extra(#""a":2,"extra":null"#, ["a"]).json == #"{"a":2}"#)
    #expect(try extra(#""a":2,"extra":{}"#, ["a"]).json == #"{"a":2}"#)
  }

  @Test func `a wrong type after a key that is kept is counted under its own field`() throws {
    let (json, summary) = try extra(#""price":null,"name":1,"on":[1],"unit":{"x":1},"weight":"x""#, ["price", "on"])
    #expect(json == #"{"on":[1]}"#)
    #expect(summary.defaulted.byField.map(\.name) == ["product.name", "product.unit", "product.weight"])
  }

  @Test(arguments: [
    #"{"a":1,"a":2}"#, "\"" + String(repeating: "x", count: 70_000) + "\"",
    String(repeating: "[", count: 40) + String(repeating: "]", count: 40),
  ])
  func `a value that cannot be kept is left out and counted, alone`(value: String) throws {
    let (json, summary) = try extra(#""bad":\#(value),"good":1,"id":"a""#, ["bad", "good"])
    #expect(json == #"{"good":1}"#)
    #expect(summary.defaulted.extra == 1 && summary.defaulted.total == 1)
  }

  @Test func `keys that make the row's extra too large are left out, and the rest stays`() throws {
    let half = String(repeating: "x", count: 40_000)
    let (json, summary) = try extra(#""extra":{"a":"\#(half)"},"b":"\#(half)","id":"p""#, ["b"])
    #expect(json == #"{"a":"\#(half)"}"#)
    #expect(summary.defaulted.extra == 1)
    // An extra that is refused does not take the named keys with it.
    #expect(try extra(#""extra":[1],"b":2"#, ["b"]).json == #"{"b":2}"#)
  }

  @Test func `a row does not inherit from the one before it`() {
    let text =
      #"{"appProductVOList":[{"id":"a","price":1,"extra":{"x":1}},{"id":"b"},{"id":"c","price":3}],"#
      + #""appProductRelVOList":[{"price":1}],"updateTime":"t"}"#
    let outcome = Outcome(Array(text.utf8), allowsBarePayload: true, extraKeys: ["price"])
    let endings = outcome.lines.map { $0.contains("extra") ? $0.split(separator: "extra").last.map(String.init) : nil }
    #expect(endings == [#"":{"price":1,"x":1}}"#, nil, #"":{"price":3}}"#, nil])
  }

  @Test func `a key is compared byte by byte, however long it is`() throws {
    let long = String(repeating: "k", count: 300)
    let keys: Set = ["é", long, ""]
    #expect(
      try extra(#""e\u0301":1,"é":2,"\#(long)":3,"\#(long)x":4,"":5"#, keys).json == #"{"":5,"\#(long)":3,"é":2}"#)
  }
}
