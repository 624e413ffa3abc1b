import Foundation
import SearchText
import Testing

/// Folding against the standard library and Foundation, for every character.
@Suite struct FoldingReferenceTests {
  /// The characters of Unicode 15.0, of which the tables are.
  private static let scalars: [Unicode.Scalar] = (UInt32(0)...0x10FFFF).compactMap { value in
    guard let scalar = Unicode.Scalar(value), let age = scalar.properties.age else { return nil }
    return (age.major, age.minor) <= (15, 0) ? scalar : nil
  }

  @Test func `every character folds as the standard library and Foundation fold it, but for the listed exceptions`() {
    // Three radicals and a sign that ICU does not simplify.
    let others: Set<Unicode.Scalar> = ["⼳", "⽦", "⾋", "\u{1F22B}"]
    for scalar in Self.scalars where !scalar.properties.isIdeographic && !others.contains(scalar) {
      let found = tokens(String(scalar))
      let expected = Self.reference(scalar)
      if found != expected {
        Issue.record("\(Self.number(scalar)) \(scalar.properties.name ?? "") is \(found), not \(expected)")
      }
    }
  }

  @Test func `a Han character becomes its simplified form, which ICU agrees with`() {
    var (agreed, differed, folded) = (0, 0, 0)
    for scalar in Self.scalars where scalar.properties.isIdeographic && !Self.isMark(scalar) {
      let found = tokens(String(scalar)).joined()
      let normal = String(scalar).precomposedStringWithCompatibilityMapping
      #expect(found.unicodeScalars.count == 1 && found.unicodeScalars.allSatisfy(\.properties.isIdeographic))
      #expect(tokens(found) == [found])
      if found != normal { folded += 1 }
      let simplified = normal.applyingTransform(StringTransform("Hant-Hans"), reverse: false) ?? ""
      if simplified == normal { continue }
      if found == simplified { agreed += 1 } else { differed += 1 }
    }
    #expect(folded > 2_900)
    // ICU's data have some more characters that differ in details, and rare ones.
    #expect(agreed > 3_200 && differed < 110, "\(agreed) agreed, \(differed) differed")
  }

  @Test func `marks of Latin, Greek, Cyrillic, Hebrew, Arabic, Syriac and all scripts are dropped, others stay`() {
    for scalar in Self.scalars where Self.isMark(scalar) {
      let found = tokens("x\(String(scalar))y")
      if found.count != 1 || (found == ["xy"]) != Self.isDropped(scalar) {
        Issue.record("\(Self.number(scalar)) \(scalar.properties.name ?? "") in \(found)")
      }
    }
  }

  private static func number(_ scalar: Unicode.Scalar) -> String { "U+" + String(scalar.value, radix: 16) }

  /// Decomposed, without marks, in lower case, until nothing changes; then divided.
  private static func reference(_ scalar: Unicode.Scalar) -> [String] {
    // Signs after a name, not letters of it.
    if [0x2120, 0x2122, 0x1F16A, 0x1F16B, 0x1F16C].contains(scalar.value) { return [] }
    var text = String(scalar)
    while true {
      var next = text.decomposedStringWithCompatibilityMapping.unicodeScalars.filter { !isDropped($0) }
      next = next.reduce(into: .init()) { $0.append(contentsOf: folded($1).unicodeScalars) }
      let decomposed = String(next).decomposedStringWithCompatibilityMapping
      if Array(decomposed.unicodeScalars) == Array(text.unicodeScalars) { break }
      text = decomposed
    }
    return text.unicodeScalars.map(digit).split { !isTokenCharacter($0) }.flatMap(words)
  }

  /// Letters and digits next to each other, divided between East Asian ones and others.
  private static func words(_ scalars: ArraySlice<Unicode.Scalar>) -> [String] {
    var words: [(text: String, isEastAsian: Bool)] = []
    // A mark without a letter is no text.
    for scalar in scalars.drop(while: isMark) {
      let isEastAsian = eastAsian.contains { $0.contains(scalar.value) }
      if words.last?.isEastAsian != isEastAsian { words.append(("", isEastAsian)) }
      words[words.count - 1].text.unicodeScalars.append(scalar)
    }
    // Hangul syllables and kana stay composed, and traditional characters become simplified ones.
    return words.map { word in
      if !word.isEastAsian { return word.text }
      let text = word.text.precomposedStringWithCanonicalMapping
      return text.applyingTransform(StringTransform("Hant-Hans"), reverse: false) ?? text
    }
  }

  private static let eastAsian: [ClosedRange<UInt32>] = [
    0x1100...0x11FF, 0x3040...0x312F, 0x3400...0x9FFF, 0xA960...0xA97C, 0xD7B0...0xD7FB,
  ]

  /// A letter without case, or what people type for a letter without a decomposition.
  private static func folded(_ scalar: Unicode.Scalar) -> String {
    // Cherokee folds to capitals, for stability: its small letters are newer.
    if (0x13A0...0x13FF).contains(scalar.value) || (0xAB70...0xABBF).contains(scalar.value) {
      return scalar.properties.uppercaseMapping
    }
    let lower = scalar.properties.uppercaseMapping.unicodeScalars.map(\.properties.lowercaseMapping).joined()
    return lower.unicodeScalars.map { letter in
      if let typed = typed[letter] { return typed }
      // LATIN SMALL LETTER L WITH STROKE
      let words = (letter.properties.name ?? "").split(separator: " ")
      let isNamedAfter = words.count > 5 && words[..<3] == ["LATIN", "SMALL", "LETTER"] && words[4] == "WITH"
      if !isNamedAfter || words[3].count > 1 { return String(letter) }
      let isDecomposed = String(letter).decomposedStringWithCompatibilityMapping.unicodeScalars.count > 1
      return isDecomposed ? String(letter) : words[3].lowercased()
    }.joined()
  }

  private static let typed: [Unicode.Scalar: String] = [
    "æ": "ae", "œ": "oe", "ð": "d", "þ": "th", "ı": "i", "ȷ": "j", "ŋ": "n", "ĸ": "k", "ə": "e", "×": "-x-", "ـ": "",
  ]

  private static func digit(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    guard scalar.properties.generalCategory == .decimalNumber, let value = scalar.properties.numericValue else {
      return scalar
    }
    return Unicode.Scalar(0x30 + UInt8(value))
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: true
    default: false
    }
  }

  /// The marks that are dropped. The standard library knows no scripts.
  private static let droppedMarks: [ClosedRange<UInt32>] = [
    0x300...0x36F, 0x483...0x489, 0x591...0x5C7, 0x610...0x61A, 0x64B...0x65F, 0x670...0x670, 0x6D6...0x6ED,
    0x711...0x711, 0x730...0x74A, 0x898...0x89F, 0x8CA...0x8FF, 0x951...0x954, 0x17B4...0x17B5, 0x180B...0x180F,
    0x1AB0...0x1AFF, 0x1CD0...0x1CF9, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0x2DE0...0x2DFF, 0x302A...0x302D,
    0xA66F...0xA67D, 0xA69E...0xA69F, 0xFB1E...0xFB1E, 0xFE00...0xFE0F, 0xFE20...0xFE2F, 0x101FD...0x101FD,
    0x102E0...0x102E0, 0x10EFD...0x10EFF, 0x1133B...0x1133B, 0x1CF00...0x1CF46, 0x1D165...0x1D1AD,
    0x1D242...0x1D244, 0x1E08F...0x1E08F, 0xE0100...0xE01EF,
  ]

  private static func isDropped(_ scalar: Unicode.Scalar) -> Bool {
    isMark(scalar) && droppedMarks.contains { $0.contains(scalar.value) }
  }

  private static func isTokenCharacter(_ scalar: Unicode.Scalar) -> Bool {
    // Apostrophes among the letters, and letters that look like blanks.
    if (0x2B9...0x2BF).contains(scalar.value) || [0x115F, 0x1160].contains(scalar.value) { return false }
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
      .letterNumber, .otherNumber:
      return true
    default: return isMark(scalar)
    }
  }
}
