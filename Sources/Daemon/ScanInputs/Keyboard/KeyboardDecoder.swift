/// Decodes lines from a stream of keyboard events, which may be split at any byte.
///
/// A scanner presses and releases keys like a person, but faster. Automatic key repeat is ignored, because a scanner
/// does not use it. Enter counts as carriage return, line feed and both: it ends a line if any of these does.
///
/// A key without a character, and an ``AltCode`` that means nothing, makes its line faulty, because a character is
/// missing: ``LineFramer/Line/keys(_:)``. So do events that the system dropped. Modifiers and locks alone lose nothing,
/// and neither do keys that type nothing on any layout, such as F8, if no character follows them: some scanners press
/// one after each code. A letter, a digit or another key of a character that types nothing with its modifiers is always
/// a lost character.
///
/// Memory: one event and one line.
struct KeyboardDecoder {
  private let map: KeyMap
  private let ends: [LineEnd]
  private let assignments: KeyAssignments
  private let encoding: TextEncoding
  /// The most keys that a line can lose before it is too long.
  private let limit: Int
  private var framer: LineFramer
  /// The bytes of an incomplete event.
  private var partial: [UInt8] = []

  // The state of modifier keys, and of input that is not complete yet.
  private var held: Set<Int> = []
  private var hasCapsLock = false
  private var mark: Unicode.Scalar?
  private var altCode = AltCode()
  /// The keys since the last character that have none. They lose nothing if no other character follows in the line.
  private var pending: [String] = []
  /// The keys that the line has lost: one for each ``lostKey`` in it.
  private var lost: [String] = []
  /// Whether half an event was dropped, and the affected line continues.
  private var isBroken = false
  /// Whether the system dropped events of the line.
  private var hasDroppedEvents = false
  /// Whether Caps Lock was on at the end of the line before.
  private var beganWithCapsLock = false
  /// Whether to ignore events until the next report, as the system requires.
  private var awaitsReport = false

  /// The modifier keys.
  private static let modifiers: Set<Int> = [
    KeyCode.leftShift, KeyCode.rightShift, KeyCode.leftControl, KeyCode.rightControl, KeyCode.leftAlt, KeyCode.rightAlt,
    KeyCode.leftMeta, KeyCode.rightMeta,
  ]

  /// The byte that the line has for a key without a character. It is never a part of UTF-8, so the line is no text.
  private static let lostKey: UInt8 = 0xFF

  /// The name of events that the system dropped, for people.
  static let droppedEvents = "dropped events"

  init(layout: KeyboardLayout, keys: KeyAssignments = KeyAssignments(), format: LineFormat = LineFormat()) {
    map = KeyMap.of(layout)
    assignments = keys
    encoding = format.encoding
    limit = max(1, format.maximumByteCount)
    ends = format.ends
    framer = LineFramer(Self.typed(format))
  }

  /// The line format of typed input: UTF-8, with any two-byte line end as one key.
  private static func typed(_ format: LineFormat) -> LineFormat {
    var format = format
    format.encoding = .utf8
    // Such a byte is a part of a character, or stands for a lost key.
    format.ends.removeAll { $0.bytes.contains { $0 >= 0x80 } }
    if format.ends.contains(where: \.isNewline) { format.ends += [.carriageReturn, .lineFeed] }
    return format
  }

  /// Creates a decoder that continues the state of another one with other settings.
  init(layout: KeyboardLayout, keys: KeyAssignments, format: LineFormat, after former: KeyboardDecoder) {
    self.init(layout: layout, keys: keys, format: format)
    framer = LineFramer(Self.typed(format), after: former.framer.beginning)
    partial = former.partial
    held = former.held
    hasCapsLock = former.hasCapsLock
    mark = former.mark
    altCode = former.altCode
    pending = former.pending
    lost = former.lost
    isBroken = former.isBroken
    hasDroppedEvents = former.hasDroppedEvents
    beganWithCapsLock = former.beganWithCapsLock
    awaitsReport = former.awaitsReport
  }

  /// Whether an event is incomplete.
  var isInsideEvent: Bool { !partial.isEmpty }

  /// Whether a line has begun.
  var isInsideLine: Bool { framer.isInsideLine || mark != nil || !altCode.isEmpty || !pending.isEmpty }

  /// Ends the current line after a pause.
  mutating func finish(_ lines: inout [LineFramer.Line]) {
    interruptAltCode(&lines)
    typeMark(&lines)
    frame(&lines) { framer, lines in framer.finish(&lines) }
    pending = []
    endLine()
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
    pending = []
    lost = []
    framer.discardLine()
  }

  /// Notes that the system dropped events, so that the line has lost characters, and perhaps its end.
  private mutating func dropEvents(_ lines: inout [LineFramer.Line]) {
    // If the line was refused, its end may be among the events, so a new line begins here.
    if framer.isSkipping { finish(&lines) }
    interruptAltCode(&lines)
    lose(Self.droppedEvents, isCharacter: true, &lines)
    // Modifiers may have been released meanwhile. The device is not asked for its keys (EVIOCGKEY), because that
    // discards the key events that wait to be read. A modifier that is still held may at most change this line, which
    // is faulty anyway.
    held = []
    hasDroppedEvents = true
  }

  /// Forgets what belongs to the line that ended.
  private mutating func endLine() {
    // A scanner that presses Caps Lock for a code presses it again after the code. Either may be among dropped events.
    if hasDroppedEvents { hasCapsLock = beganWithCapsLock }
    beganWithCapsLock = hasCapsLock
    hasDroppedEvents = false
    isBroken = false
  }

  private mutating func take(_ event: KeyEvent, _ lines: inout [LineFramer.Line]) {
    switch (event.type, event.code) {
    case (KeyEvent.synchronization, KeyEvent.dropped):
      dropEvents(&lines)
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
    // The number pad types digits in either state.
    case KeyCode.numLock, KeyCode.scrollLock, KeyCode.function: break
    case _ where KeyName.isButton(code): break
    case KeyCode.enter, KeyCode.padEnter:
      interruptAltCode(&lines)
      type("\n", &lines)
    default:
      if isAltHeld, altCode.append(code) { return }
      if hasNoCommand, let character = assignments.characters[code] { return type(character, &lines) }
      guard let character = character(of: code) else {
        // What deletes a character changes the line even after its last one.
        let deletes = code == KeyCode.backspace && (framer.isInsideLine || mark != nil)
        return lose(modifierNames + KeyName.of(code), isCharacter: deletes || isCharacterKey(code), &lines)
      }
      // With AltGr, an accent is a normal character in every layout.
      let isMark = map.deadKeys.contains(character) && !held.contains(KeyCode.rightAlt)
      type(character, isMark: isMark, &lines)
    }
  }

  private mutating func release(_ code: Int, _ lines: inout [LineFramer.Line]) {
    held.remove(code)
    guard code == KeyCode.leftAlt || code == KeyCode.rightAlt, !isAltHeld, !altCode.isEmpty else { return }
    guard let character = altCode.character(encoding) else { return interruptAltCode(&lines) }
    altCode = AltCode()
    type(character, &lines)
  }

  /// Loses a character by its number that is incomplete, or means nothing.
  private mutating func interruptAltCode(_ lines: inout [LineFramer.Line]) {
    if altCode.isEmpty { return }
    lose(altCode.name, isCharacter: true, &lines)
    altCode = AltCode()
  }

  // MARK: Modifiers

  private var isAltHeld: Bool { held.contains(KeyCode.leftAlt) || held.contains(KeyCode.rightAlt) }
  private var isControlHeld: Bool { held.contains(KeyCode.leftControl) || held.contains(KeyCode.rightControl) }
  private var isMetaHeld: Bool { held.contains(KeyCode.leftMeta) || held.contains(KeyCode.rightMeta) }
  /// Whether no modifier is held except Shift.
  private var hasNoCommand: Bool { !isAltHeld && !isControlHeld && !isMetaHeld }

  /// The modifiers that are held, except Shift, for people.
  private var modifierNames: String {
    (isControlHeld ? "Ctrl+" : "") + (held.contains(KeyCode.leftAlt) ? "Alt+" : "")
      + (held.contains(KeyCode.rightAlt) ? "AltGr+" : "") + (isMetaHeld ? "Meta+" : "")
  }

  // MARK: Characters

  /// Whether a key types a character without modifiers, here or on keyboards of other countries.
  private func isCharacterKey(_ code: Int) -> Bool {
    map[code] != nil || assignments.characters[code] != nil || KeyCode.padDigits[code] != nil
      || code == KeyCode.padDecimal || KeyCode.padOperators[code] != nil || KeyCode.otherCharacters.contains(code)
  }

  /// The character of a key with the current modifiers; `nil` if it has none.
  private func character(of code: Int) -> Unicode.Scalar? {
    // These are commands. Characters by their number are not characters of keys.
    if isMetaHeld || held.contains(KeyCode.leftAlt) { return nil }
    if let digit = KeyCode.padDigits[code] { return Unicode.Scalar(UInt8(ascii: "0") + digit) }
    if code == KeyCode.padDecimal { return map.decimalSeparator }
    if let operation = KeyCode.padOperators[code] { return operation }
    guard isControlHeld else { return character(of: map[code]) }
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
    if isEnd {
      typeMark(&lines)
      pending = []
    } else {
      losePending(&lines)
    }
    var typed = [character]
    if let waiting = mark {
      mark = nil
      typed = DeadKeys.compose(waiting, character)
    } else if isMark, !isEnd {
      mark = character
      return
    }
    for scalar in typed { append(scalar, &lines) }
    if isEnd { endLine() }
  }

  /// Types a dead key that no letter follows.
  private mutating func typeMark(_ lines: inout [LineFramer.Line]) {
    guard let waiting = mark else { return }
    mark = nil
    append(waiting, &lines)
  }

  private mutating func append(_ scalar: Unicode.Scalar, _ lines: inout [LineFramer.Line]) {
    frame(&lines) { framer, lines in framer.append(UTF8.encode(scalar)!, to: &lines) }
  }

  // MARK: Lost characters

  /// Notes a key that types nothing here.
  ///
  /// - Parameters:
  ///   - name: The key, for people.
  ///   - isCharacter: Whether the line has lost a character even if no other one follows.
  private mutating func lose(_ name: String, isCharacter: Bool, _ lines: inout [LineFramer.Line]) {
    typeMark(&lines)
    // One key more makes the line too long, and all others then change nothing.
    if pending.count <= limit { pending.append(name) }
    if isCharacter { losePending(&lines) }
  }

  private mutating func losePending(_ lines: inout [LineFramer.Line]) {
    for name in pending {
      if !framer.isSkipping { lost.append(name) }
      frame(&lines) { framer, lines in framer.append([Self.lostKey], to: &lines) }
    }
    pending = []
  }

  /// Changes the framer. Of a line that has lost keys, tells which.
  private mutating func frame(
    _ lines: inout [LineFramer.Line], _ change: (inout LineFramer, inout [LineFramer.Line]) -> Void
  ) {
    let first = lines.count
    change(&framer, &lines)
    for index in first..<lines.count {
      if case .bytes(let bytes) = lines[index] { lines[index] = .keys(TypedLine(bytes, lost, Self.lostKey)) }
      lost = []
    }
  }
}

/// A typed line that lost characters.
struct TypedLine: Equatable, Sendable {
  /// What was typed as UTF-8, with FF for each lost key.
  let bytes: [UInt8]
  /// What was typed, with the name of each lost key in braces, such as `10AC{F8}21`.
  let code: String
  /// The lost keys.
  let keys: [String]

  fileprivate init(_ bytes: [UInt8], _ keys: [String], _ mark: UInt8) {
    self.bytes = bytes
    self.keys = keys
    var code = ""
    for (index, part) in bytes.split(separator: mark, omittingEmptySubsequences: false).enumerated() {
      if index > 0 { code += "{\(keys.indices.contains(index - 1) ? keys[index - 1] : "?")}" }
      code += String(decoding: part, as: UTF8.self)
    }
    self.code = code
  }
}
