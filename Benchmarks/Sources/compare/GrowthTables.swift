import BenchmarkSupport

/// The figures of several sizes as Markdown: one table a measure, sizes across.
struct GrowthTables {
  /// What is shown against size, with the names of the plots.
  static let measures: [(name: String, measure: Measure)] = [
    ("hit", .lookup(.hit)), ("dependent", .lookup(.dependent)), ("miss", .lookup(.miss)), ("by-id", .lookup(.byId)),
    ("values", .lookup(.product)), ("update", .increment), ("open", .opening), ("load", .load), ("bytes", .byteCount),
    ("cold", .coldTime),
  ]
  /// How many increments of 1000 rows wait where lookups beside them are measured.
  static let tails = [0, 10, 100]

  let runs: [Figures]

  var text: String {
    let measures = Self.measures.map(\.measure) + Self.tails.map { Measure.tailHit($0) }
    return (measures.compactMap(table) + [tailTable].compactMap { $0 }).joined(separator: "\n\n")
  }

  /// What waiting increments cost: a hit with them as a multiple of one without.
  private var tailTable: String? {
    var rows: [String] = []
    for name in names {
      for tail in Self.tails.dropFirst() {
        let cells = runs.map { run in
          guard let quiet = run[.tailHit(0), name], let loaded = run[.tailHit(tail), name] else { return "" }
          return FigureText.number(loaded.spread.median / quiet.spread.median) + " ×"
        }
        if cells.contains(where: { !$0.isEmpty }) {
          rows.append("| \(name), \(tail) increments | " + cells.joined(separator: " | ") + " |")
        }
      }
    }
    return rows.isEmpty
      ? nil : (heading("hit with increments waiting, against one without") + rows).joined(separator: "\n")
  }

  /// The peers of all runs, each once.
  private var names: [String] {
    var names: [String] = []
    for name in runs.flatMap({ $0.peers.map(\.name) }) where !names.contains(name) { names.append(name) }
    return names
  }

  private func heading(_ title: String) -> [String] {
    [
      "## \(title)", "", "| | " + runs.map { "\($0.productCount)" }.joined(separator: " | ") + " |",
      "|---|" + String(repeating: "---:|", count: runs.count),
    ]
  }

  private func table(_ measure: Measure) -> String? {
    var lines = heading(measure.title)
    let head = lines.count
    for name in names {
      let cells = runs.map { run in run[measure, name].map(ComparisonTables.cell) ?? "" }
      if cells.contains(where: { !$0.isEmpty }) { lines.append("| \(name) | " + cells.joined(separator: " | ") + " |") }
    }
    return lines.count == head ? nil : lines.joined(separator: "\n")
  }
}
