/// Decodes lines from a stream of keyboard events, which may be split at any byte.
///
/// A scanner presses and releases keys like a person, but faster. Automatic key repeat is ignored, because a scanner
/// does not use it, and so are keys without a character. Enter counts as carriage return, line feed and both: it ends a
/// line if any of these does.
///
/// Memory: one event and one line.
struct KeyboardDecoder {
  private let map: KeyMap
  private let ends: [LineEnd]
  private var framer: LineFramer
  /// The bytes of an incomplete event.
  private var partial: [UInt8] = []

  // The state of modifier keys, and of input that is not complete yet.
  private var held: Set<Int> = []
  private var hasCapsLock = false
  private var mark: Unicode.Scalar?
  private var altCode = AltCode()
  /// Whether the system lost events, and the affected line continues.
  private var isBroken = false
  /// Whether to ignore events until the next report, as the system requires.
  private var awaitsReport = false

  /// The modifier keys.
  private static let modifiers: Set<Int> = [
    KeyCode.leftShift, KeyCode.rightShift, KeyCode.leftControl, KeyCode.rightControl, KeyCode.leftAlt, KeyCode.rightAlt,
  ]

  init(layout: KeyboardLayout, format: LineFormat = LineFormat()) {
    map = KeyMap.of(layout)
    ends = format.ends
    framer = LineFramer(Self.typed(format))
  }

  /// The line format of typed input: UTF-8, with any two-byte line end as one key.
  private static func typed(_ format: LineFormat) -> LineFormat {
    var format = format
    format.encoding = .utf8
    if format.ends.contains(where: \.isNewline) { format.ends += [.carriageReturn, .lineFeed] }
    return format
  }

  /// Creates a decoder that continues the state of another one with other settings.
  init(layout: KeyboardLayout, format: LineFormat, after former: KeyboardDecoder) {
    self.init(layout: layout, format: format)
    framer = LineFramer(Self.typed(format), after: former.framer.beginning)
    partial = former.partial
    held = former.held
    hasCapsLock = former.hasCapsLock
    mark = former.mark
    altCode = former.altCode
    isBroken = former.isBroken
    awaitsReport = former.awaitsReport
  }

  /// Whether an event is incomplete.
  var isInsideEvent: Bool { !partial.isEmpty }

  /// Whether a line has begun.
  var isInsideLine: Bool { framer.isInsideLine || mark != nil }

  /// Ends the current line after a pause.
  mutating func finish(_ lines: inout [LineFramer.Line]) {
    if let mark { framer.append(UTF8.encode(mark)!, to: &lines) }
    mark = nil
    framer.finish(&lines)
    isBroken = false
  }

  /// Decodes more bytes. Completed lines are appended to `lines`.
  mutating func append(_ bytes: some Sequence<UInt8>, to lines: inout [LineFramer.Line]) {
    for byte in bytes {
      partial.append(byte)
      guard partial.count == KeyEvent.byteCount else { continue }
      take(KeyEvent(partial), &lines)
      partial.removeAll(keepingCapacity: true)
    }
  }

  /// Discards an incomplete event, whose rest will not arrive, and its line.
  mutating func dropPartialEvent(_ lines: inout [LineFramer.Line]) {
    guard isInsideEvent else { return }
    partial.removeAll(keepingCapacity: true)
    loseEvents(&lines)
  }

  /// Discards the line up to its end, because it would have gaps, and reports it once.
  private mutating func loseEvents(_ lines: inout [LineFramer.Line]) {
    if !isBroken { lines.append(.fault(.eventsLost)) }
    isBroken = true
    // Keys may have been released meanwhile.
    held = []
    mark = nil
    altCode = AltCode()
    framer.discardLine()
  }

  private mutating func take(_ event: KeyEvent, _ lines: inout [LineFramer.Line]) {
    switch (event.type, event.code) {
    case (KeyEvent.synchronization, KeyEvent.dropped):
      loseEvents(&lines)
      awaitsReport = true
    case (KeyEvent.synchronization, KeyEvent.report):
      awaitsReport = false
    case (KeyEvent.key, let code) where !awaitsReport:
      switch event.value {
      case KeyEvent.pressed: press(Int(code), &lines)
      case KeyEvent.released: release(Int(code), &lines)
      default: break
      }
    default: break
    }
  }

  private mutating func press(_ code: Int, _ lines: inout [LineFramer.Line]) {
    switch code {
    case _ where Self.modifiers.contains(code): held.insert(code)
    case KeyCode.capsLock: hasCapsLock.toggle()
    case KeyCode.enter, KeyCode.padEnter: type("\n", &lines)
    default:
      if held.contains(KeyCode.leftAlt) {
        if let digit = KeyCode.padDigits[code] { altCode.append(digit) }
      } else if let character = character(of: code) {
        // With AltGr, an accent is a normal character in every layout.
        let isMark = map.deadKeys.contains(character) && !held.contains(KeyCode.rightAlt)
        type(character, isMark: isMark, &lines)
      }
    }
  }

  private mutating func release(_ code: Int, _ lines: inout [LineFramer.Line]) {
    held.remove(code)
    guard code == KeyCode.leftAlt else { return }
    if let character = altCode.character { type(character, &lines) }
    altCode = AltCode()
  }

  /// The character of a key with the current modifiers.
  private func character(of code: Int) -> Unicode.Scalar? {
    if let digit = KeyCode.padDigits[code] { return Unicode.Scalar(UInt8(ascii: "0") + digit) }
    if code == KeyCode.padDecimal { return map.decimalSeparator }
    if let operation = KeyCode.padOperators[code] { return operation }
    let isControl = held.contains(KeyCode.leftControl) || held.contains(KeyCode.rightControl)
    guard isControl else { return character(of: map[code]) }
    // Scanners send control characters this way, for example the GS1 separator as Ctrl and ]. If the key is not a
    // control character in the layout, the layout of the United States is meant.
    return character(of: map[code]).flatMap(Self.control) ?? character(of: KeyMap.us[code]).flatMap(Self.control)
  }

  private func character(of key: KeyMap.Key?) -> Unicode.Scalar? {
    guard let key else { return nil }
    if held.contains(KeyCode.rightAlt) { return key.alternate }
    let isShifted = held.contains(KeyCode.leftShift) || held.contains(KeyCode.rightShift)
    return isShifted != (hasCapsLock && key.isLetter) ? key.shifted : key.plain
  }

  /// The control character of a letter or of `@[\]^_`.
  private static func control(_ character: Unicode.Scalar) -> Unicode.Scalar? {
    switch character.value {
    case 0x40...0x5F: Unicode.Scalar(character.value - 0x40)
    case 0x61...0x7A: Unicode.Scalar(character.value - 0x60)
    default: nil
    }
  }

  private mutating func type(_ character: Unicode.Scalar, isMark: Bool = false, _ lines: inout [LineFramer.Line]) {
    let isNewline = character == "\n" || character == "\r"
    let isEnd = ends.contains { $0.isNewline ? isNewline : character.utf8.elementsEqual($0.bytes) }
    var typed = [character]
    if let waiting = mark {
      mark = nil
      typed = isEnd ? [waiting, character] : DeadKeys.compose(waiting, character)
    } else if isMark {
      mark = character
      return
    }
    for scalar in typed { framer.append(UTF8.encode(scalar)!, to: &lines) }
    if isEnd { isBroken = false }
  }
}

/// A character that is typed by its number on the number pad while Alt is held.
private struct AltCode {
  private var number: UInt32 = 0
  private var digitCount = 0
  private var startsWithZero = false

  mutating func append(_ digit: UInt8) {
    if digitCount == 0 { startsWithZero = digit == 0 }
    digitCount += 1
    // The number already exceeds every character; more digits change nothing.
    if number < 0x11_0000 { number = number * 10 + UInt32(digit) }
  }

  /// The character: ASCII or, after a leading zero, the characters of Windows-1252 that are the same in Unicode. Other
  /// numbers depend on a code page.
  var character: Unicode.Scalar? {
    guard digitCount > 0 else { return nil }
    return switch number {
    case 1...0x7F: Unicode.Scalar(number)
    case 0xA0...0xFF where startsWithZero: Unicode.Scalar(number)
    default: nil
    }
  }
}
