/// A character that is typed by its number on the number pad while Alt is held.
///
/// | number | character |
/// |---|---|
/// | 1 to 127 | that of ASCII |
/// | 128 to 255 | of code page 437; after a leading zero, of Windows-1252. With Shift-JIS, the half-width characters |
/// | from 256, UTF-8 | that of Unicode |
/// | from 256, GB 18030 and Shift-JIS | the one whose bytes, the first being the highest, are this number |
///
/// These are the numbers that scanners send for Windows. Any other number means nothing.
struct AltCode {
  /// The most digits that are shown of a number. No number of a character has more.
  private static let shownDigitCount = 10

  private var number: UInt32 = 0
  /// The digits, for people.
  private var digits = ""
  private var digitCount = 0
  /// Whether a plus sign was typed, which begins a hexadecimal number on Windows if its registry says so.
  private var isHexadecimal = false

  /// Whether no key of the number pad was pressed.
  var isEmpty: Bool { digitCount == 0 && !isHexadecimal }

  /// Takes a key of the number pad.
  ///
  /// - Returns: Whether the key is a part of a number.
  mutating func append(_ code: Int) -> Bool {
    if code == KeyCode.padPlus {
      isHexadecimal = true
      return true
    }
    guard let digit = KeyCode.padDigits[code] else { return false }
    digitCount += 1
    if digitCount <= Self.shownDigitCount { digits.append("\(digit)") }
    // A number that does not fit is none of a character: the four bytes FF are no text.
    let (next, isTooLarge) = number.multipliedReportingOverflow(by: 10)
    let (sum, overflows) = next.addingReportingOverflow(UInt32(digit))
    number = isTooLarge || overflows || number == .max ? .max : sum
    return true
  }

  /// The number as it was typed, for people: `Alt+0128`.
  var name: String { "Alt+\(isHexadecimal ? "+" : "")\(digits)\(digitCount > Self.shownDigitCount ? "…" : "")" }

  /// Whether a text is the name of a number that may mean something in another encoding, and not of a key with Alt. Such
  /// numbers have at least three digits.
  static func isName(_ text: String) -> Bool {
    guard text.hasPrefix("Alt+") else { return false }
    let digits = text.dropFirst(4).prefix { $0.isASCII && $0.isNumber }
    return digits.count >= 3 && text.dropFirst(4 + digits.count).allSatisfy { $0 == "…" }
  }

  /// The character; `nil` if the number means nothing.
  ///
  /// - Parameter encoding: The encoding of the input.
  func character(_ encoding: TextEncoding) -> Unicode.Scalar? {
    if isHexadecimal { return nil }
    switch number {
    case 1...0x7F: return Unicode.Scalar(number)
    case 0x80...0xFF where encoding == .shiftJIS: return Self.character([UInt8(number)], encoding)
    case 0x80...0xFF: return digits.hasPrefix("0") ? Self.windows1252(UInt8(number)) : Self.codePage437[number]
    default: break
    }
    switch encoding {
    case .utf8 where number >= 0x100: return Unicode.Scalar(number)
    case .gb18030 where number >= 0x100, .shiftJIS where number >= 0x100:
      let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
      return Self.character(Array(bytes.drop { $0 == 0 }), encoding)
    default: return nil
    }
  }

  /// The only character of these bytes; `nil` if they are another number of characters, or none.
  private static func character(_ bytes: [UInt8], _ encoding: TextEncoding) -> Unicode.Scalar? {
    guard let text = encoding.text(bytes)?.unicodeScalars, text.count == 1 else { return nil }
    return text.first
  }

  /// The characters of code page 437 from 128 on.
  private static let codePage437 = Dictionary(
    uniqueKeysWithValues: zip(
      UInt32(0x80)...,
      """
      ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀\
      αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{A0}
      """.unicodeScalars))

  /// The characters of Windows-1252 from 128 to 159; a space where it has none. All others are those of Latin-1.
  private static let windows1252 = Array("€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ".unicodeScalars)

  private static func windows1252(_ byte: UInt8) -> Unicode.Scalar? {
    guard byte < 0xA0 else { return Unicode.Scalar(byte) }
    let character = windows1252[Int(byte) - 0x80]
    return character == " " ? nil : character
  }
}
