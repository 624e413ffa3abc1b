import BenchmarkSupport

/// The figures of one size as Markdown.
struct ComparisonTables {
  let figures: Figures

  var text: String {
    var parts = ["# \(figures.source)"]
    if let chase = figures[.chase, "reference"] {
      parts.append(
        "A dependent load from memory of the size of our file takes \(Figures.text(chase.spread.median, .nanoseconds)) "
          + "(\(Figures.text(chase.spread.least, .nanoseconds)) – \(Figures.text(chase.spread.most, .nanoseconds))). "
          + "*n* × is a multiple of ours in the same round.")
    }
    add("Lookups", Operation.allCases.map { .lookup($0) } + [.twoThreads, .speedup], to: &parts)
    add("Filling, updating, opening", [.load, .loadMemory, .byteCount, .increment, .opening], to: &parts)
    let waiting = [0, 10, 100]
    add("With increments waiting", waiting.map { .tailHit($0) } + waiting.map { .tailMiss($0) }, to: &parts)
    add("Cold: the page cache forgot the files", [.coldTime, .coldPages, .coldFaults], to: &parts)
    add(
      "While it compacts", [.compaction, .compactionRate, .quietMedian, .quietTail, .busyMedian, .busyTail], to: &parts)
    parts.append(bound)
    parts.append(details)
    parts.append(
      "## What was chosen\n\n" + figures.peers.map { "- **\($0.name)**: \($0.configuration)" }.joined(separator: "\n"))
    if !figures.skipped.isEmpty {
      parts.append("## Skipped\n\n" + figures.skipped.map { "- \($0)" }.joined(separator: "\n"))
    }
    return parts.filter { !$0.isEmpty }.joined(separator: "\n\n")
  }

  /// A table with the medians of some measures, peers downwards.
  private func add(_ title: String, _ measures: [Measure], to parts: inout [String]) {
    let measures = measures.filter { measure in figures.all.contains { $0.measure == measure } }
    if measures.isEmpty { return }
    var lines = ["## \(title)", "", "| | " + measures.map(\.title).joined(separator: " | ") + " |"]
    lines.append("|---|" + String(repeating: "---:|", count: measures.count))
    for peer in figures.peers {
      let cells = measures.map { measure in figures[measure, peer.name].map(Self.cell) ?? "" }
      if cells.contains(where: { !$0.isEmpty }) {
        lines.append("| \(peer.name) | " + cells.joined(separator: " | ") + " |")
      }
    }
    parts.append(lines.joined(separator: "\n"))
  }

  /// The median, and its multiple of ours where that says anything.
  static func cell(_ figure: Figure) -> String {
    let value = Figures.text(figure.spread.median, figure.measure.unit)
    guard figure.peer != Figures.ours, let ratio = figure.ratio, figure.measure.unit != .count else { return value }
    return "\(value) · \(FigureText.number(ratio.median)) ×"
  }

  /// How far ours is from what the machine allows.
  private var bound: String {
    let measures: [Measure] =
      [Operation.hit, .dependent, .miss, .byId, .relations].map { .lookup($0) } + [
        .twoThreads, .increment, .opening, .byteCount,
      ]
    var lines: [String] = []
    for measure in measures {
      guard let figure = figures[measure, "bound (C)"], !figure.ratios.isEmpty else { continue }
      let spread = Spread(figure.ratios.map { $0 == 0 ? 0 : 1 / $0 })
      lines.append(
        "| \(measure.title) | \(FigureText.number(spread.median)) × | "
          + "\(FigureText.number(spread.least)) – \(FigureText.number(spread.most)) |")
    }
    if lines.isEmpty { return "" }
    return
      (["## Ours as a multiple of the bound", "", "| | median of the rounds | least – most |", "|---|---:|---|"] + lines)
      .joined(separator: "\n")
  }

  /// Everything with its spread.
  private var details: String {
    var lines = [
      "## Every figure", "", "| measure | peer | median | least – most | rounds | × ours, least – most |",
      "|---|---|---:|---|---:|---|",
    ]
    for figure in figures.all {
      let unit = figure.measure.unit
      let spread = figure.spread
      var ratio = ""
      if let range = figure.ratio, figure.peer != Figures.ours {
        ratio =
          "\(FigureText.number(range.median)), \(FigureText.number(range.least)) – \(FigureText.number(range.most))"
      }
      let range =
        figure.values.count > 1 ? "\(Figures.text(spread.least, unit)) – \(Figures.text(spread.most, unit))" : ""
      lines.append(
        "| \(figure.measure.title) | \(figure.peer) | \(Figures.text(spread.median, unit)) | \(range) | "
          + "\(figure.values.count) | \(ratio) |")
    }
    return lines.joined(separator: "\n")
  }
}
