@testable import ScanInputs

/// Types on a keyboard that is not there: makes the events of keys.
struct KeyTypist {
  private(set) var bytes: [UInt8] = []

  private static let rows: [(first: Int, plain: String, shifted: String)] = [
    (KeyCode.digits, "1234567890-=", "!@#$%^&*()_+"),
    (KeyCode.upperLetters, "qwertyuiop[]", "QWERTYUIOP{}"),
    (KeyCode.middleLetters, "asdfghjkl;'", "ASDFGHJKL:\""),
    (KeyCode.lowerLetters, "zxcvbnm,./", "ZXCVBNM<>?"),
  ]

  /// The bytes of one event, with a time that nobody reads.
  static func event(_ type: UInt16, _ code: UInt16, _ value: Int32) -> [UInt8] {
    var bytes = Array(repeating: UInt8(0xA5), count: KeyEvent.timeByteCount)
    for half in [type, code, UInt16(truncatingIfNeeded: value), UInt16(truncatingIfNeeded: value >> 16)] {
      bytes += [UInt8(truncatingIfNeeded: half), UInt8(truncatingIfNeeded: half >> 8)]
    }
    return bytes
  }

  mutating func event(_ type: UInt16, _ code: Int, _ value: Int32) {
    bytes += Self.event(type, UInt16(code), value)
  }

  /// A change of a key, with the scan code before it and the report behind it.
  mutating func key(_ code: Int, _ value: Int32) {
    event(4, 4, Int32(code))
    event(KeyEvent.key, code, value)
    event(KeyEvent.synchronization, 0, 0)
  }

  mutating func press(_ code: Int) { key(code, KeyEvent.pressed) }
  mutating func release(_ code: Int) { key(code, KeyEvent.released) }

  mutating func tap(_ codes: Int..., holding held: [Int] = []) {
    for code in held { press(code) }
    for code in codes {
      press(code)
      release(code)
    }
    for code in held.reversed() { release(code) }
  }

  /// Types a text as on a keyboard of the United States; a line feed is Enter.
  mutating func type(_ text: String) {
    for character in text.unicodeScalars {
      if character == "\n" {
        tap(KeyCode.enter)
        continue
      }
      for row in Self.rows {
        for (index, pair) in zip(row.plain.unicodeScalars, row.shifted.unicodeScalars).enumerated() {
          if pair.0 == character { tap(row.first + index) }
          if pair.1 == character { tap(row.first + index, holding: [KeyCode.leftShift]) }
        }
      }
    }
  }

  /// Types a number on the number pad with Alt held.
  mutating func alt(_ digits: String, _ alt: Int = KeyCode.leftAlt) {
    press(alt)
    for digit in digits.utf8 {
      for (code, value) in KeyCode.padDigits where value == digit - UInt8(ascii: "0") { tap(code) }
    }
    release(alt)
  }

  mutating func dropEvents() { event(KeyEvent.synchronization, 3, 0) }
  mutating func report() { event(KeyEvent.synchronization, 0, 0) }

  static func typed(_ text: String) -> [UInt8] {
    var typist = KeyTypist()
    typist.type(text)
    return typist.bytes
  }
}
