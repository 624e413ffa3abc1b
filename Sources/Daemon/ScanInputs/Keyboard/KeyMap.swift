/// A keyboard layout: the characters of its keys.
///
/// Keys are identified by the codes of <linux/input-event-codes.h>, which are named after a keyboard of the United
/// States.
struct KeyMap: Sendable {
  /// The characters of one key.
  struct Key: Sendable {
    var plain: Unicode.Scalar?
    var shifted: Unicode.Scalar?
    var alternate: Unicode.Scalar?
    /// Whether Caps Lock has the effect of Shift.
    var isLetter: Bool
  }

  private var keys: [Key?] = Array(repeating: nil, count: 128)
  /// The character of the number pad's decimal key.
  let decimalSeparator: Unicode.Scalar
  /// Dead keys: accents that are combined with the next letter.
  let deadKeys: Set<Unicode.Scalar>

  /// Creates a layout.
  ///
  /// - Parameters:
  ///   - rows: The characters of each row from left to right, without and with Shift; a space for a key without a
  ///     character.
  ///   - alternates: The characters of keys with AltGr, by their plain characters.
  ///   - dead: The characters that are dead keys.
  init(
    rows: [(first: Int, plain: String, shifted: String)], alternates: [Unicode.Scalar: Unicode.Scalar] = [:],
    dead: Set<Unicode.Scalar> = [], decimalSeparator: Unicode.Scalar = "."
  ) {
    self.decimalSeparator = decimalSeparator
    deadKeys = dead
    for row in rows {
      for (index, pair) in zip(row.plain.unicodeScalars, row.shifted.unicodeScalars).enumerated() {
        let plain = pair.0 == " " ? nil : pair.0
        let shifted = pair.1 == " " ? nil : pair.1
        let isLetter =
          plain.map { plain in
            shifted.map { plain.properties.uppercaseMapping == String(Character($0)) && plain != $0 } ?? false
          } ?? false
        keys[row.first + index] = Key(
          plain: plain, shifted: shifted, alternate: plain.flatMap { alternates[$0] }, isLetter: isLetter)
      }
    }
    keys[KeyCode.space] = Key(plain: " ", shifted: " ", isLetter: false)
    keys[KeyCode.tabulator] = Key(plain: "\t", shifted: "\t", isLetter: false)
  }

  /// The key with this code; `nil` if it has no characters.
  subscript(code: Int) -> Key? { keys.indices.contains(code) ? keys[code] : nil }

  /// The map of a layout.
  static func of(_ layout: KeyboardLayout) -> KeyMap {
    switch layout {
    case .us: us
    case .de: de
    case .fr: fr
    }
  }
}

/// The codes of the first key of each row, and of keys with a special function.
enum KeyCode {
  static let digits = 2
  static let upperLetters = 16
  static let middleLetters = 30
  static let leftOfDigits = 41
  static let besideReturn = 43
  static let lowerLetters = 44
  static let besideShift = 86

  static let backspace = 14
  static let tabulator = 15
  static let enter = 28
  static let leftControl = 29
  static let leftShift = 42
  static let rightShift = 54
  static let leftAlt = 56
  static let space = 57
  static let capsLock = 58
  static let numLock = 69
  static let scrollLock = 70
  static let padPlus = 78
  static let padEnter = 96
  static let rightControl = 97
  static let rightAlt = 100
  static let leftMeta = 125
  static let rightMeta = 126
  static let function = 464

  /// The digits of the number pad.
  static let padDigits: [Int: UInt8] = [
    71: 7, 72: 8, 73: 9, 75: 4, 76: 5, 77: 6, 79: 1, 80: 2, 81: 3, 82: 0,
  ]
  static let padDecimal = 83
  /// Keys of characters that no layout here has: the number pad's plus and minus, and the additional keys of Japanese
  /// and Brazilian keyboards.
  static let otherCharacters: Set<Int> = [89, 95, 118, 124]
  /// The other characters of the number pad.
  static let padOperators: [Int: Unicode.Scalar] = [55: "*", 74: "-", 78: "+", 98: "/", 117: "=", 121: ","]
}
