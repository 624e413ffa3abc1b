import BenchmarkSupport

/// The values of one measure by store, one for each round.
struct DocumentFigure {
  enum Unit { case nanoseconds, bytes }

  let title: String
  let unit: Unit
  /// Which clock: that of the thread or that on the wall.
  let clock: String
  var values: [[Double]]

  /// What GRDB takes as a multiple of ours, round by round.
  var ratio: Spread? {
    guard values.count == 2, !values[0].isEmpty, values[0].count == values[1].count else { return nil }
    return Spread(zip(values[0], values[1]).map { $1 / $0 })
  }

  func text(_ value: Double) -> String {
    switch unit {
    case .bytes: "\(FigureText.number(value / 1_048_576)) MiB"
    case .nanoseconds:
      switch value {
      case ..<1000: "\(FigureText.number(value)) ns"
      case ..<1e6: "\(FigureText.number(value / 1e3)) µs"
      case ..<1e9: "\(FigureText.number(value / 1e6)) ms"
      default: "\(FigureText.number(value / 1e9)) s"
      }
    }
  }
}

/// A run's figures as a table and as JSON.
struct DocumentReport {
  let machine: Machine
  let options: DocumentsOptions
  let stores: [(name: String, configuration: String)]
  let figures: [DocumentFigure]
  /// The load when the run ended.
  let lastLoad: String

  var markdown: String {
    var lines = [
      "\(machine.description), at the end \(lastLoad)  ",
      "`\(options.commandLine)`: \(options.documentCount) documents, seed \(options.seed), \(options.rounds) rounds",
      "",
      "| measure | clock | " + stores.map { "\($0.name) | least – most" }.joined(separator: " | ")
        + (stores.count == 2 ? " | ratio | least – most |" : " |"),
      "|---|---|" + stores.map { _ in "---:|---|" }.joined() + (stores.count == 2 ? "---:|---|" : ""),
    ]
    for figure in figures {
      var cells = [figure.title, figure.clock]
      for values in figure.values {
        guard !values.isEmpty else {
          cells += ["", ""]
          continue
        }
        let spread = Spread(values)
        cells += [
          figure.text(spread.median),
          values.count == 1 ? "" : "\(figure.text(spread.least)) – \(figure.text(spread.most))",
        ]
      }
      if stores.count == 2 {
        let ratio = figure.ratio
        cells += [
          ratio.map { "\(FigureText.number($0.median)) ×" } ?? "",
          ratio.map { "\(FigureText.number($0.least)) – \(FigureText.number($0.most))" } ?? "",
        ]
      }
      lines.append("| " + cells.joined(separator: " | ") + " |")
    }
    lines += [""] + stores.map { "- **\($0.name)**: \($0.configuration)" }
    return lines.joined(separator: "\n")
  }

  var json: String {
    let all = figures.map { figure in
      let values = zip(stores, figure.values).map { store, values in
        "\(FigureText.quoted(store.name)): [\(values.map { "\($0)" }.joined(separator: ", "))]"
      }
      return
        "    {\"measure\": \(FigureText.quoted(figure.title)), \"clock\": \(FigureText.quoted(figure.clock)), "
        + "\"unit\": \"\(figure.unit == .bytes ? "bytes" : "nanoseconds")\", \(values.joined(separator: ", "))}"
    }
    return """
      {
        "processor": \(FigureText.quoted(machine.processor)), "cores": \(machine.coreCount),
        "kernel": \(FigureText.quoted(machine.kernel)), "swift": \(FigureText.quoted(machine.swift)),
        "load": \(FigureText.quoted(machine.load)), "lastLoad": \(FigureText.quoted(lastLoad)),
        "command": \(FigureText.quoted(options.commandLine)), "documents": \(options.documentCount),
        "figures": [
      \(all.joined(separator: ",\n"))
        ]
      }
      """
  }
}
