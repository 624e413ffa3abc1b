import Testing

@testable import RowSources

/// How values of a database become JSON.
@Suite struct DatabaseValueTests {
  private func json(_ kind: DatabaseValue, _ text: String?) -> String {
    var json: [UInt8] = []
    if let text { kind.append(Array(text.utf8).span, to: &json) } else { kind.append(nil, to: &json) }
    return String(decoding: json, as: UTF8.self)
  }

  @Test(arguments: ["0", "-0", "12", "-0.50", "1e5", "1.25E+300", "3e-07", "123456789012345678901234567890.5"])
  func `a number keeps its digits`(text: String) { #expect(json(.number, text) == text) }

  @Test(arguments: [
    "NaN", "Infinity", "-Infinity", "", "-", "01", "+1", "1.", ".5", "1e", "1e+", "0x1", "1 ", "$1", "1,5",
  ])
  func `what is no number in JSON becomes a text`(text: String) { #expect(json(.number, text) == "\"\(text)\"") }

  @Test func `a Boolean is t or f`() {
    #expect(json(.boolean, "t") == "true" && json(.boolean, "f") == "false")
    #expect(json(.boolean, "u") == "\"u\"" && json(.boolean, "") == "\"\"" && json(.boolean, "true") == "\"true\"")
  }

  @Test func `a text of a fixed length comes without the spaces that fill it`() {
    #expect(
      json(.padded, "ab   ") == #""ab""# && json(.padded, " a b ") == #"" a b""# && json(.padded, "   ") == #""""#)
    #expect(json(.text, "ab ") == #""ab ""# && json(.padded, "ab\t ") == #""ab\t""#)
  }

  @Test func `everything is on one line`() {
    #expect(json(.text, "a\nb\r\u{0}\"") == #""a\nb\r\u0000\"""#)
    #expect(json(.json, "{\"a\":\n 1,\r\n \"b\": \"\\n\"}") == "{\"a\":  1,   \"b\": \"\\n\"}")
  }

  @Test(arguments: DatabaseValue.allCases)
  func `NULL is null`(kind: DatabaseValue) { #expect(json(kind, nil) == "null") }
}

/// How rows that COPY sends are taken apart.
@Suite struct CopiedRowTests {
  private func values(_ row: String) -> [String?] {
    var copied = CopiedRow()
    copied.split(Array("before\t\\N\n".utf8).span)
    copied.split(Array(row.utf8).span)
    return (0..<copied.count).map { column in
      var text: String?
      copied.withValue(column) { value in
        guard let value else { return }
        text = String(decoding: value.indices.map { value[$0] }, as: UTF8.self)
      }
      return text
    }
  }

  @Test(arguments: [
    ("a\tb\n", ["a", "b"]), ("a\t\\N\t\n", ["a", nil, ""]), ("\n", [""]), ("", [""]), ("\\N", [nil]),
    (#"\\N\t\\.\b\f\n\r\t\v\x"# + "\n", ["\\N\t\\.\u{8}\u{C}\n\r\t\u{B}x"]), ("a\\\n", ["a"]),
  ])
  func `tabs separate values, and backslashes escape`(_ row: String, _ expected: [String?]) {
    #expect(values(row) == expected)
  }
}
