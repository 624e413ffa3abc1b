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
    var differences: [String] = []
    var exceptionCount = 0
    for scalar in Self.scalars where !scalar.properties.isIdeographic {
      let found = tokens(String(scalar)).joined(separator: " ")
      if let exception = Self.exception(scalar) {
        exceptionCount += 1
        if found != exception { differences.append(Self.difference(scalar, found, exception)) }
        continue
      }
      let expected = Self.reference(scalar)
      if found != expected { differences.append(Self.difference(scalar, found, expected)) }
    }
    #expect(differences.isEmpty, "\(differences.count): \(differences.prefix(50).joined(separator: "\n"))")
    // Mostly Latin letters of the International Phonetic Alphabet.
    #expect((300..<600).contains(exceptionCount), "\(exceptionCount)")
  }

  @Test func `a Han character becomes its simplified form, which ICU agrees with`() {
    var (agreed, differed, folded) = (0, 0, 0)
    for scalar in Self.scalars where scalar.properties.isIdeographic {
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
    #expect(agreed > 2_500 && differed < agreed / 20, "\(agreed) agreed, \(differed) differed")
  }

  @Test func `marks of Latin, Greek, Cyrillic, Hebrew, Arabic and all scripts are dropped, others stay`() {
    for scalar in Self.scalars where Self.isMark(scalar) {
      // Those that make other kana, and those of the scripts that have no letters but ideographs.
      let found = tokens("x\(String(scalar))y")
      #expect(found.count == 1)
      #expect((found == ["xy"]) == Self.isDropped(scalar), "U+\(String(scalar.value, radix: 16))")
    }
  }

  private static func difference(_ scalar: Unicode.Scalar, _ found: String, _ expected: String) -> String {
    "U+\(String(scalar.value, radix: 16, uppercase: true)) \(scalar.properties.name ?? "") is \(found), not \(expected)"
  }

  /// Decomposed, without marks, in lower case, until nothing changes; then divided.
  private static func reference(_ scalar: Unicode.Scalar) -> String {
    var text = String(scalar)
    while true {
      var next = text.decomposedStringWithCompatibilityMapping.unicodeScalars.filter { !isDropped($0) }
      next = next.reduce(into: .init()) { $0.append(contentsOf: folded($1).unicodeScalars) }
      let decomposed = String(next).decomposedStringWithCompatibilityMapping
      if Array(decomposed.unicodeScalars) == Array(text.unicodeScalars) { break }
      text = decomposed
    }
    let words = text.unicodeScalars.map(digit).split { !isTokenCharacter($0) }.filter { !isMark($0[$0.startIndex]) }
    // Hangul syllables and kana stay composed.
    return words.map { word in
      let text = word.reduce(into: "") { $0.unicodeScalars.append($1) }
      let isEastAsian = word.allSatisfy { (0x1100...0x11FF).contains($0.value) || (0x3040...0x30FF).contains($0.value) }
      return isEastAsian ? text.precomposedStringWithCanonicalMapping : text
    }.joined(separator: " ")
  }

  private static func folded(_ scalar: Unicode.Scalar) -> String {
    // Cherokee folds to capitals, for stability: its small letters are newer.
    if (0x13A0...0x13FF).contains(scalar.value) || (0xAB70...0xABBF).contains(scalar.value) {
      return scalar.properties.uppercaseMapping
    }
    return scalar.properties.uppercaseMapping.unicodeScalars.map(\.properties.lowercaseMapping).joined()
  }

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
    0x711...0x711, 0x730...0x74A, 0x898...0x89F, 0x8CA...0x8FF,
  ]

  private static func isDropped(_ scalar: Unicode.Scalar) -> Bool {
    isMark(scalar) && droppedMarks.contains { $0.contains(scalar.value) }
  }

  private static func isTokenCharacter(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
      .letterNumber, .otherNumber:
      true
    default: isMark(scalar)
    }
  }

  /// What folding decides otherwise, and why.
  private static func exception(_ scalar: Unicode.Scalar) -> String? {
    nil
  }
}
