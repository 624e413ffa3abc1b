import RandomTestSupport
import Testing

@testable import Barcodes

/// Arbitrary and mutated labels: none may trap, and every reading keeps its invariants.
@Suite struct LabelFuzz {
  private static let samples = [
    "[)>\u{1E}06\u{1D}P296-1\u{1D}1PLM358\u{1D}Q10\u{1D}4LPH\u{1D}14D20270131\u{1D}9N110375286414\u{1D}7Q2.5KG\u{1E}\u{4}",
    ">[)>06\u{1D}K21421337\u{1D}14K033\u{1D}1PLDK320ADU33R\u{1D}Q32",
    "[)><RS>05<GS>0104012345123456<GS>10L<RS>06<GS>1PA<RS><EOT>",
    "[)>^06]1PRC0402]Q25]1TL1^D", "[)>^^06^]1PRC0402^]D260229^^12^]X^^^D", "[)>06|1PA|Q1", "[)>␞06␝1PA␝12Q5EUR␞␄",
    "+A99912345/$$52001510X3/16D20111212/S77DEFG457", "+$$52001510X3GD", "*+A123BJC5D6E71G*", "+28060L1G/",
    "QTY:1 PN:WBP-302 PO:19361337/1 MPN:X", "PWBP-302 1PMPNWBP-302 Q1 K19361337/1", "-03752864", "PZN - 3752864",
    "ISBN 978-3-16-148410-0", "080442957X", "ISSN 0317-8471", "M-2306-7118-7",
    "{pbn:PICK1,on:SO1,pc:C312270,pm:ST-1,qty:2,mc:,cc:1}",
  ].map { Array($0.utf8) }

  private static let meaningful = Array("[)>+*-${}:,/ 0123456789XMPQDKSTN^]|<>GRSEOT\\\u{1D}\u{1E}\u{4}".utf8)

  @Test func `mutated labels keep the invariants`() {
    var random = SeededGenerator(for: "LabelFuzz, mutated labels")
    for _ in 0..<(40_000 * depth) {
      var bytes = Self.samples.randomElement(using: &random)!
      for _ in 0..<Int.random(in: 1...5, using: &random) { mutate(&bytes, using: &random) }
      check(bytes)
    }
  }

  @Test func `arbitrary bytes keep the invariants`() {
    var random = SeededGenerator(for: "LabelFuzz, arbitrary bytes")
    for _ in 0..<(20_000 * depth) {
      let first = Array("[>+*{-PQIM0123".utf8).randomElement(using: &random)!
      check([first] + random.bytes(Int.random(in: 0...30, using: &random)))
    }
  }

  @Test func `every beginning of a label keeps the invariants`() {
    for sample in Self.samples {
      for count in 0...sample.count { check(Array(sample.prefix(count))) }
    }
  }

  private func mutate(_ bytes: inout [UInt8], using random: inout SeededGenerator) {
    let offset = Int.random(in: 0...bytes.count, using: &random)
    switch Int.random(in: 0..<6, using: &random) {
    case 0: bytes.insert(Self.meaningful.randomElement(using: &random)!, at: offset)
    case 1 where offset < bytes.count: bytes[offset] = Self.meaningful.randomElement(using: &random)!
    case 2 where offset < bytes.count: bytes[offset] = UInt8.random(in: 0...255, using: &random)
    case 3 where offset < bytes.count: bytes.remove(at: offset)
    case 4: bytes.removeSubrange(offset...)
    default: bytes.insert(contentsOf: Self.samples.randomElement(using: &random)!, at: offset)
    }
  }

  private func check(_ bytes: [UInt8]) {
    let source = Comment(rawValue: String(decoding: bytes, as: UTF8.self).debugDescription)
    for symbology in [nil, SymbologyIdentifier("]A0")] {
      guard let label = Label(bytes: bytes, symbology: symbology) else { continue }
      #expect(label.parts.allSatisfy { !$0.isEmpty }, source)
      #expect(Set(label.parts).count == label.parts.count, source)
      #expect(label.elements.allSatisfy { !$0.ai.isEmpty }, source)
      for year in [0, 1999, 2026, 9999] {
        let today = ScanDate(year: year, month: 2, day: 28)!
        let data = label.data(today: today)
        #expect(Set(data.fields.map(\.name)).count == data.fields.count, source)
        let issues = label.issues(today: today)
        #expect(issues.allSatisfy { bytes.indices.contains($0.position) && !$0.reason.isEmpty }, source)
        #expect(issues.map(\.position) == issues.map(\.position).sorted(), source)
        #expect(
          !data.isEmpty || !issues.isEmpty || !label.elements.isEmpty || label.elementStrings != nil
            || isEmptyMessage(label), source)
      }
      if let strings = label.elementStrings {
        #expect(strings.start < strings.bytes.count && strings.bytes.count <= bytes.count, source)
      }
    }
  }

  /// An ISO/IEC 15434 message may contain nothing.
  private func isEmptyMessage(_ label: Label) -> Bool { label.kind == .iso15434 || label.kind == .label }
}
