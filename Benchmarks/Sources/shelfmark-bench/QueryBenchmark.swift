import BenchmarkSupport
import Catalog
import CatalogRows
import CatalogueGenerator

/// What a query costs that has no index: the products that it tests in a second.
///
/// Each round reads every product of the catalogue, so a condition that matches few of them shows what testing costs.
/// The times are processor time of the thread, and the number of products found has to be what the generator says.
struct QueryBenchmark {
  let generator: CatalogueGenerator
  let options: Options

  /// A condition, and whether it holds for a row.
  private struct Case {
    let condition: String
    let holds: (borrowing ProductRow) -> Bool

    var name: String { "ProductQuery.count – scan, \(condition)" }
  }

  private static var cases: [Case] {
    [
      Case(condition: "weight > 20") { $0.weight > 20 },
      Case(condition: "weight > 20 && isSaleProduct") { $0.weight > 20 && $0.isSaleProduct },
      Case(condition: "groupNum in [6, 24]") { $0.groupNum == 6 || $0.groupNum == 24 },
    ]
  }

  func run(_ snapshot: CatalogSnapshot, condition: String, _ report: inout Report) throws {
    let cases = Self.cases.filter { options.only.isEmpty || $0.name.contains(options.only) }
    if cases.isEmpty { return }
    var expected = cases.map { _ in 0 }
    var row = ProductRow()
    for index in 0..<generator.productCount {
      generator.product(index, into: &row)
      for (number, one) in cases.enumerated() where one.holds(row) { expected[number] += 1 }
    }
    var rates = cases.map { _ in [Double]() }
    // One round without the clock: it brings the file into the caches that it fits.
    for round in 0...options.rounds {
      for (number, one) in cases.enumerated() {
        let (count, elapsed) = try Elapsed.of { try snapshot.products(where: one.condition).count() }
        guard count == expected[number] else {
          throw WrongAnswer("\(one.name): \(count) products, and not \(expected[number])")
        }
        if round > 0 { rates[number].append(Double(generator.productCount) / elapsed.processor * 1e9) }
      }
    }
    for (number, one) in cases.enumerated() {
      report.add(
        Measurement(one.name, condition, Spread(rates[number]), "rows/s").noting("\(expected[number]) found"))
    }
  }
}
