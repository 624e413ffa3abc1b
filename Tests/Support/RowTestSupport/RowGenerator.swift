internal import Barcodes
package import CatalogRows
package import RandomTestSupport

/// Rows with all kinds of values.
package struct RowGenerator {
  package var random: SeededGenerator

  package init(random: SeededGenerator) { self.random = random }

  package mutating func text() -> String {
    let alphabet = Array(
      "abcXYZ019 -/\\\"'{}[]:,\u{0}\u{1}\n\t\u{1F}\u{7F}é格力😀\u{2028}\u{FFFD}".unicodeScalars)
    var text = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0..<[1, 6, 12, 60].randomElement(using: &random)!, using: &random) {
      text.append(alphabet.randomElement(using: &random)!)
    }
    return String(text)
  }

  package mutating func integer() -> Int64 {
    [0, 1, -1, .max, .min, Int64(bitPattern: random.next()), Int64.random(in: 0..<1000, using: &random)]
      .randomElement(using: &random)!
  }

  package mutating func double() -> Double {
    let any = Double(bitPattern: random.next())
    return [0, -0.0, 1, 226.8, 1e308, .leastNonzeroMagnitude, any.isFinite ? any : 0.1].randomElement(
      using: &random)!
  }

  package mutating func product() -> ProductRow {
    var row = ProductRow()
    for field in ProductField.allCases {
      switch field.slot {
      case .text(let slot): row.texts.set(slot, text())
      case .integer(let slot): row.integers[slot] = integer()
      case .flag(let slot): row.setFlag(slot, Bool.random(using: &random))
      case .double(let slot): row.doubles[slot] = double()
      }
    }
    return row
  }

  package mutating func relation() -> RelationRow {
    var row = RelationRow()
    for field in RelationText.allCases { row.texts.set(field.rawValue, Array(text().utf8).span) }
    row.groupNum = integer()
    return row
  }

  package mutating func code() -> CodeRow {
    var row = CodeRow()
    for field in CodeText.allCases { row.texts.set(field.rawValue, Array(text().utf8).span) }
    row.quantity = ExactDecimal(
      [1, 24, 999_999_999_999_999_999, Int64.random(in: 1...10_000, using: &random)].randomElement(using: &random)!,
      decimals: [0, 0, 1, 3, 18].randomElement(using: &random)!)
    return row
  }
}
