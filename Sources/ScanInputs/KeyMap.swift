/// Which characters the keys of a layout are.
///
/// Keys are named by the codes of <linux/input-event-codes.h>, which say where a key lies on a keyboard of the United States.
struct KeyMap: Sendable {
  /// What one key types.
  struct Key: Sendable {
    var plain: Unicode.Scalar?
    var shifted: Unicode.Scalar?
    var alternate: Unicode.Scalar?
    /// Whether Caps Lock has the effect of Shift.
    var isLetter: Bool
  }

  private var keys: [Key?] = Array(repeating: nil, count: 128)
  /// What the comma of the number pad is.
  let decimalSeparator: Unicode.Scalar
  /// Marks that wait for the letter that they belong to.
  let deadKeys: Set<Unicode.Scalar>

  /// - Parameters:
  ///   - rows: The keys of each row from left to right, plain and with Shift; a space where a key types nothing.
  ///   - alternates: What keys type with AltGr, by what they type without.
  ///   - dead: Which of all these are marks of the next letter.
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

  /// The key at `code`, if it types.
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

/// Where rows begin, and the keys that do something else than to type one character.
enum KeyCode {
  static let digits = 2
  static let upperLetters = 16
  static let middleLetters = 30
  static let leftOfDigits = 41
  static let besideReturn = 43
  static let lowerLetters = 44
  static let besideShift = 86

  static let tabulator = 15
  static let enter = 28
  static let leftControl = 29
  static let leftShift = 42
  static let rightShift = 54
  static let leftAlt = 56
  static let space = 57
  static let capsLock = 58
  static let padEnter = 96
  static let rightControl = 97
  static let rightAlt = 100

  /// The digits of the number pad.
  static let padDigits: [Int: UInt8] = [
    71: 7, 72: 8, 73: 9, 75: 4, 76: 5, 77: 6, 79: 1, 80: 2, 81: 3, 82: 0,
  ]
  static let padDecimal = 83
  /// Other characters of the number pad.
  static let padOperators: [Int: Unicode.Scalar] = [55: "*", 74: "-", 78: "+", 98: "/", 117: "=", 121: ","]
}
