import Testing
import TextFormat

@Suite struct TerminalTextTests {
  @Test(arguments: [
    ("plain 你 é", "plain 你 é"), ("a\nb\r\tc", "a\\nb\\r\\tc"),
    ("\u{1B}[2J\0\u{7F}\u{9B}", "\\u{1B}[2J\\u{0}\\u{7F}\\u{9B}"),
    ("x\u{202E}y\u{200B}z\u{2028}\u{2029}", "x\\u{202E}y\\u{200B}z\\u{2028}\\u{2029}"),
  ])
  func `hidden characters are escaped`(text: String, escaped: String) {
    #expect(TerminalText.escaped(text) == escaped)
  }

  @Test func `only named characters have letters`() {
    #expect(TerminalText.escaped("a\nb\r\tc", named: "\n\t") == "a\\nb\\u{D}\\tc")
  }

  @Test func `marked characters get a backslash`() {
    #expect(TerminalText.escaped("a \"b\" \\ c") == "a \"b\" \\ c")
    #expect(TerminalText.escaped("a \"b\" \\ c", marked: "\"\\") == "a \\\"b\\\" \\\\ c")
  }

  @Test func `control characters become blanks on one line`() {
    #expect(TerminalText.onOneLine("a\nb\u{1B}[31m\u{202E}") == "a b [31m\u{202E}")
  }

  @Test(arguments: [
    ("a\nb\u{1B}", "a b "), ("x\u{202E}y\u{2066}z\u{2028}", "x\\u{202E}y\\u{2066}z\\u{2028}"), ("👩‍👩‍👧", "👩‍👩‍👧"),
    ("👩‍👩‍👧\u{200D}", "👩‍👩‍👧\\u{200D}"), ("1\u{200D}2", "1\\u{200D}2"), ("\u{200D}", "\\u{200D}"),
  ])
  func `what people see has no hidden characters but the joiner of an emoji`(text: String, shown: String) {
    #expect(TerminalText.shown(text) == shown)
  }

  @Test func `bytes that need not be text are printable`() {
    let bytes: [UInt8] = [0x41, 0x20, 0x5C, 0x7E, 0x1D, 0x7F, 0xFF, 0x00]
    #expect(TerminalText.escaped(bytes: bytes[...], escapesBackslash: true) == "A \\x5C~\\x1D\\x7F\\xFF\\x00")
    #expect(TerminalText.escaped(bytes: bytes[...], escapesBackslash: false) == "A \\~\\x1D\\x7F\\xFF\\x00")
  }
}
