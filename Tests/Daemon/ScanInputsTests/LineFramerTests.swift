import RandomTestSupport
import Testing

@testable import ScanInputs

@Suite struct LineFramerTests {
  /// The lines of pieces, and of the end behind them.
  static func lines(_ pieces: [[UInt8]], _ format: LineFormat = LineFormat(), ends: Bool = true) -> [LineFramer.Line] {
    var framer = LineFramer(format)
    var lines: [LineFramer.Line] = []
    for piece in pieces { framer.append(piece, to: &lines) }
    if ends { framer.finish(&lines) }
    return lines
  }

  static func lines(_ text: String, _ format: LineFormat = LineFormat(), ends: Bool = true) -> [LineFramer.Line] {
    lines([Array(text.utf8)], format, ends: ends)
  }

  static func format(limit: Int = 4096, prefix: String = "", suffix: String = "") -> LineFormat {
    var format = LineFormat()
    format.maximumByteCount = limit
    format.prefix = prefix
    format.suffix = suffix
    return format
  }

  @Test(arguments: ["a\nb\n", "a\rb\r", "a\r\nb\r\n", "a\n\rb\n", "\r\n\na\n\n\nb", "a\rb"])
  func `a line ends with a line feed, a carriage return or both`(text: String) {
    #expect(Self.lines(text) == [.text("a"), .text("b")])
  }

  @Test func `an end that is cut in two is one end`() {
    #expect(Self.lines([Array("a\r".utf8), Array("\nb\r".utf8), Array("\n".utf8)]) == [.text("a"), .text("b")])
  }

  @Test func `empty lines are none`() {
    #expect(Self.lines("\n\r\n\r\r\n\n") == [])
    #expect(Self.lines("") == [])
    #expect(Self.lines(" \n\t \r  ") == [])
    #expect(Self.lines("\u{2} \u{3}\n a \n", Self.format(prefix: "\u{2}", suffix: "\u{3}")) == [.text(" a ")])
  }

  @Test func `a last line without an end counts at the end only`() {
    #expect(Self.lines("a\nb", ends: false) == [.text("a")])
    #expect(Self.lines("a\nb") == [.text("a"), .text("b")])
  }

  @Test func `control characters belong to the line`() {
    #expect(Self.lines("\u{1D}01\0\u{2}\t \u{1E}\n") == [.text("\u{1D}01\0\u{2}\t \u{1E}")])
  }

  @Test func `a line of the limit is a line, and one byte more is refused once and whole`() {
    let format = Self.format(limit: 8)
    #expect(Self.lines("12345678\r\n", format) == [.text("12345678")])
    #expect(Self.lines("123456789\r\nab\n", format) == [.fault(.tooLong(limit: 8)), .text("ab")])
    let pieces = Array(repeating: Array("xyz".utf8), count: 1000) + [Array("\nab".utf8)]
    #expect(Self.lines(pieces, format) == [.fault(.tooLong(limit: 8)), .text("ab")])
    #expect(Self.lines("123456789", format) == [.fault(.tooLong(limit: 8))])
  }

  @Test(arguments: [0, -1, .min]) func `a limit below one is one`(limit: Int) {
    let fault = LineFramer.Line.fault(.tooLong(limit: 1))
    #expect(Self.lines("a\nbc\n", Self.format(limit: limit)) == [.text("a"), fault])
  }

  @Test func `a line that is not text in the encoding is its bytes`() {
    let bytes: [[UInt8]] = [[0x36, 0x39, 0xFF, 0x5C, 0x1D, 0x0A], Array("ok\n".utf8)]
    #expect(Self.lines(bytes) == [.bytes([0x36, 0x39, 0xFF, 0x5C, 0x1D]), .text("ok")])
    // What surrounds a code may be a part of what cannot be decoded.
    #expect(Self.lines([[0x02, 0x80, 0x0A]], Self.format(prefix: "\u{2}")) == [.bytes([0x02, 0x80])])
  }

  @Test(
    arguments: [
      (TextEncoding.utf8, [0xE6, 0xB0, 0xB4], "水"), (.latin1, [0x36, 0xE9, 0xFF], "6éÿ"),
      (.gb18030, [0xCB, 0xAE, 0x81, 0x30, 0x81, 0x30], "水\u{80}"), (.gb18030, [0x41, 0x80 + 0x01, 0x40], "A丂"),
      (.shiftJIS, [0x90, 0x85, 0xB1, 0x5C, 0x7E], "水ｱ\\~"), (.shiftJIS, [0x83, 0x5C], "ソ"),
    ] as [(TextEncoding, [UInt8], String)])
  func `a line is decoded as its encoding says`(encoding: TextEncoding, bytes: [UInt8], text: String) {
    var format = LineFormat()
    format.encoding = encoding
    #expect(Self.lines([bytes + [0x0D]], format) == [.text(text)])
    #expect(encoding.isAvailable)
  }

  @Test(
    arguments: [
      (TextEncoding.utf8, [0xC3]), (.gb18030, [0x41, 0xFF]), (.gb18030, [0xCB]), (.gb18030, [0x81, 0x30]),
      (.shiftJIS, [0x90]), (.shiftJIS, [0x90, 0x20]),
    ] as [(TextEncoding, [UInt8])])
  func `bytes that are not text leave nothing behind`(encoding: TextEncoding, bytes: [UInt8]) {
    var format = LineFormat()
    format.encoding = encoding
    #expect(Self.lines([bytes + [0x0D, 0x41, 0x0D]], format) == [.bytes(bytes), .text("A")])
  }

  @Test(arguments: TextEncoding.allCases) func `no end of a line is inside a character`(encoding: TextEncoding) {
    var generator = SeededGenerator(for: "LineFramerTests.ends")
    for byte in UInt8(0)...0x7F where !encoding.isInsideCharacters(byte) {
      var format = LineFormat()
      format.encoding = encoding
      format.ends = [LineEnd(byte: byte)]
      for _ in 0..<20 {
        // Two bytes before the end, as those of a character may be: where they are text with the end, they are without.
        let pair = [UInt8.random(in: 0x81...0xFE, using: &generator), byte]
        if byte >= 0x20, let text = encoding.text(pair) { #expect(text.utf8.last == byte, "\(encoding) \(pair)") }
      }
    }
  }

  @Test(
    arguments: [
      ([LineEnd.carriageReturn], "a\rb\n\rc", ["a", "b\n", "c"]), ([.lineFeed], "a\r\n\nb", ["a\r", "b"]),
      ([.carriageReturnLineFeed], "a\nb\rc\r\n\r\nd\r\r\ne\r", ["a\nb\rc", "d\r", "e\r"]),
      ([.carriageReturn, .carriageReturnLineFeed], "a\r\nb\rc\r\r\nd\n", ["a", "b", "c", "d\n"]),
      ([.lineFeed, .carriageReturnLineFeed], "a\r\nb\nc\rd", ["a", "b", "c\rd"]),
      ([.tab], "a\tb\r\n\t\t", ["a", "b\r\n"]), ([.endOfText, .tab], "\u{2}a\u{3}b\t", ["\u{2}a", "b"]),
      ([LineEnd(byte: UInt8(ascii: ";")), LineEnd(byte: 0)], "a;b\0;c", ["a", "b", "c"]), ([], "a\r\nb", ["a\r\nb"]),
    ] as [([LineEnd], String, [String])])
  func `a line ends where its format says`(ends: [LineEnd], text: String, codes: [String]) {
    var format = LineFormat()
    format.ends = ends
    #expect(Self.lines(text, format) == codes.map { .text($0) })
    #expect(Self.lines(text.utf8.map { [$0] }, format) == codes.map { .text($0) })
  }

  @Test func `an end of two bytes is no part of the limit`() {
    var format = Self.format(limit: 4)
    format.ends = [.carriageReturnLineFeed]
    #expect(
      Self.lines("1234\r\n12345\r\n\r\rab\r\n", format) == [
        .text("1234"), .fault(.tooLong(limit: 4)), .text("\r\rab"),
      ])
    #expect(Self.lines("123456789\r\rab\r\nc", format) == [.fault(.tooLong(limit: 4)), .text("c")])
    #expect(Self.lines("1234\r", format) == [.fault(.tooLong(limit: 4))])
  }

  @Test func `an end with two bytes goes on under another format`() {
    var format = LineFormat()
    format.ends = [.carriageReturnLineFeed]
    var framer = LineFramer(format)
    var lines: [LineFramer.Line] = []
    framer.append("a\r".utf8, to: &lines)
    framer = LineFramer(format, after: framer.beginning)
    framer.append("\nb\r\n".utf8, to: &lines)
    #expect(lines == [.text("a"), .text("b")])
  }

  @Test func `a separator of GS1 stays where it is, at the end too`() {
    #expect(Self.lines("]C10106901234567892\u{1D}10A\u{1D}\r\n") == [.text("]C10106901234567892\u{1D}10A\u{1D}")])
    #expect(Self.lines("\u{1D}\r\n") == [.text("\u{1D}")])
  }

  @Test func `prefix and suffix go where they are there`() {
    let format = Self.format(prefix: "\u{2}]C1", suffix: "\u{3}")
    #expect(Self.lines("\u{2}]C1690\u{3}\n", format) == [.text("690")])
    #expect(Self.lines("690\u{3}\n", format) == [.text("690")])
    #expect(Self.lines("\u{2}]C1690\n", format) == [.text("690")])
    #expect(Self.lines("\u{2}]C2690\n", format) == [.text("\u{2}]C2690")])
    #expect(Self.lines("\u{2}]C1\u{3}\n\u{3}\n", format) == [])
    #expect(Self.lines("ä690é\n", Self.format(prefix: "ä", suffix: "é")) == [.text("690")])
  }

  @Test func `a suffix with an end of line is the part before it`() {
    #expect(Self.lines("690#\r\n691\r\n", Self.format(prefix: "\n", suffix: "#\r\n")) == [.text("690"), .text("691")])
  }

  @Test func `a line that is discarded ends where it ends`() {
    var framer = LineFramer(LineFormat())
    var lines: [LineFramer.Line] = []
    framer.append("abc".utf8, to: &lines)
    framer.discardLine()
    #expect(framer.isInsideLine)
    framer.append("def\nghi\n".utf8, to: &lines)
    #expect(lines == [.text("ghi")])
    #expect(!framer.isInsideLine)
  }

  @Test func `pieces change nothing, and random bytes neither trap nor pile up`() {
    var generator = SeededGenerator(for: "LineFramerTests")
    for _ in 0..<300 * depth {
      let alphabet: [UInt8] = [0x0A, 0x0D, 0x00, 0x1D, 0x31, 0x32, 0xC3, 0xA4, 0xFF, 0x02, 0x03]
      let bytes = (0..<Int.random(in: 0...400, using: &generator)).map { _ in alphabet.randomElement(using: &generator)!
      }
      let format = Self.format(limit: Int.random(in: 1...20, using: &generator), prefix: "\u{2}", suffix: "\u{3}")
      let whole = Self.lines([bytes], format)
      var pieces: [[UInt8]] = []
      var rest = bytes[...]
      while !rest.isEmpty {
        let piece = rest.prefix(Int.random(in: 1...7, using: &generator))
        pieces.append(Array(piece))
        rest = rest.dropFirst(piece.count)
      }
      #expect(Self.lines(pieces, format) == whole, "\(bytes), at most \(format.maximumByteCount)")
      // By a splitter that keeps everything.
      let slow = bytes.split { $0 == 0x0A || $0 == 0x0D }.compactMap { line -> LineFramer.Line? in
        if line.count > format.maximumByteCount { return .fault(.tooLong(limit: format.maximumByteCount)) }
        guard var text = String(validating: line, as: UTF8.self) else {
          return .bytes(Array(line))
        }
        if text.unicodeScalars.first == "\u{2}" { text.unicodeScalars.removeFirst() }
        if text.unicodeScalars.last == "\u{3}" { text.unicodeScalars.removeLast() }
        return text.isEmpty ? nil : .text(text)
      }
      #expect(whole == slow, "\(bytes), at most \(format.maximumByteCount)")
    }
  }
}
