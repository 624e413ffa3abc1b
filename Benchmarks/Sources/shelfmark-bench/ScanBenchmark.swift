import Barcodes
import BenchmarkSupport
import Catalog

/// What a scan costs before any lookup: reading the code, and typing what its label states.
///
/// The times are processor time of the thread, per scan. The codes of a kind differ, so that nothing is learnt by
/// heart.
struct ScanBenchmark {
  let options: Options

  private struct Case: Sendable {
    let name: String
    let makeCode: @Sendable (Int) -> String
  }

  private static let cases: [Case] = [
    Case(name: "EAN-13") { number in
      let body = "400638" + digits(number, 6)
      return body + String(Unicode.Scalar(GTIN.checkDigit(following: body.utf8) ?? 0))
    },
    Case(name: "GS1 DataMatrix (01)(17)(10)(21)") { number in
      "]d2" + "0105296849398452" + "17261231" + "10L" + digits(number, 5) + "\u{1D}" + "21S" + digits(number, 9)
    },
    Case(name: "GS1 DataMatrix (01)(17)(10)(3103)(3932)") { number in
      "]d2" + "0105296849398452" + "17261231" + "310300" + digits(number % 10_000, 4) + "10L" + digits(number, 5)
        + "\u{1D}"
        + "3932978" + digits(number % 10_000, 4)
    },
    Case(name: "Digital Link (01)(10)(17)") { number in
      "https://id.gs1.org/01/09506000134352/10/L\(digits(number, 5))?17=261231"
    },
    Case(name: "ISO/IEC 15434 (P)(1P)(Q)(K)") { number in
      "[)>\u{1E}06\u{1D}P296-\(digits(number, 5))\u{1D}1PLM358\u{1D}Q10\u{1D}K\(digits(number, 6))\u{1E}\u{4}"
    },
  ]

  private static func digits(_ number: Int, _ count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, count - text.count)) + text.suffix(count)
  }

  func run(_ report: inout Report) throws {
    guard let today = ScanDate(year: 2026, month: 6, day: 15) else { throw WrongAnswer("the calendar has this day") }
    for one in Self.cases where options.only.isEmpty || one.name.contains(options.only) {
      let codes = (0..<1000).map { one.makeCode($0 * 7919 % 1_000_000) }
      var reads: [Double] = []
      var types: [Double] = []
      var answers: [Double] = []
      let repeats = max(1, options.lookupsPerRound / codes.count)
      // One round without the clock.
      for round in 0...options.rounds {
        let read = time(codes, repeats) { Scan($0).gtin?.indicator ?? 1 }
        let typed = time(codes, repeats) { code in
          let content = Scan(code).content(today: today)
          return content.data.fields.count + content.issues.count
        }
        let answered = try time(codes, repeats) { code in
          try CatalogSnapshot.empty.match(code).isEmpty ? 1 : 0
        }
        if round == 0 { continue }
        reads.append(read)
        types.append(typed)
        answers.append(answered)
      }
      report.add(Measurement("Scan – \(one.name)", "read", Spread(reads), "ns"))
      report.add(Measurement("Scan – \(one.name)", "read and typed", Spread(types), "ns"))
      report.add(Measurement("Scan – \(one.name)", "matched, nothing there", Spread(answers), "ns"))
    }
  }

  /// The processor time of one call, in nanoseconds.
  private func time(_ codes: [String], _ repeats: Int, _ body: (String) throws -> Int) rethrows -> Double {
    var sum = 0
    let (_, elapsed) = try Elapsed.of {
      for _ in 0..<repeats {
        for code in codes { sum &+= try body(code) }
      }
    }
    precondition(sum >= 0, "the results are used")
    return elapsed.processor / Double(codes.count * repeats)
  }
}
