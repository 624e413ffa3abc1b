/// A component of an element's value: some characters of one set, and a check of what they say.
struct ElementComponent: Sendable, Equatable {
  /// A set of characters (GS1 General Specifications 7.11).
  enum Characters: Character, Sendable {
    /// Digits.
    case digits = "N"
    /// Character set 82: what a text may contain.
    case set82 = "X"
    /// Character set 39: capitals, digits and `#-/`.
    case set39 = "Y"
    /// The characters of base64url.
    case base64url = "Z"

    /// Whether a byte is one of the characters.
    func contains(_ byte: UInt8) -> Bool {
      switch self {
      case .digits: ASCII.isDigit(byte)
      case .set39: ASCII.isDigit(byte) || ASCII.isUpper(byte) || byte == 0x23 || byte == 0x2D || byte == 0x2F
      case .base64url: ASCII.isAlphanumeric(byte) || byte == 0x2D || byte == 0x5F || byte == 0x3D
      case .set82:
        switch byte {
        // ! " % & ' ( ) * + , - . / digits : ; < = > ? capitals _ small letters
        case 0x21, 0x22, 0x25...0x3F, 0x41...0x5A, 0x5F, 0x61...0x7A: true
        default: false
        }
      }
    }
  }

  /// The set of the characters.
  let characters: Characters
  /// The least number of characters.
  let minimumLength: Int
  /// The greatest number of characters.
  let maximumLength: Int
  /// Whether the component may be missing, with all components after it.
  let isOptional: Bool
  /// The checks of the content.
  let checks: [ElementCheck]

  /// Creates a component from the notation of the GS1 Barcode Syntax Dictionary: `N6,yymmdd`, `X..20`, `[N4],hhmi`.
  ///
  /// - Precondition: The notation is valid. It is part of the program.
  init(notation: Substring) {
    var parts = notation.split(separator: ",")
    var size = parts.removeFirst()
    isOptional = size.first == "["
    if isOptional { size = size.dropFirst().dropLast() }
    guard let letter = size.popFirst(), let characters = Characters(rawValue: letter),
      let maximum = Int(size.drop { $0 == "." })
    else { preconditionFailure("not a component: \(notation)") }
    self.characters = characters
    maximumLength = maximum
    minimumLength = size.first == "." ? 1 : maximum
    checks = parts.map { name in
      guard let check = ElementCheck(rawValue: String(name)) else { preconditionFailure("not a check: \(name)") }
      return check
    }
  }
}
