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

  /// The lines, each as its code; one that lost keys as `faulty: ` and its code.
  private func codes(
    _ layout: KeyboardLayout = .us, keys: KeyAssignments = KeyAssignments(), encoding: TextEncoding = .utf8,
    limit: Int = 4096,
    _ type: (inout KeyTypist) -> Void
  ) -> [String] {
    var typist = KeyTypist()
    type(&typist)
    typist.tap(KeyCode.enter)
    var format = LineFormat()
    format.encoding = encoding
    format.maximumByteCount = limit
    var decoder = KeyboardDecoder(layout: layout, keys: keys, format: format)
    var lines: [LineFramer.Line] = []
    decoder.append(typist.bytes, to: &lines)
    #expect(!decoder.isInsideLine)
    return lines.map { line in
      switch line {
      case .text(let text): text
      case .keys(let line): "faulty: " + line.code
      case .fault(let fault): fault.name
      default: "\(line)"
      }
    }
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

  @Test func `what is no pressed key is ignored`() {
    let found = lines { typist in
      typist.tap(2)
      typist.event(2, 2, 1)
      typist.event(0x15, 2, 1)
      typist.event(KeyEvent.key, 3, -1)
      typist.event(KeyEvent.key, 3, .max)
      typist.tap(4)
    }
    #expect(found == [.text("13")])
  }

  // MARK: Keys that are no characters

  @Test(arguments: [
    (1, "ESC"), (14, "BACKSPACE"), (59, "F1"), (66, "F8"), (88, "F12"), (183, "F13"), (194, "F24"), (99, "SYSRQ"),
    (102, "HOME"), (103, "UP"), (105, "LEFT"), (108, "DOWN"), (110, "INSERT"), (111, "DELETE"), (119, "PAUSE"),
    (127, "COMPOSE"), (113, "MUTE"), (0, "key 0"), (84, "key 84"), (128, "key 128"), (240, "key 240"),
    (0x2FF, "key 767"), (0xFFFF, "key 65535"),
  ])
  func `a key that stands for no character makes its line faulty`(code: Int, name: String) throws {
    for type in [
      { typist in
        typist.type("12"); typist.tap(code); typist.type("34")
      },
      { typist in
        typist.tap(code); typist.type("12")
      },
    ] as [(inout KeyTypist) -> Void] {
      let found = codes { typist in
        type(&typist)
        typist.type("\n5")
      }
      #expect(found.count == 2 && found[0].hasPrefix("faulty: ") && found[0].contains("{\(name)}"), "\(found)")
      #expect(found[1] == "5", "the next line is whole")
    }
  }

  @Test func `a faulty line has the text and a byte for each lost key`() throws {
    let found = lines(.de) { typist in
      typist.tap(2, 26, 103, 103, 3, 59)
    }
    guard case .keys(let line)? = found.first else {
      Issue.record("\(found)")
      return
    }
    #expect(line.code == "1ü{UP}{UP}2" && line.keys == ["UP", "UP"])
    #expect(line.bytes == Array("1ü".utf8) + [0xFF, 0xFF, 0x32])
    #expect(found.count == 1)
  }

  @Test func `keys after the last character lose nothing, except what deletes it`() throws {
    for code in [1, 59, 66, 102, 103, 107, 111, 240] {
      #expect(
        codes {
          $0.type("12"); $0.tap(code); $0.tap(code)
        } == ["12"], "key \(code)")
      #expect(codes { $0.tap(code) } == [], "key \(code) alone")
    }
    #expect(
      codes {
        $0.type("12"); $0.tap(14)
      } == ["faulty: 12{BACKSPACE}"])
    #expect(
      codes {
        $0.type("12"); $0.tap(59, 14)
      } == ["faulty: 12{F1}{BACKSPACE}"])
    #expect(codes { $0.tap(14) } == [])
  }

  @Test func `modifiers, locks and buttons of a mouse lose nothing`() throws {
    let found = codes { typist in
      for code in [29, 42, 54, 56, 69, 70, 97, 100, 125, 126, 464, 0x110, 0x14A, 0x2C0] {
        typist.type("1")
        typist.tap(code)
        typist.tap(code, code)
      }
      typist.type("1")
    }
    #expect(found == [String(repeating: "1", count: 15)])
  }

  @Test func `commands are no characters`() throws {
    #expect(
      codes {
        $0.type("1"); $0.tap(30, holding: [KeyCode.leftAlt]); $0.type("2")
      } == ["faulty: 1{Alt+A}2"])
    #expect(
      codes {
        $0.type("1"); $0.tap(5, holding: [KeyCode.leftAlt]); $0.type("2")
      } == ["faulty: 1{Alt+4}2"])
    #expect(
      codes {
        $0.type("1"); $0.tap(19, holding: [KeyCode.leftMeta]); $0.type("2")
      } == ["faulty: 1{Meta+R}2"])
    #expect(
      codes {
        $0.type("1"); $0.tap(2, holding: [KeyCode.leftControl]); $0.type("2")
      } == ["faulty: 1{Ctrl+1}2"])
    #expect(
      codes {
        $0.type("1"); $0.tap(30, holding: [KeyCode.rightAlt]); $0.type("2")
      } == ["faulty: 1{AltGr+A}2"])
    #expect(
      codes {
        $0.type("1"); $0.tap(66, holding: [KeyCode.leftControl, KeyCode.leftAlt]); $0.type("2")
      }
        == ["faulty: 1{Ctrl+Alt+F8}2"])
  }

  @Test func `a mark before a lost key is a character`() throws {
    #expect(codes(.de) { $0.tap(13, 59, 18) } == ["faulty: ´{F1}e"])
    #expect(codes(.de) { $0.tap(13, 59) } == ["´"])
    #expect(codes(.de) { $0.tap(59, 13) } == ["faulty: {F1}´"])
  }

  @Test func `thousands of lost keys take no more room than a line`() throws {
    #expect(
      codes(limit: 20) { typist in
        typist.type("1")
        for _ in 0..<5000 { typist.tap(59) }
      } == ["1"])
    #expect(
      codes(limit: 20) { typist in
        typist.type("1")
        for _ in 0..<5000 { typist.tap(59) }
        typist.type("2\n3")
      } == ["tooLong", "3"])
    #expect(
      codes(limit: 20) { typist in
        for _ in 0..<5000 {
          typist.tap(59)
          typist.tap(KeyCode.padPlus, holding: [KeyCode.leftAlt])
        }
        typist.type("\n3")
      } == ["tooLong", "3"])
  }

  @Test func `a pause ends a line that lost keys, and forgets keys alone`() {
    var decoder = KeyboardDecoder(layout: .us)
    var lines: [LineFramer.Line] = []
    var typist = KeyTypist()
    typist.tap(59)
    decoder.append(typist.bytes, to: &lines)
    #expect(decoder.isInsideLine)
    decoder.finish(&lines)
    #expect(lines.isEmpty && !decoder.isInsideLine)
    typist = KeyTypist()
    typist.type("1")
    typist.press(KeyCode.leftAlt)
    typist.tap(77, 76)
    decoder.append(typist.bytes, to: &lines)
    decoder.finish(&lines)
    guard case .keys(let line)? = lines.first else {
      Issue.record("\(lines)")
      return
    }
    #expect(line.code == "1{Alt+65}" && !decoder.isInsideLine)
  }

  @Test func `a decoder that goes on knows what its line has lost`() throws {
    var typist = KeyTypist()
    typist.type("1")
    typist.tap(59)
    typist.type("2")
    typist.tap(60)
    var decoder = KeyboardDecoder(layout: .us)
    var lines: [LineFramer.Line] = []
    decoder.append(typist.bytes, to: &lines)
    decoder = KeyboardDecoder(
      layout: .us, keys: try KeyAssignments(["F3": "GS"]), format: LineFormat(), after: decoder)
    typist = KeyTypist()
    typist.type("3")
    typist.tap(61)
    typist.type("4\n")
    decoder.append(typist.bytes, to: &lines)
    guard case .keys(let line)? = lines.first else {
      Issue.record("\(lines)")
      return
    }
    #expect(line.code == "1{F1}2{F2}3\u{1D}4" && lines.count == 1)
  }

  // MARK: Keys that stand for characters

  @Test func `keys stand for characters as the settings say`() throws {
    let keys = try KeyAssignments([
      "F8": "GS", "F9": "RS", "DOWN": "US", "F24": "EOT", "ESC": "é", "PAUSE": "~",
    ])
    let found = codes(keys: keys) { typist in
      typist.type("01")
      typist.tap(66, 67, 108, 194, 1, 119)
      typist.tap(66, holding: [KeyCode.leftShift])
      typist.type("x")
    }
    #expect(found == ["01\u{1D}\u{1E}\u{1F}\u{4}é~\u{1D}x"])
    #expect(
      codes(keys: keys) {
        $0.type("1"); $0.tap(66)
      } == ["1\u{1D}"], "a separator at the end is a part")
    #expect(
      codes(keys: keys) {
        $0.type("1"); $0.tap(65); $0.type("2")
      } == ["faulty: 1{F7}2"])
    #expect(
      codes(keys: keys) {
        $0.type("1"); $0.tap(66, holding: [KeyCode.leftControl]); $0.type("2")
      }
        == ["faulty: 1{Ctrl+F8}2"])
  }

  @Test func `a label of GS1 whose separator is F8`() throws {
    func type(_ typist: inout KeyTypist) {
      typist.type("01047199990000191")
      typist.type("0AC")
      typist.tap(66)
      typist.type("21XY")
    }
    #expect(try codes(keys: KeyAssignments(["F8": "GS"]), type) == ["010471999900001910AC\u{1D}21XY"])
    #expect(codes(encoding: .utf8, type) == ["faulty: 010471999900001910AC{F8}21XY"])
  }

  @Test func `a key before each code may be a prefix`() throws {
    var format = LineFormat()
    format.prefix = "\u{2}"
    var decoder = KeyboardDecoder(layout: .us, keys: try KeyAssignments(["F12": "\u{2}"]), format: format)
    var typist = KeyTypist()
    for _ in 0..<2 {
      typist.tap(88)
      typist.type("690\n")
    }
    var lines: [LineFramer.Line] = []
    decoder.append(typist.bytes, to: &lines)
    #expect(lines == [.text("690"), .text("690")])
  }

  @Test func `a key may end a line`() throws {
    #expect(
      try codes(keys: KeyAssignments(["F10": "\r"])) {
        $0.type("1"); $0.tap(68); $0.type("2")
      } == ["1", "2"])
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

  @Test func `a line of which the system dropped events has lost characters, wherever they were`() {
    func dropped(_ before: String, _ after: String) -> [String] {
      codes { typist in
        typist.type(before)
        typist.dropEvents()
        // The system says to ignore events up to the next report.
        typist.event(KeyEvent.key, KeyCode.enter, 1)
        typist.report()
        typist.type(after)
      }
    }
    #expect(dropped("A1", "00\n5") == ["faulty: A1{dropped events}00", "5"])
    #expect(dropped("", "A100\n5") == ["faulty: {dropped events}A100", "5"], "before the first key")
    #expect(dropped("A100", "\n5") == ["faulty: A100{dropped events}", "5"], "before Enter")
    #expect(dropped("1\n23", "45\n6") == ["1", "faulty: 23{dropped events}45", "6"], "Enter may be among them")
    #expect(dropped("", "\n5") == ["faulty: {dropped events}", "5"], "a line may be among them")
    #expect(
      codes {
        $0.type("1"); $0.dropEvents(); $0.report(); $0.dropEvents(); $0.report(); $0.type("2\n3")
      } == ["faulty: 1{dropped events}{dropped events}2", "3"])
    // The end of a line that is too long may be among them too.
    #expect(
      codes(limit: 20) {
        $0.type(String(repeating: "1", count: 30)); $0.dropEvents(); $0.report(); $0.type("2\n3")
      } == ["tooLong", "faulty: {dropped events}2", "3"])
    // A number with Alt and an accent that wait.
    #expect(
      codes(.de) {
        $0.press(KeyCode.leftAlt); $0.tap(77, 76); $0.dropEvents(); $0.report(); $0.type("1\n2")
      } == ["faulty: {Alt+65}{dropped events}1", "2"])
    #expect(
      codes(.de) {
        $0.tap(KeyCode.leftOfDigits); $0.dropEvents(); $0.report(); $0.type("1\n2")
      } == ["faulty: ^{dropped events}1", "2"])
  }

  @Test(arguments: [29, 42, 54, 56, 97, 100, 125, 126])
  func `a modifier whose release the system dropped is not held any more`(code: Int) {
    let found = codes { typist in
      typist.press(code)
      typist.dropEvents()
      typist.report()
      typist.type("a1\na1")
    }
    #expect(found == ["faulty: {dropped events}a1", "a1"])
  }

  @Test func `caps lock that the system dropped is as before the line`() {
    let found = codes { typist in
      typist.tap(KeyCode.capsLock)
      typist.type("a")
      typist.dropEvents()
      typist.report()
      typist.type("\na\n")
      // The other one of the pair is there.
      typist.tap(KeyCode.capsLock)
      typist.dropEvents()
      typist.report()
      typist.type("a")
      typist.tap(KeyCode.capsLock)
      typist.type("\na")
    }
    #expect(found == ["faulty: A{dropped events}", "a", "faulty: {dropped events}A", "a"])
  }

  @Test func `a decoder that goes on knows that events of its line were dropped`() {
    var typist = KeyTypist()
    typist.press(KeyCode.capsLock)
    typist.dropEvents()
    var decoder = KeyboardDecoder(layout: .us)
    var lines: [LineFramer.Line] = []
    decoder.append(typist.bytes, to: &lines)
    #expect(decoder.isInsideLine && lines.isEmpty)
    decoder = KeyboardDecoder(layout: .us, keys: KeyAssignments(), format: LineFormat(), after: decoder)
    typist = KeyTypist()
    typist.report()
    typist.type("a\na\n")
    decoder.append(typist.bytes, to: &lines)
    guard case .keys(let line)? = lines.first else {
      Issue.record("\(lines)")
      return
    }
    #expect(line.code == "{dropped events}A" && lines.dropFirst() == [.text("a")])
  }

  @Test func `characters that were pressed with a modifier are lost, even if they are the whole line`() {
    func held(_ modifier: Int, _ keys: [Int], before: String = "") -> [String] {
      codes { typist in
        typist.type(before)
        typist.press(modifier)
        for key in keys { typist.tap(key) }
        typist.release(modifier)
        typist.type("\n5")
      }
    }
    #expect(held(56, [30, 2, 11, 11]) == ["faulty: {Alt+A}{Alt+1}{Alt+0}{Alt+0}", "5"])
    #expect(held(29, [2, 3]) == ["faulty: {Ctrl+1}{Ctrl+2}", "5"])
    #expect(held(125, [30]) == ["faulty: {Meta+A}", "5"] && held(126, [79]) == ["faulty: {Meta+KP1}", "5"])
    #expect(held(100, [30, 57]) == ["faulty: {AltGr+A}{AltGr+SPACE}", "5"])
    #expect(held(56, [30], before: "12") == ["faulty: 12{Alt+A}", "5"])
    // These are characters on other keyboards.
    for code in [89, 95, 118, 124] { #expect(held(42, [code]).first?.hasPrefix("faulty: ") == true, "key \(code)") }
    // These are none.
    #expect(held(56, [59, 103]) == ["5"] && held(29, [66]) == ["5"])
    // Alt whose release never comes.
    #expect(
      codes {
        $0.press(56); $0.type("a1\nb2\n"); $0.tap(77)
      } == ["faulty: {Alt+A}{Alt+1}", "faulty: {Alt+B}{Alt+2}", "faulty: {Alt+6}"])
  }

  @Test func `an assigned key with a modifier is a lost character`() throws {
    let keys = try KeyAssignments(["F8": "GS"])
    #expect(
      codes(keys: keys) {
        $0.type("1"); $0.tap(66, holding: [KeyCode.leftControl])
      } == ["faulty: 1{Ctrl+F8}"])
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
    func alt(_ digits: String, _ encoding: TextEncoding = .utf8, key: Int = KeyCode.leftAlt) -> [String] {
      codes(encoding: encoding) { typist in
        typist.alt(digits, key)
        typist.type("x")
      }
    }
    #expect(alt("029") == ["\u{1D}x"] && alt("29") == ["\u{1D}x"])
    #expect(alt("65") == ["Ax"] && alt("000065") == ["Ax"])
    #expect(alt("10") == ["x"], "a line end")
    #expect(alt("") == ["x"])
    for key in [KeyCode.leftAlt, KeyCode.rightAlt] {
      for encoding in [TextEncoding.utf8, .latin1, .gb18030] {
        // Code page 437 without, and Windows-1252 with a leading zero.
        #expect(alt("132", encoding, key: key) == ["äx"] && alt("0132", encoding, key: key) == ["„x"])
        #expect(alt("228", encoding, key: key) == ["Σx"] && alt("0228", encoding, key: key) == ["äx"])
        #expect(alt("128", encoding, key: key) == ["Çx"] && alt("0128", encoding, key: key) == ["€x"])
        #expect(alt("255", encoding, key: key) == ["\u{A0}x"] && alt("0255", encoding, key: key) == ["ÿx"])
        for number in ["0129", "0141", "0143", "0144", "0157", "0", "00"] {
          #expect(alt(number, encoding, key: key) == ["faulty: {Alt+\(number)}x"])
        }
      }
    }
    // Unicode.
    #expect(alt("256") == ["Āx"] && alt("0256") == ["Āx"] && alt("9996") == ["✌x"] && alt("128512") == ["😀x"])
    #expect(alt("47624") == ["\u{BA08}x"] && alt("1114111") == ["\u{10FFFF}x"])
    for number in ["55296", "57343", "1114112", "4294967295", "4294967296", "4294967361", "9999999999"] {
      #expect(alt(number) == ["faulty: {Alt+\(number)}x"], "\(number)")
    }
    #expect(alt(String(repeating: "9", count: 1000)) == ["faulty: {Alt+9999999999…}x"])
    for number in ["256", "9996", "47624"] { #expect(alt(number, .latin1) == ["faulty: {Alt+\(number)}x"]) }
  }

  @Test(.enabled(if: TextEncoding.gb18030.isAvailable && TextEncoding.shiftJIS.isAvailable))
  func `characters by their number in GB 18030 and Shift-JIS`() throws {
    func alt(_ digits: String, _ encoding: TextEncoding) -> [String] {
      codes(encoding: encoding) { typist in
        typist.alt(digits)
        typist.type("x")
      }
    }
    // BB F5, BA 71, and four bytes: 81 30 81 30.
    #expect(alt("48117", .gb18030) == ["货x"])
    #expect(alt("47729", .gb18030) == [(TextEncoding.gb18030.text([0xBA, 0x71]) ?? "") + "x"])
    #expect(alt("2167439664", .gb18030) == ["\u{80}x"])
    // BA 08 is no character, nor are two characters of a byte each, and three bytes.
    for number in ["47624", "16705", "8421505", "4294967295"] {
      #expect(alt(number, .gb18030) == ["faulty: {Alt+\(number)}x"])
    }
    // 88 9F, and half-width katakana.
    #expect(alt("34975", .shiftJIS) == ["亜x"])
    #expect(alt("177", .shiftJIS) == ["ｱx"] && alt("0177", .shiftJIS) == ["ｱx"])
    for number in ["132", "224", "255", "16705"] {
      #expect(alt(number, .shiftJIS) == ["faulty: {Alt+\(number)}x"])
    }
  }

  @Test func `a number that means nothing is a lost character, wherever it stands`() throws {
    #expect(
      codes {
        $0.type("12"); $0.alt("0129")
      } == ["faulty: 12{Alt+0129}"])
    #expect(codes { $0.alt("55296") } == ["faulty: {Alt+55296}"])
    #expect(
      codes(encoding: .latin1) {
        $0.alt("47624"); $0.alt("47729"); $0.type("A100")
      }
        == ["faulty: {Alt+47624}{Alt+47729}A100"])
  }

  @Test func `numbers that are interrupted lose their character`() throws {
    let found = codes { typist in
      // Enter while Alt is held: the digits belong to the first line.
      typist.type("1")
      typist.press(KeyCode.leftAlt)
      typist.tap(77, 76)
      typist.tap(KeyCode.enter)
      typist.release(KeyCode.leftAlt)
      typist.type("2\n")
      // Another key among the digits.
      typist.press(KeyCode.leftAlt)
      typist.tap(77, 59, 76)
      typist.release(KeyCode.leftAlt)
      typist.type("\n")
      // A hexadecimal number.
      typist.type("3")
      typist.press(KeyCode.leftAlt)
      typist.tap(KeyCode.padPlus, 33, 33)
      typist.release(KeyCode.leftAlt)
      typist.type("\n")
      // Both Alt keys: the number ends with the last of them.
      typist.press(KeyCode.leftAlt)
      typist.press(KeyCode.rightAlt)
      typist.tap(77)
      typist.release(KeyCode.leftAlt)
      typist.tap(76)
      typist.release(KeyCode.rightAlt)
      typist.release(KeyCode.rightAlt)
    }
    #expect(found == ["faulty: 1{Alt+65}", "2", "faulty: {Alt+F1}A", "faulty: 3{Alt+F}{Alt+F}{Alt++}", "A"])
  }

  @Test func `the number pad types digits in either state of Num Lock`() throws {
    let found = codes { typist in
      typist.tap(79)
      typist.tap(KeyCode.numLock)
      typist.tap(80)
      typist.alt("0228")
      typist.tap(KeyCode.numLock)
      typist.alt("0228")
    }
    #expect(found == ["12ää"])
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
        for case .keys(let line) in lines {
          #expect(line.keys.count == line.bytes.count { $0 == 0xFF } && !line.keys.isEmpty)
        }
        #expect(!lines.contains { if case .bytes = $0 { true } else { false } })
      }
    }
  }
}
