import Foundation
import JSONFormat
import RandomTestSupport
import Testing

@Suite struct JSONTokenizerTests {
  private func log(_ text: String, limits: JSONLimits = JSONLimits()) -> TokenLog {
    let bytes = Array(text.utf8)
    let whole = TokenLog(bytes, limits: limits)
    // Nothing may depend on the chunks.
    #expect(TokenLog(bytes, chunks: [1], limits: limits) == whole)
    #expect(TokenLog(bytes, chunks: [1, 2, 3], limits: limits) == whole)
    return whole
  }

  @Test func `a document becomes tokens with their offsets`() {
    #expect(
      log(#" {"a":[1,true,null],"b\n":"c"} "#).lines == [
        "beginObject 1 1", "key 2 a", "beginArray 6 2", "number 7 1 1 4607182418800017408", "true 9 2",
        "null 14 2", "endArray 18 1", "key 20 b\n", "string 26 c", "endObject 29 0", "end",
      ])
  }

  @Test(arguments: ["1", "-0", "0.5", "\"x\"", "true", "null", "[]", "{}", " [ ] ", "{ }", "[[],{}]", "1e5 "])
  func `any value may be a document`(text: String) {
    #expect(log(text).failure == nil)
  }

  @Test func `every escape is decoded`() {
    let text = #""\"\\\/\b\f\n\r\t\u00e9\u683C\ud83d\uDE00x\u0000""#
    #expect(log(text).lines.first == "string 0 \"\\/\u{8}\u{c}\n\r\té格😀x\u{0}")
  }

  @Test(arguments: [
    (#""\ud83d""#, "\u{FFFD}", 1), (#""\ude00""#, "\u{FFFD}", 1), (#""\ud83dx""#, "\u{FFFD}x", 1),
    (#""\ud83d\u0041""#, "\u{FFFD}A", 1), (#""\ud83d\ud83d\ude00""#, "\u{FFFD}😀", 1),
    (#""\ude00\ud83d""#, "\u{FFFD}\u{FFFD}", 2), (#""\ud83d\n""#, "\u{FFFD}\n", 1),
  ])
  func `half a surrogate pair reads as U+FFFD and is counted`(text: String, expected: String, count: Int)
    throws
  {
    #expect(log(text).lines.first == "string 0 \(expected)")
    var tokens = JSONTokenizer()
    tokens.append(Array(text.utf8).span)
    _ = try tokens.next()
    let replaced = tokens.replacedSurrogates
    #expect(replaced == count)
    #expect(TokenLog(Array(text.utf8), parts: true).lines.first == "string parts \(expected)")
    #expect(TokenLog(Array(text.utf8), chunks: [1], parts: true).lines.first == "string parts \(expected)")
  }

  @Test(arguments: [
    ("", JSONError.endsEarly(offset: 0, expected: .value)),
    ("  ", .endsEarly(offset: 2, expected: .value)),
    ("[1,]", .unexpected(byte: 0x5D, offset: 3, expected: .value)),
    ("[,1]", .unexpected(byte: 0x2C, offset: 1, expected: .valueOrEndOfArray)),
    ("[1 2]", .unexpected(byte: 0x32, offset: 3, expected: .commaOrEndOfArray)),
    ("[1}", .unexpected(byte: 0x7D, offset: 2, expected: .commaOrEndOfArray)),
    ("[", .endsEarly(offset: 1, expected: .valueOrEndOfArray)),
    ("{\"a\":1,}", .unexpected(byte: 0x7D, offset: 7, expected: .key)),
    ("{a:1}", .unexpected(byte: 0x61, offset: 1, expected: .keyOrEndOfObject)),
    ("{\"a\" 1}", .unexpected(byte: 0x31, offset: 5, expected: .colon)),
    ("{\"a\":}", .unexpected(byte: 0x7D, offset: 5, expected: .value)),
    ("{\"a\":1", .endsEarly(offset: 6, expected: .commaOrEndOfObject)),
    ("{\"a\":1 ", .endsEarly(offset: 7, expected: .commaOrEndOfObject)),
    ("1 2", .unexpected(byte: 0x32, offset: 2, expected: .endOfDocument)),
    ("{}x", .unexpected(byte: 0x78, offset: 2, expected: .endOfDocument)),
    ("[01]", .unexpected(byte: 0x31, offset: 2, expected: .commaOrEndOfArray)),
    ("-", .endsEarly(offset: 1, expected: .digit)),
    ("[1.]", .unexpected(byte: 0x5D, offset: 3, expected: .digit)),
    ("[1.e3]", .unexpected(byte: 0x65, offset: 3, expected: .digit)),
    ("[.5]", .unexpected(byte: 0x2E, offset: 1, expected: .valueOrEndOfArray)),
    ("[+1]", .unexpected(byte: 0x2B, offset: 1, expected: .valueOrEndOfArray)),
    ("[1e]", .unexpected(byte: 0x5D, offset: 3, expected: .digit)),
    ("[1e+]", .unexpected(byte: 0x5D, offset: 4, expected: .digit)),
    ("[NaN]", .unexpected(byte: 0x4E, offset: 1, expected: .valueOrEndOfArray)),
    ("[nul]", .unexpected(byte: 0x5D, offset: 4, expected: .literal)),
    ("tru", .endsEarly(offset: 3, expected: .literal)),
    ("[truex]", .unexpected(byte: 0x78, offset: 5, expected: .commaOrEndOfArray)),
    ("\"a", .endsEarly(offset: 2, expected: .endOfString)),
    ("\"a\nb\"", .controlCharacter(byte: 0x0A, offset: 2)),
    ("\"\u{0}\"", .controlCharacter(byte: 0x00, offset: 1)),
    (#""\x""#, .invalidEscape(offset: 1)), (#""a\u12G4""#, .invalidEscape(offset: 2)),
    (#""\u12"#, .endsEarly(offset: 5, expected: .endOfString)),
    ("\u{FEFF}1", .unexpected(byte: 0xEF, offset: 0, expected: .value)),
    ("[1]//", .unexpected(byte: 0x2F, offset: 3, expected: .endOfDocument)),
    ("['a']", .unexpected(byte: 0x27, offset: 1, expected: .valueOrEndOfArray)),
  ])
  func `what is not JSON is refused with its place`(text: String, error: JSONError) {
    #expect(log(text).failure == error)
    #expect(!error.description.isEmpty)
  }

  @Test(
    arguments: [
      [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x9F, 0x80], [0xE6, 0xA0],
      [0xED, 0xA0, 0x80],
      [0xF0, 0x8F, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF],
      [0xF0, 0x9F, 0x98],
    ] as [[UInt8]])
  func `invalid UTF-8 is refused`(sequence: [UInt8]) {
    let document = Array("[\"abc".utf8) + sequence + Array("defghijk\"]".utf8)
    #expect(TokenLog(document).failure == .invalidUTF8(offset: 5))
    #expect(TokenLog(document, chunks: [1]).failure == .invalidUTF8(offset: 5))
    #expect(TokenLog(document, chunks: [7]).failure == .invalidUTF8(offset: 5))
  }

  @Test func `every scalar goes through as it is and as an escape`() {
    for value in stride(from: UInt32(0x20), through: 0x10FFFF, by: 7) {
      guard let scalar = UnicodeScalar(value), value != 0x22, value != 0x5C else { continue }
      let character = String(Character(scalar))
      let escaped = character.utf16.map { "\\u" + String(0x10000 + Int($0), radix: 16).dropFirst() }.joined()
      let document = Array("\"\(character)\(escaped)\"".utf8)
      guard TokenLog(document).lines.first == "string 0 \(character)\(character)" else {
        Issue.record("U+\(String(value, radix: 16))")
        return
      }
    }
  }

  @Test func `strings in parts are the same text`() {
    var generator = DocumentGenerator(random: SeededGenerator(for: "strings in parts"))
    for _ in 0..<500 {
      var json: [UInt8] = []
      generator.string(&json)
      let whole = TokenLog(json)
      let expected = whole.lines.map { $0.replacingOccurrences(of: "string 0 ", with: "string parts ") }
      #expect(TokenLog(json, parts: true).lines == expected)
      #expect(TokenLog(json, chunks: generator.chunks(), parts: true).lines == expected)
    }
  }

  // MARK: - Limits

  @Test func `nesting up to the limit is read and one level more is refused`() {
    for open in ["[", "{\"a\":"] {
      let text = String(repeating: open, count: 512)
      #expect(
        log(text).failure
          == .endsEarly(offset: text.utf8.count, expected: open == "[" ? .valueOrEndOfArray : .value))
      #expect(log(text + "[").failure == .nestedTooDeeply(limit: 512, offset: text.utf8.count))
    }
    let deep = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
    #expect(log(deep).failure == nil)
    #expect(log("[1]", limits: JSONLimits(nestingDepth: 0)).failure == .nestedTooDeeply(limit: 0, offset: 0))
  }

  @Test func `100000 levels are refused`() {
    let text = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
    #expect(TokenLog(Array(text.utf8)).failure == .nestedTooDeeply(limit: 512, offset: 512))
  }

  @Test func `a token up to the limit is read and one byte more is refused`() {
    let limits = JSONLimits(tokenByteCount: 10)
    #expect(log(#"["12345678"]"#, limits: limits).failure == nil)
    #expect(log(#"["123456789"]"#, limits: limits).failure == .tokenTooLong(limit: 10, offset: 1))
    #expect(log(#"{"123456789":1}"#, limits: limits).failure == .tokenTooLong(limit: 10, offset: 1))
    #expect(log("[1234567890]", limits: limits).failure == nil)
    #expect(log("[12345678901]", limits: limits).failure == .tokenTooLong(limit: 10, offset: 1))
    #expect(log("[123456789012345678-]", limits: limits).failure == .tokenTooLong(limit: 10, offset: 1))
    // An error beyond the limit is not reached, whatever the chunks.
    #expect(log("[\"123456789\u{1}\"]", limits: limits).failure == .tokenTooLong(limit: 10, offset: 1))
    #expect(log("[\"12345\u{1}\"]", limits: limits).failure == .controlCharacter(byte: 1, offset: 7))
  }

  @Test func `a string in parts has no limit`() {
    let text = "\"" + String(repeating: "x", count: 100_000) + "\""
    let limits = JSONLimits(tokenByteCount: 10)
    #expect(TokenLog(Array(text.utf8), chunks: [999], limits: limits, parts: true).failure == nil)
  }

  @Test func `a long token costs time linear in its length whatever the chunks`() {
    let digits = Array(repeating: UInt8(ascii: "7"), count: 1_000_000)
    #expect(TokenLog(digits, chunks: [3]).lines.count == 2)
    let string = [UInt8(ascii: "\"")] + digits + [UInt8(ascii: "\"")]
    #expect(TokenLog(string, chunks: [3]).lines.count == 2)
  }

  @Test func `a failure is final`() {
    var tokens = JSONTokenizer()
    tokens.append(Array("[1,]".utf8).span)
    let error = JSONError.unexpected(byte: 0x5D, offset: 3, expected: .value)
    _ = try? tokens.next()
    _ = try? tokens.next()
    #expect(throws: error) { _ = try tokens.next() }
    #expect(throws: error) { _ = try tokens.next() }
  }

  @Test func `a reset tokenizer is like a new one`() throws {
    var tokens = JSONTokenizer()
    tokens.append(Array("[[\"x".utf8).span)
    tokens.finish()
    while (try? tokens.next()) != nil {}
    tokens.reset()
    tokens.append(Array("12".utf8).span)
    tokens.finish()
    #expect(try tokens.next() == .number)
    #expect(tokens.int64Value == 12)
    #expect(try tokens.next() == .endOfDocument)
  }

  // MARK: - Chunks

  @Test func `no result depends on the chunks`() {
    var generator = DocumentGenerator(random: SeededGenerator(for: "no result depends on the chunks"))
    for round in 0..<1_500 {
      var document = generator.document()
      if round % 2 == 1 { document = generator.spoil(document) }
      let whole = TokenLog(document)
      let single = TokenLog(document, chunks: [1])
      let random = TokenLog(document, chunks: generator.chunks())
      guard single == whole, random == whole else {
        Issue.record("\(String(decoding: document, as: UTF8.self)): \(whole) \(single) \(random)")
        return
      }
    }
  }

  @Test func `arbitrary bytes never trap`() {
    var random = SeededGenerator(for: "arbitrary bytes never trap")
    let likely = Array("{}[]\",:\\0123456789.eE+-truefalsn u\n".utf8)
    for round in 0..<20_000 {
      let document = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
        round % 2 == 0 ? UInt8.random(in: 0...255, using: &random) : likely.randomElement(using: &random)!
      }
      let whole = TokenLog(document)
      guard TokenLog(document, chunks: [Int.random(in: 1...5, using: &random)]) == whole else {
        Issue.record("\(document)")
        return
      }
    }
  }

  /// Behind the failure may stand what is white space elsewhere, and then the end of the window.
  @Test(arguments: ["\"ab\ncd\"", "\"ab\n", "\"\n", "[1 \n x", "{\"a\n"], [true, false])
  func `a failure is thrown again, also before the document has ended`(text: String, parts: Bool) {
    var tokens = JSONTokenizer()
    tokens.deliversStringParts = parts
    var failures: [JSONError] = []
    for byte in text.utf8 where failures.isEmpty {
      tokens.append([byte].span)
      do throws(JSONError) { while try tokens.next() != .needsInput {} } catch { failures.append(error) }
    }
    for _ in 0..<3 {
      do throws(JSONError) { _ = try tokens.next() } catch { failures.append(error) }
    }
    #expect(failures.count == 4 && Set(failures.map(\.description)).count == 1, "\(failures)")
  }
}
