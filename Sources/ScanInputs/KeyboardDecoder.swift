/// Reads lines from the events of a keyboard, which come in pieces of any size.
///
/// A scanner types: it presses and releases keys as a person would, faster. What the system repeats while a key is held is
/// not typed by a scanner, and is ignored; so are keys that mean no character. Enter is a carriage return, a line feed and both:
/// it ends a line if any of these does.
///
/// Memory: one event, one line.
struct KeyboardDecoder {
  private let map: KeyMap
  private let ends: [LineEnd]
  private var framer: LineFramer
  /// The beginning of an event whose rest has not come yet.
  private var partial: [UInt8] = []

  // What is held of the keys that change others, and what was typed that awaits more.
  private var held: Set<Int> = []
  private var hasCapsLock = false
  private var mark: Unicode.Scalar?
  private var altCode = AltCode()
  /// Whether the system lost events, and the line in which it did goes on.
  private var isBroken = false
  /// Whether events up to the next report are to be ignored, as the system says.
  private var awaitsReport = false

  /// The keys that change what others mean.
  private static let modifiers: Set<Int> = [
    KeyCode.leftShift, KeyCode.rightShift, KeyCode.leftControl, KeyCode.rightControl, KeyCode.leftAlt, KeyCode.rightAlt,
  ]

  init(layout: KeyboardLayout, format: LineFormat = LineFormat()) {
    map = KeyMap.of(layout)
    ends = format.ends
    framer = LineFramer(Self.typed(format))
  }

  /// How lines are characters as they are typed here: in UTF-8, and an end that is two keys elsewhere is one.
  private static func typed(_ format: LineFormat) -> LineFormat {
    var format = format
    format.encoding = .utf8
    if format.ends.contains(where: \.isNewline) { format.ends += [.carriageReturn, .lineFeed] }
    return format
  }

  /// A decoder that goes on where another one stopped, under other settings.
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

  /// Whether the rest of an event is still to come.
  var isInsideEvent: Bool { !partial.isEmpty }

  /// Whether a line has begun.
  var isInsideLine: Bool { framer.isInsideLine || mark != nil }

  /// Ends the line that has begun: nothing was typed for long.
  mutating func finish(_ lines: inout [LineFramer.Line]) {
    if let mark { framer.append(UTF8.encode(mark)!, to: &lines) }
    mark = nil
    framer.finish(&lines)
    isBroken = false
  }

  /// Takes more bytes; the lines they complete are appended to `lines`.
  mutating func append(_ bytes: some Sequence<UInt8>, to lines: inout [LineFramer.Line]) {
    for byte in bytes {
      partial.append(byte)
      guard partial.count == KeyEvent.byteCount else { continue }
      take(KeyEvent(partial), &lines)
      partial.removeAll(keepingCapacity: true)
    }
  }

  /// Forgets half an event, whose rest will not come, and the line that it belongs to.
  mutating func dropPartialEvent(_ lines: inout [LineFramer.Line]) {
    guard isInsideEvent else { return }
    partial.removeAll(keepingCapacity: true)
    loseEvents(&lines)
  }

  /// Drops the line up to its end, as it would have holes, and tells so once.
  private mutating func loseEvents(_ lines: inout [LineFramer.Line]) {
    if !isBroken { lines.append(.fault(.eventsLost)) }
    isBroken = true
    // What was released meanwhile nobody knows.
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
        // With AltGr, a character is itself everywhere.
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

  /// What a key is, with what is held.
  private func character(of code: Int) -> Unicode.Scalar? {
    if let digit = KeyCode.padDigits[code] { return Unicode.Scalar(UInt8(ascii: "0") + digit) }
    if code == KeyCode.padDecimal { return map.decimalSeparator }
    if let operation = KeyCode.padOperators[code] { return operation }
    let isControl = held.contains(KeyCode.leftControl) || held.contains(KeyCode.rightControl)
    guard isControl else { return character(of: map[code]) }
    // Scanners mean the control character, such as the separator of GS1 by Ctrl and ]; where the layout has none there, they
    // mean the keyboard of the United States.
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

/// A character by its number, typed on the number pad while Alt is held.
private struct AltCode {
  private var number: UInt32 = 0
  private var digitCount = 0
  private var startsWithZero = false

  mutating func append(_ digit: UInt8) {
    if digitCount == 0 { startsWithZero = digit == 0 }
    digitCount += 1
    // Beyond every character already: more digits change nothing.
    if number < 0x11_0000 { number = number * 10 + UInt32(digit) }
  }

  /// ASCII; behind a zero also the characters beyond it where Windows' own set is Unicode. Others depend on a code page.
  var character: Unicode.Scalar? {
    guard digitCount > 0 else { return nil }
    return switch number {
    case 1...0x7F: Unicode.Scalar(number)
    case 0xA0...0xFF where startsWithZero: Unicode.Scalar(number)
    default: nil
    }
  }
}
