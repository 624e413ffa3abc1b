import CatalogRows
import Testing

@Suite struct TextRowTests {
  @Test func `texts are kept apart, and an empty one stays empty after a longer row`() {
    var row = TextRow(count: 3)
    row.set(0, "格力")
    row.set(2, Array("b".utf8).span)
    #expect([0, 1, 2].map(row.string) == ["格力", "", "b"])
    #expect(row.byteCount(0) == 6 && row.byteCount(1) == 0)
    row.reset()
    row.set(1, "x")
    #expect([0, 1, 2].map(row.string) == ["", "x", ""])
  }

  @Test func `a copy has the same texts, whatever it had before`() {
    var (first, second) = (TextRow(count: 2), TextRow(count: 2))
    first.set(1, "new")
    second.set(0, "old")
    second.copy(first)
    #expect(second.string(0) == "" && second.string(1) == "new")
  }
}

@Suite struct RowJSONTests {
  @Test func `a dump has its keys in alphabetical order, and the server's form in that of the server`() throws {
    var row = ProductRow()
    row.texts.set(ProductText.id.rawValue, "a\"b")
    row.length = 2
    row.isSaleProduct = true
    var dump: [UInt8] = []
    RowJSON.appendDump(row, to: &dump)
    let text = String(decoding: dump, as: UTF8.self)
    #expect(text.hasPrefix("{\"type\":\"product\",\"barcode\":\"\",\"brand\":\"\",\"brandId\":\"\",\"category\":"))
    #expect(text.contains("\"id\":\"a\\\"b\"") && text.contains("\"length\":2.0") && text.contains("\"groupNum\":1,"))
    var payload: [UInt8] = []
    RowJSON.append(row, to: &payload)
    let keys = String(decoding: payload, as: UTF8.self).split(separator: ",").map {
      $0.drop { $0 == "{" }.prefix { $0 != ":" }
    }
    #expect(keys.map { $0.filter { $0 != "\"" } } == ProductField.allCases.map(\.key))
  }

  @Test func `infinite numbers are null, and some fields are written alone`() {
    var row = ProductRow()
    row.weight = .infinity
    var json: [UInt8] = []
    RowJSON.append(row, [.weight, .name], to: &json)
    #expect(String(decoding: json, as: UTF8.self) == "{\"weight\":null,\"name\":\"\"}")
  }
}

@Suite struct ExtraMembersTests {
  @Test(
    arguments: [
      ("{\"b\":1,\"a\":[true,null]}", "{\"a\":[true,null],\"b\":1}"), ("{ \"a\" : \"\\u0041\\/\" }", "{\"a\":\"A/\"}"),
      ("{\"n\":1.50e3}", "{\"n\":1.50e3}"), ("{\"a\":1,\"a\":2}", nil), ("[1]", nil), ("{\"a\":", nil),
    ] as [(String, String?)])
  func `an object has one form`(json: String, expected: String?) {
    var written: [UInt8] = []
    var members = ExtraMembers(json: Array(json.utf8).span)
    do { try members?.append(to: &written) } catch { members = nil }
    #expect(members.map { _ in String(decoding: written, as: UTF8.self) } == expected)
  }
}
