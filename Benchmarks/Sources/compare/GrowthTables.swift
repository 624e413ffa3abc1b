import BenchmarkSupport

/// The figures of several sizes as Markdown: one table a measure, sizes across.
struct GrowthTables {
  /// What is shown against size, with the names of the plots.
  static let measures: [(name: String, measure: Measure)] = [
    ("hit", .lookup(.hit)), ("dependent", .lookup(.dependent)), ("miss", .lookup(.miss)), ("by-id", .lookup(.byId)),
    ("values", .lookup(.product)), ("update", .increment), ("open", .opening), ("load", .load), ("bytes", .byteCount),
    ("tail", .tailHit(100)), ("cold", .coldTime),
  ]

  let runs: [Figures]

  var text: String { Self.measures.compactMap { table($0.measure) }.joined(separator: "\n\n") }

  private func table(_ measure: Measure) -> String? {
    let all = runs.flatMap { $0.peers.map(\.name) }
    var names: [String] = []
    for name in all where !names.contains(name) { names.append(name) }
    var lines = ["## \(measure.title)", "", "| | " + runs.map { "\($0.productCount)" }.joined(separator: " | ") + " |"]
    lines.append("|---|" + String(repeating: "---:|", count: runs.count))
    let head = lines.count
    for name in names {
      let cells = runs.map { run in run[measure, name].map(ComparisonTables.cell) ?? "" }
      if cells.contains(where: { !$0.isEmpty }) { lines.append("| \(name) | " + cells.joined(separator: " | ") + " |") }
    }
    return lines.count == head ? nil : lines.joined(separator: "\n")
  }
}
