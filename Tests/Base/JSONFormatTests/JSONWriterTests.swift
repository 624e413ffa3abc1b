import JSONFormat
import RandomTestSupport
import Testing

@Suite struct JSONWriterTests {
  private static let hard =
    "\"\\/\u{0}\u{8}\t\n\u{B}\u{C}\r\u{1F}\u{7F}\u{80}\u{9F}\u{A0}é\u{2027}\u{2028}\u{2029}\u{202A}你👩"

  @Test func `only what JSON requires is escaped`() {
    #expect(
      JSONWriter.string(Self.hard)
        == #""\"\\/\u0000\b\t\n\u000b\f\r\u001f"# + "\u{7F}\u{80}\u{9F}\u{A0}é\u{2027}\u{2028}\u{2029}\u{202A}你👩\"")
  }

  @Test func `backspace and form feed can be written by number`() {
    #expect(JSONWriter.string("\u{8}\t\u{C}", escaping: []) == #""\u0008\t\u000c""#)
    #expect(JSONWriter.string("\u{8}\t\u{C}", escaping: .uppercaseDigits) == #""\u0008\t\u000C""#)
  }

  @Test func `what a terminal or a reader of lines could take for something else can be escaped`() {
    #expect(
      JSONWriter.string(Self.hard, escaping: [.delete, .unicodeControls])
        == #""\"\\/\u0000\u0008\t\n\u000b\u000c\r\u001f\u007f\u0080\u009f"# + "\u{A0}é\u{2027}"
        + #"\u2028\u2029"# + "\u{202A}你👩\"")
    #expect(JSONWriter.string("\u{7F}\u{80}", escaping: [.uppercaseDigits, .delete]) == "\"\\u007F\u{80}\"")
  }

  @Test(
    arguments: [
      [], .shortForms, .uppercaseDigits, [.delete, .unicodeControls],
      [.shortForms, .uppercaseDigits, .delete, .unicodeControls],
    ] as [JSONEscaping])
  func `a string reads back as it was`(escaping: JSONEscaping) throws {
    var generator = SeededGenerator(for: "strings")
    for _ in 0..<200 * depth {
      var text = String.UnicodeScalarView()
      for _ in 0..<Int.random(in: 0...20, using: &generator) {
        text.append(Unicode.Scalar(UInt32.random(in: 0...0x2100, using: &generator)) ?? "\u{2028}")
      }
      var tokens = JSONTokenizer(limits: JSONLimits(nestingDepth: 1, tokenByteCount: 1000))
      tokens.append(JSONWriter.string(String(text), escaping: escaping).utf8.span)
      tokens.finish()
      #expect(try tokens.next() == .string)
      #expect(tokens.textString.unicodeScalars.elementsEqual(text), "\(generator)")
    }
  }

  @Test(
    arguments: [
      (1, "1.0"), (-0.0, "-0.0"), (0.1, "0.1"), (1e16, "1e+16"), (.leastNonzeroMagnitude, "5e-324"), (1e-5, "1e-05"),
      (.nan, "null"), (.infinity, "null"),
    ] as [(Double, String)])
  func `a number has its shortest form`(value: Double, text: String) {
    var json: [UInt8] = []
    JSONWriter.append(value, to: &json)
    #expect(String(decoding: json, as: UTF8.self) == text)
  }

  @Test func `a value is one line with its fields in order`() {
    let value = JSONText.object([
      ("b", .array([.null, .bool(true), .int(-1), .uint(.max), .double(2), .text("x\ny")])), ("a", .object([])),
      ("c\"", .optional(nil)), ("raw", .raw(Array(#"{"k":1}"#.utf8))),
    ])
    #expect(
      String(decoding: value.bytes, as: UTF8.self)
        == #"{"b":[null,true,-1,18446744073709551615,2.0,"x\ny"],"a":{},"c\"":null,"raw":{"k":1}}"#)
  }
}
