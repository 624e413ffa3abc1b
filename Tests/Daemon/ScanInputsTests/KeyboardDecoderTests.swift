import RandomTestSupport
import Testing

@testable import ScanInputs

@Suite struct KeyboardDecoderTests {
  private func lines(_ bytes: [UInt8], _ layout: KeyboardLayout = .us, piece: Int = .max) -> [LineFramer.Line] {
    var decoder = KeyboardDecoder(layout: layout)
    var lines: [LineFramer.Line] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      decoder.append(rest.prefix(piece), to: &lines)
      rest = rest.dropFirst(piece)
    }
    return lines
  }

  private func lines(_ layout: KeyboardLayout = .us, _ type: (inout KeyTypist) -> Void) -> [LineFramer.Line] {
    var typist = KeyTypist()
    type(&typist)
    typist.tap(KeyCode.enter)
    return lines(typist.bytes, layout)
  }

  // MARK: Ends

  @Test(
    arguments: [
      ([LineEnd.carriageReturn], "1\n2\n", ["1", "2"]), ([.carriageReturnLineFeed], "1\n2\n", ["1", "2"]),
      ([.tab], "1\n2\t3\t", ["1\n2", "3"]),
      ([LineEnd(byte: UInt8(ascii: ";")), .lineFeed], "1;2\n3", ["1", "2", "3"]),
      ([], "1\n2", ["1\n2"]),
    ] as [([LineEnd], String, [String])])
  func `a line ends where its format says, and by a pause`(ends: [LineEnd], text: String, codes: [String]) {
    var format = LineFormat()
    format.ends = ends
    format.encoding = .latin1
    var decoder = KeyboardDecoder(layout: .us, format: format)
    var typist = KeyTypist()
    for character in text {
      if character == "\t" { typist.tap(KeyCode.tabulator) } else { typist.type(String(character)) }
    }
    var lines: [LineFramer.Line] = []
    decoder.append(typist.bytes, to: &lines)
    decoder.finish(&lines)
    #expect(lines == codes.map { .text($0) })
    #expect(!decoder.isInsideLine)
  }

  @Test func `a pause ends a line whose last character is a mark`() {
    var decoder = KeyboardDecoder(layout: .de)
    var typist = KeyTypist()
    typist.tap(2, KeyCode.leftOfDigits)
    var lines: [LineFramer.Line] = []
    decoder.append(typist.bytes, to: &lines)
    #expect(decoder.isInsideLine && lines.isEmpty)
    decoder.finish(&lines)
    #expect(lines == [.text("1^")])
  }

  // MARK: Events

  @Test(arguments: [1, 5, 23, 24, 25, 1000]) func `pieces change nothing`(piece: Int) {
    #expect(lines(KeyTypist.typed("6901234567892\nAbc-1\n"), piece: piece) == [.text("6901234567892"), .text("Abc-1")])
  }

  /// Two lines as evdev delivers them on a machine of 64 bits, written out by hand: `1a` and Enter, `B` and Enter, with
  /// the scan codes of HID's page of keyboards before each key.
  @Test func `a stream of events, byte by byte`() {
    let time = "81ad4e6900000000c5f2030000000000"
    let events = [
      "040004001e000700", "0100020001000000", "0000000000000000", "040004001e000700", "0100020000000000",
      "0000000000000000", "0400040004000700", "01001e0001000000", "0000000000000000", "0400040004000700",
      "01001e0000000000", "0000000000000000", "0400040028000700", "01001c0001000000", "0000000000000000",
      "0400040028000700", "01001c0000000000", "0000000000000000", "04000400e1000700", "01002a0001000000",
      "0400040005000700", "0100300001000000", "0000000000000000", "04000400e1000700", "01002a0000000000",
      "0400040005000700", "0100300000000000", "0000000000000000", "0400040028000700", "01001c0001000000",
      "0000000000000000", "0400040028000700", "01001c0000000000", "0000000000000000",
    ]
    let hex = Array(events.map { time + $0 }.joined().utf8)
    let bytes = stride(from: 0, to: hex.count, by: 2).map {
      UInt8(String(decoding: hex[$0...$0 + 1], as: UTF8.self), radix: 16)!
    }
    #expect(bytes.count == 34 * 24)
    #expect(lines(bytes) == [.text("1a"), .text("B")])
  }

  @Test func `what the system repeats is not typed`() {
    let found = lines { typist in
      typist.press(2)
      for _ in 0..<10 { typist.key(2, 2) }
      typist.release(2)
      typist.tap(2)
    }
    #expect(found == [.text("11")])
  }

  @Test func `keys that are no characters are ignored`() {
    let found = lines { typist in
      for code in [1, 14, 59, 88, 102, 103, 125, 127, 128, 240, 0x2FF, 0xFFFF] { typist.tap(code) }
      typist.tap(2)
      typist.event(2, 2, 1)
      typist.event(0x15, 2, 1)
      typist.event(KeyEvent.key, 3, -1)
      typist.event(KeyEvent.key, 3, .max)
    }
    #expect(found == [.text("1")])
  }

  @Test func `half an event that is dropped costs its line only`() {
    var decoder = KeyboardDecoder(layout: .us)
    var lines: [LineFramer.Line] = []
    decoder.append(KeyTypist.typed("0\n12").dropLast(11), to: &lines)
    #expect(decoder.isInsideEvent)
    decoder.dropPartialEvent(&lines)
    decoder.dropPartialEvent(&lines)
    decoder.append(KeyTypist.typed("3\n4\n"), to: &lines)
    #expect(lines == [.text("0"), .fault(.eventsLost), .text("4")])
  }

  // MARK: Lost events

  @Test func `where the system lost events the line goes, and is reported once`() {
    var typist = KeyTypist()
    typist.type("123")
    typist.press(KeyCode.leftShift)
    typist.dropEvents()
    typist.event(KeyEvent.key, KeyCode.enter, 1)
    typist.report()
    typist.type("4")
    typist.dropEvents()
    typist.report()
    typist.type("56\n789\n")
    #expect(lines(typist.bytes) == [.fault(.eventsLost), .text("789")])
  }

  // MARK: What is held

  @Test func `shift of either side, and both`() {
    let found = lines { typist in
      typist.tap(30, 2, holding: [KeyCode.leftShift])
      typist.tap(30, holding: [KeyCode.rightShift])
      typist.press(KeyCode.leftShift)
      typist.tap(31, holding: [KeyCode.rightShift])
      typist.tap(31)
      typist.release(KeyCode.leftShift)
      typist.tap(31)
    }
    #expect(found == [.text("A!ASSs")])
  }

  @Test func `caps lock is for letters, and shift undoes it`() {
    let found = lines { typist in
      typist.tap(KeyCode.capsLock)
      typist.type("ab1")
      typist.tap(30, 2, holding: [KeyCode.leftShift])
      typist.tap(KeyCode.capsLock)
      typist.type("a")
    }
    #expect(found == [.text("AB1a!a")])
  }

  @Test func `the number pad`() {
    let found = lines { typist in
      typist.tap(79, 80, 81, 75, 76, 77, 71, 72, 73, 82, 83, 78, 74, 55, 98)
      typist.tap(KeyCode.padEnter)
      typist.type("x")
    }
    #expect(found == [.text("1234567890.+-*/"), .text("x")])
  }

  @Test func `control characters, by layout and as on a keyboard of the United States`() {
    #expect(
      lines { typist in
        typist.type("01")
        typist.tap(27, holding: [KeyCode.leftControl])
        typist.tap(27, holding: [KeyCode.rightControl])
        typist.tap(7, holding: [KeyCode.leftControl, KeyCode.leftShift])
        typist.tap(2, holding: [KeyCode.leftControl])
      } == [.text("01\u{1D}\u{1D}\u{1E}")])
    #expect(
      lines(.de) { typist in
        typist.tap(27, holding: [KeyCode.leftControl])
        typist.tap(10, holding: [KeyCode.leftControl, KeyCode.rightAlt])
        typist.tap(2)
      } == [.text("\u{1D}\u{1D}1")])
    #expect(lines { $0.tap(2, 50, 3, 36, 4, holding: []) } == [.text("1m2j3")])
    #expect(
      lines { typist in
        typist.tap(2)
        typist.tap(50, holding: [KeyCode.leftControl])
        typist.tap(36, holding: [KeyCode.leftControl])
        typist.tap(3)
      } == [.text("1"), .text("2")])
  }

  @Test func `characters by their number`() {
    func alt(_ digits: String) -> [LineFramer.Line] {
      lines { typist in
        let keys = Dictionary(uniqueKeysWithValues: KeyCode.padDigits.map { ($0.value, $0.key) })
        typist.press(KeyCode.leftAlt)
        for digit in digits.utf8 { typist.tap(keys[digit - UInt8(ascii: "0")]!) }
        typist.release(KeyCode.leftAlt)
        typist.type("x")
      }
    }
    #expect(alt("029") == [.text("\u{1D}x")])
    #expect(alt("65") == [.text("Ax")])
    #expect(alt("0228") == [.text("äx")])
    #expect(alt("228") == [.text("x")])
    #expect(alt("0") == [.text("x")])
    #expect(alt("") == [.text("x")])
    #expect(alt(String(repeating: "9", count: 1000)) == [.text("x")])
    #expect(alt("10") == [.text("x")])
    #expect(lines { $0.tap(30, holding: [KeyCode.leftAlt]) } == [])
  }

  // MARK: Layouts

  @Test func `every printable character of ASCII is on the keyboard of the United States`() {
    var typed: Set<Unicode.Scalar> = []
    for code in 0..<128 {
      guard let key = KeyMap.us[code] else { continue }
      for character in [key.plain, key.shifted] { if let character { typed.insert(character) } }
    }
    #expect((0x20..<0x7F).allSatisfy { typed.contains(Unicode.Scalar($0)!) })
  }

  @Test func `rows of a layout are whole`() {
    for layout in KeyboardLayout.allCases {
      let map = KeyMap.of(layout)
      for code in [2...13, 16...27, 30...40, 44...53].joined() {
        #expect(map[code]?.plain != nil && map[code]?.shifted != nil, "\(layout), key \(code)")
      }
    }
  }

  @Test func `germany`() {
    let found = lines(.de) { typist in
      typist.type("yz-/")
      typist.tap(8, 12, 26, 86, holding: [KeyCode.leftShift])
      typist.tap(16, 8, 11, 27, 12, holding: [KeyCode.rightAlt])
      typist.tap(26, 39, 40, 12, 53, 83)
      typist.tap(KeyCode.capsLock)
      typist.tap(26, 12)
    }
    #expect(found == [.text("zyß-/?Ü>@{}~\\üöäß-,Üß")])
  }

  @Test func `france`() {
    let found = lines(.fr) { typist in
      typist.type("1234567890")
      typist.tap(2, 3, 4, 5, 6, 7, 8, 9, 10, 11, holding: [KeyCode.leftShift])
      typist.type("qwam;")
      typist.tap(39, 50)
      typist.tap(10, 11, holding: [KeyCode.rightAlt])
    }
    #expect(found == [.text("&é\"'(-è_çà1234567890azq,mm,^@")])
  }

  @Test func `marks wait for their letter`() {
    let found = lines(.de) { typist in
      typist.tap(KeyCode.leftOfDigits, 18)
      typist.tap(13, 16)
      typist.tap(KeyCode.leftOfDigits, KeyCode.space)
      typist.tap(KeyCode.leftOfDigits, KeyCode.leftOfDigits)
      typist.tap(13, holding: [KeyCode.leftShift])
      typist.tap(30)
      typist.tap(13)
    }
    #expect(found == [.text("ê´q^^à´")])
  }

  // MARK: Anything

  @Test func `random bytes and random events neither trap nor pile up`() {
    var generator = SeededGenerator(for: "KeyboardDecoderTests")
    for layout in KeyboardLayout.allCases {
      var decoder = KeyboardDecoder(layout: layout)
      for _ in 0..<300 * depth {
        var lines: [LineFramer.Line] = []
        decoder.append(generator.bytes(Int.random(in: 0...200, using: &generator)), to: &lines)
        for _ in 0..<100 {
          let type = UInt16.random(in: 0...4, using: &generator)
          let code = UInt16.random(in: 0...130, using: &generator)
          let value = Int32.random(in: -1...3, using: &generator)
          decoder.append(KeyTypist.event(type, code, value), to: &lines)
        }
        #expect(lines.count <= 110)
        for case .text(let text) in lines { #expect(text.utf8.count <= 4096 && !text.isEmpty) }
      }
    }
  }
}
