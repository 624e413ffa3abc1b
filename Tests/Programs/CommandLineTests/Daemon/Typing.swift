/// What a scanner that is a keyboard types: `struct input_event` of Linux on 64 bits, as it is read from a device.
enum Typing {
  /// Codes of the keys (linux/input-event-codes.h) of a US layout.
  private static let keys: [Character: UInt16] = {
    var keys: [Character: UInt16] = ["-": 12, ".": 52, "/": 53]
    for (index, digit) in "1234567890".enumerated() { keys[digit] = UInt16(2 + index) }
    for (row, first) in [("QWERTYUIOP", 16), ("ASDFGHJKL", 30), ("ZXCVBNM", 44)] {
      for (index, letter) in row.enumerated() { keys[letter] = UInt16(first + index) }
    }
    return keys
  }()

  /// A code of digits and capital letters, and Enter.
  static func events(_ code: String) -> [UInt8] {
    var bytes: [UInt8] = []
    for character in code {
      guard let key = keys[character] else { preconditionFailure("no key for \(character)") }
      let isShifted = character.isLetter
      if isShifted { press(42, 1, &bytes) }
      press(key, 1, &bytes)
      press(key, 0, &bytes)
      if isShifted { press(42, 0, &bytes) }
    }
    press(28, 1, &bytes)
    press(28, 0, &bytes)
    return bytes
  }

  /// A key goes down (1) or up (0), and the report ends.
  private static func press(_ key: UInt16, _ value: Int32, _ bytes: inout [UInt8]) {
    for (type, code, value) in [(UInt16(1), key, value), (0, 0, 0)] {
      bytes += [UInt8](repeating: 0, count: 16)
      for shift in [0, 8] { bytes.append(UInt8(truncatingIfNeeded: type >> shift)) }
      for shift in [0, 8] { bytes.append(UInt8(truncatingIfNeeded: code >> shift)) }
      for shift in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }
  }
}
