import Foundation
import RandomTestSupport
import Testing

@testable import Barcodes

/// Arbitrary and mutated scans: none may trap, and every reading keeps its invariants.
@Suite struct ScanFuzz {
  /// Bytes that mean something to some decoder, so that random texts get beyond the first check.
  private static let meaningful = Array("0123456789010110172121()]ECdQe013\\%/?=&#: \u{1D}\u{1D}AZaz|".utf8)

  @Test func `arbitrary bytes keep the invariants`() {
    var random = SeededGenerator(for: "ScanFuzz, arbitrary bytes")
    for _ in 0..<20_000 {
      let isWild = Bool.random(using: &random)
      let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
        isWild ? UInt8.random(in: 0...255, using: &random) : Self.meaningful.randomElement(using: &random)!
      }
      check(String(decoding: bytes, as: UTF8.self))
    }
  }

  @Test func `mutated sample scans keep the invariants`() {
    var random = SeededGenerator(for: "ScanFuzz, mutated scans")
    let samples = SampleScan.all.map { Array($0.scan.utf8.prefix(200)) }
    for _ in 0..<20_000 {
      var bytes = samples.randomElement(using: &random)!
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        mutate(&bytes, among: samples, using: &random)
      }
      check(String(decoding: bytes, as: UTF8.self))
    }
  }

  private func mutate(_ bytes: inout [UInt8], among samples: [[UInt8]], using random: inout SeededGenerator) {
    let place = Int.random(in: 0...bytes.count, using: &random)
    switch Int.random(in: 0..<5, using: &random) {
    case 0: bytes.insert(Self.meaningful.randomElement(using: &random)!, at: place)
    case 1 where place < bytes.count: bytes[place] = Self.meaningful.randomElement(using: &random)!
    case 2 where place < bytes.count: bytes.remove(at: place)
    case 3: bytes.removeSubrange(place...)
    case 4: bytes.insert(contentsOf: samples.randomElement(using: &random)!, at: place)
    default: break
    }
  }

  private func check(_ text: String) {
    let configurations = [
      ScanConfiguration(), ScanConfiguration(separators: ["|", "^1"], maximumLength: 30),
    ]
    for configuration in configurations {
      let scan = Scan(text, configuration: configuration)
      checkInvariants(of: scan, text)
      if let folded = scan.folded { checkInvariants(of: folded, text) }
    }
  }

  private func checkInvariants(of scan: Scan, _ source: String) {
    let label = Comment(rawValue: source.debugDescription)
    #expect(contains(Array(scan.text.utf8), Array(scan.payload.utf8)), label)
    for gtin in [scan.gtin, scan.upcE].compactMap({ $0 }) {
      #expect(GTIN(gtin.digits) == gtin, label)
      #expect(gtin.spellings.allSatisfy { GTIN($0) == gtin }, label)
    }
    #expect((scan.checkDigit == .valid) == (scan.gtin != nil), label)
    #expect((scan.elements != nil) == [.gs1, .gs1Bad, .digitalLink].contains(scan.kind), label)
    #expect((scan.kind == .empty) == scan.payload.isEmpty, label)
    #expect(scan.itemText + (scan.addOn ?? "") == scan.payload, label)
    #expect(scan.payload.hasSuffix(scan.headText) || scan.addOn != nil, label)
    #expect(!scan.allowsHead || scan.allowsExactText, label)
    #expect(scan.canMatch || scan.refusal != nil, label)
    if let elements = scan.elements {
      // In brackets, an unknown identifier is part of the text before it.
      if elements.elements.allSatisfy({ ApplicationIdentifier($0.ai) != nil }) {
        #expect(ElementString(bracketed: elements.description).elements == elements.elements, label)
      }
      let content = scan.content(today: ScanDate(daysSince1970: 20_000))
      for issue in content.issues { #expect((0...scan.text.utf8.count).contains(issue.position), label) }
      for element in elements.elements {
        #expect(element.value.utf8.allSatisfy { (0x20...0x7E).contains($0) }, label)
      }
    }
  }

  private func contains(_ whole: [UInt8], _ part: [UInt8]) -> Bool {
    guard !part.isEmpty else { return true }
    guard part.count <= whole.count else { return false }
    return (0...(whole.count - part.count)).contains { whole[$0...].starts(with: part) }
  }
}
