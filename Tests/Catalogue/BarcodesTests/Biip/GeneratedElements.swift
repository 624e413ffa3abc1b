@testable import Barcodes

/// Element strings for comparisons: of every identifier, sound for the greater part, and damaged in the ways in which
/// labels and scanners are at fault.
struct GeneratedElements {
  /// Returns a message with FNC1 as GS.
  static func message(using random: inout some RandomNumberGenerator) -> String {
    var text: [UInt8] = []
    let count = Int.random(in: 1...5, using: &random)
    for index in 0..<count {
      let identifier = identifier(using: &random)
      let number = Int.random(in: identifier.first...identifier.last, using: &random)
      let digits = String(number)
      text += repeatElement(UInt8(ascii: "0"), count: identifier.digitCount - digits.utf8.count) + Array(digits.utf8)
      text += value(of: identifier, using: &random)
      // One label in thirty lacks a separator, or has one where none is needed.
      if index < count - 1, identifier.isPredefined == (Int.random(in: 0..<30, using: &random) == 0) {
        text.append(ASCII.groupSeparator)
      }
    }
    damage(&text, using: &random)
    return String(decoding: text, as: UTF8.self)
  }

  /// Half of the elements are those that labels have most often.
  private static func identifier(using random: inout some RandomNumberGenerator) -> ApplicationIdentifier {
    let frequent = ["01", "10", "17", "21", "3103", "3922", "37", "00", "15", "410"]
    if Bool.random(using: &random), let found = ApplicationIdentifier(frequent.randomElement(using: &random) ?? "") {
      return found
    }
    return ApplicationIdentifier.all[Int.random(in: 0..<ApplicationIdentifier.all.count, using: &random)]
  }

  /// Returns a value that is sound, or one time in eight merely of the right form.
  private static func value(of identifier: ApplicationIdentifier, using random: inout some RandomNumberGenerator)
    -> [UInt8]
  {
    let isSound = Int.random(in: 0..<8, using: &random) > 0
    var value: [UInt8] = []
    for component in identifier.components {
      if component.isOptional, Bool.random(using: &random) { break }
      if isSound, let check = component.checks.first, let part = sound(check, component, using: &random) {
        value += part
        continue
      }
      let count = Int.random(in: component.minimumLength...component.maximumLength, using: &random)
      value += characters(component.characters, count, using: &random)
    }
    return value
  }

  private static func characters(
    _ characters: ElementComponent.Characters, _ count: Int, using random: inout some RandomNumberGenerator
  ) -> [UInt8] {
    let allowed = (UInt8(0x21)...0x7E).filter { characters.contains($0) }
    return (0..<count).map { _ in allowed[Int.random(in: 0..<allowed.count, using: &random)] }
  }

  /// Returns a component that passes its first check; `nil` if one of any characters does.
  private static func sound(
    _ check: ElementCheck, _ component: ElementComponent, using random: inout some RandomNumberGenerator
  ) -> [UInt8]? {
    func number(_ range: ClosedRange<Int>, digits: Int) -> String {
      let text = String(Int.random(in: range, using: &random))
      return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
    func one(of texts: [String]) -> String { texts[Int.random(in: 0..<texts.count, using: &random)] }
    switch check {
    case .csum:
      let body = characters(.digits, component.maximumLength - 1, using: &random)
      return GTIN.checkDigit(following: body).map { body + [$0] }
    case .csumalpha: return Array("1987654Ad4X4bL5ttr2310c2K".utf8)
    // Day 00 is allowed in the second only.
    case .yymmdd, .yymmd0:
      return Array((number(0...99, digits: 2) + number(1...12, digits: 2) + number(0...28, digits: 2)).utf8)
    case .yyyymmdd:
      return Array((number(1900...2026, digits: 4) + number(1...12, digits: 2) + number(1...28, digits: 2)).utf8)
    case .hhmi: return Array((number(0...23, digits: 2) + number(0...59, digits: 2)).utf8)
    case .hh: return Array(number(0...23, digits: 2).utf8)
    case .mi, .ss: return Array(number(0...59, digits: 2).utf8)
    case .iso3166, .iso3166999: return Array(one(of: ["276", "156", "840", "578", "056"]).utf8)
    case .iso3166alpha2: return Array(one(of: ["DE", "CN", "US", "NO", "BE"]).utf8)
    case .iso4217: return Array(one(of: ["978", "156", "840", "578", "756"]).utf8)
    case .iso5218: return Array(one(of: ["0", "1", "2", "9"]).utf8)
    case .iban: return Array("DE89370400440532013000".utf8)
    case .latitude: return Array(number(0...1_800_000_000, digits: 10).utf8)
    case .longitude: return Array(number(0...3_600_000_000, digits: 10).utf8)
    case .yesno: return Array(one(of: ["0", "1"]).utf8)
    case .hyphen: return Array("-".utf8)
    case .zero: return Array("0".utf8)
    case .nonzero: return Array(number(1...999, digits: component.maximumLength).utf8)
    case .nozeroprefix: return Array(number(1...999_999, digits: 1).utf8)
    case .winding: return Array(one(of: ["0", "1", "9"]).utf8)
    case .pieceoftotal: return Array(one(of: ["0102", "0303", "1199"]).utf8)
    case .posinseqslash: return Array(one(of: ["1/2", "3/3"]).utf8)
    case .importeridx: return characters(.digits, 1, using: &random)
    case .mediatype: return Array(number(1...10, digits: 2).utf8)
    case .packagetype: return Array(one(of: ["PX", "201"]).utf8)
    case .pcenc: return Array(one(of: ["M%C3%BCller+AG", "Main+Street+1", "A"]).utf8)
    case .hasnondigit, .couponcode, .couponposoffer: return nil
    }
  }

  /// Damages one message in two.
  private static func damage(_ text: inout [UInt8], using random: inout some RandomNumberGenerator) {
    let offset = Int.random(in: 0..<text.count, using: &random)
    switch Int.random(in: 0..<10, using: &random) {
    case 0, 1: text.removeSubrange((offset + 1)...)
    case 2: text.insert(ASCII.groupSeparator, at: offset)
    case 3: text.removeAll { $0 == ASCII.groupSeparator }
    case 4: text[offset] = UInt8.random(in: 0x20...0x7E, using: &random)
    case 5: text.insert(ASCII.blank, at: offset)
    default: break
    }
  }
}
