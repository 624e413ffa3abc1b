import Testing

@testable import ScanInputs

@Suite struct KeyAssignmentsTests {
  private func problem(_ json: String) -> String? {
    do throws(KeyAssignments.Problem) {
      _ = try KeyAssignments(json: json)
      return nil
    } catch {
      return error.description
    }
  }

  @Test func `keys have names, and stand for characters`() throws {
    let read = try KeyAssignments(json: #" {"F8": "GS", "F13": "RS", "DOWN": "US", "ESC": "EOT", "HOME": "é"} "#)
    #expect(read.characters == [66: "\u{1D}", 183: "\u{1E}", 108: "\u{1F}", 1: "\u{4}", 102: "é"])
    #expect(try read == KeyAssignments(["F8": "GS", "F13": "RS", "DOWN": "US", "ESC": "EOT", "HOME": "é"]))
    #expect(try KeyAssignments(json: "{}") == KeyAssignments())
    #expect(try KeyAssignments(json: #"{"F8": "\u001d", "F9": "~"}"#).characters == [66: "\u{1D}", 67: "~"])
  }

  @Test func `every key that can be assigned has another code, and types nothing otherwise`() throws {
    let codes = KeyName.assignable.compactMap { KeyName.assignableCode($0) }
    #expect(Set(codes).count == KeyName.assignable.count)
    for (name, code) in zip(KeyName.assignable, codes) {
      #expect(KeyName.of(code) == name)
      for layout in KeyboardLayout.allCases { #expect(KeyMap.of(layout)[code] == nil) }
    }
  }

  @Test(arguments: [
    "", "F8", "[]", #""F8""#, "5", "null", #"{"F8": "GS""#, #"{"F8": "GS"} x"#, #"["F8", "GS"]"#, "{F8: GS}",
  ])
  func `what is no object is refused with an example`(_ json: String) {
    #expect(problem(json) == #"is to be an object of keys and what they stand for, such as {"F8": "GS"}"#)
  }

  @Test(arguments: [
    "F0", "F25", "f8", "KEY_F8", "A", "1", "ENTER", "TAB", "SPACE", "LEFTSHIFT", "CAPSLOCK", "KP1", "", "F8 ",
  ])
  func `other keys are refused, and the message lists all`(_ name: String) {
    let found = problem("{\"\(name)\": \"GS\"}")
    #expect(
      found?.hasPrefix("has \"\(name)\", which is no key that can be assigned; those are F1 to F24, ESC, ") == true)
    for name in KeyName.assignable.dropFirst(24) { #expect(found?.contains(name) == true) }
  }

  @Test(arguments: [
    #""""#, #""gs""#, #""GSS""#, #""FNC1""#, "5", "null", "true", "[]", #"{"a": 1}"#, #""\u0000""#, #""e\u0301""#,
  ])
  func `other values are refused, and the message says what is allowed`(_ value: String) {
    #expect(
      problem("{\"F9\": \"RS\", \"F8\": \(value)}")
        == #"has a value of "F8" that is no character; allowed are GS, RS, US, EOT or one character"#)
  }

  @Test func `a key twice is refused`() {
    #expect(problem(#"{"F8": "GS", "F8": "RS"}"#) == #"has "F8" twice; keep one"#)
  }

  @Test func `a hostile name is shown in part, and steers no terminal`() throws {
    let found = try #require(problem("{\"\\u001b[2J" + String(repeating: "a", count: 5000) + "\": \"GS\"}"))
    #expect(found.utf8.count < 400 && !found.unicodeScalars.contains("\u{1B}"))
  }
}
