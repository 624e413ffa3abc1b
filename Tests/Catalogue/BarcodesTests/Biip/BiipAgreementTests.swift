import Foundation
import RandomTestSupport
import Testing

@testable import Barcodes

/// Element strings that biip reads differently. See scripts/biip.
@Suite struct BiipAgreementTests {
  private static let python = ProcessInfo.processInfo.environment["SHELFMARK_BIIP"]

  @Test(.enabled(if: python != nil, "scripts/biip runs it"))
  func `each difference from biip is one of those that the documentation judges`() throws {
    let python = try #require(Self.python)
    let count = ProcessInfo.processInfo.environment["SHELFMARK_BIIP_COUNT"].flatMap(Int.init) ?? 100_000
    var random = SeededGenerator(for: "BiipAgreementTests")
    let texts = (0..<count).map { _ in "]d2" + GeneratedElements.message(using: &random) }
    let readings = try BiipReading.readings(of: texts, python: python)
    try #require(readings.count == count)

    // biip asks the clock for the century.
    let day = Int(Date().timeIntervalSince1970 / 86_400)
    let today = ScanDate(daysSince1970: day)
    var counts: [BiipDifference: Int] = [:]
    var examples: [BiipDifference: String] = [:]
    var equal = 0
    var bothRefuse = 0
    for (text, reading) in zip(texts, readings) {
      let comparison = BiipComparison(text, reading, today: today)
      let differences = comparison.differences
      if differences.isEmpty { if reading.error == nil { equal += 1 } else { bothRefuse += 1 } }
      for difference in differences {
        counts[difference, default: 0] += 1
        let known = examples[difference]?.utf8.count ?? .max
        if text.utf8.count < known { examples[difference] = text }
      }
    }
    print("of \(count) strings \(equal) are read alike, and in \(bothRefuse) both find a fault")
    let page = try String(
      contentsOf: BiipReading.repository.appending(path: "Documentation/ScanComparison.md"), encoding: .utf8)
    for (difference, number) in counts.sorted(by: { $0.value > $1.value }) {
      let example = (examples[difference] ?? "").replacing("\u{1D}", with: "<GS>")
      print("\(number)  \(difference.rawValue)  \(example)")
      let isJudged = page.contains("\n| \(difference.rawValue) |")
      #expect(isJudged, "\(example) differs in a way that the page does not judge")
    }
    if count >= 100_000 {
      for difference in BiipDifference.allCases where page.contains("\n| \(difference.rawValue) |") {
        #expect(counts[difference] != nil, "the page judges '\(difference.rawValue)', which does not occur")
      }
    }
  }
}
