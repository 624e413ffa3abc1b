import BenchmarkSupport

/// Every value of every round, for programs.
struct JSONReport {
  let report: CompareReport

  var text: String {
    let machine = report.machine
    return """
      {
        "processor": \(FigureText.quoted(machine.processor)), "cores": \(machine.coreCount),
        "kernel": \(FigureText.quoted(machine.kernel)), "swift": \(FigureText.quoted(machine.swift)),
        "load": \(FigureText.quoted(machine.load)),
        "command": \(FigureText.quoted(report.options.commandLine)),
        "runs": [
      \(report.runs.map(run).joined(separator: ",\n"))
        ]
      }
      """
  }

  private func run(_ figures: Figures) -> String {
    let skipped = figures.skipped.map(FigureText.quoted).joined(separator: ", ")
    return """
          {"products": \(figures.productCount), "source": \(FigureText.quoted(figures.source)), "skipped": [\(skipped)],
           "figures": [
      \(figures.all.map(figure).joined(separator: ",\n"))
           ]}
      """
  }

  private func figure(_ figure: Figure) -> String {
    let spread = figure.spread
    var fields = [
      "\"measure\": \(FigureText.quoted(figure.measure.title))", "\"peer\": \(FigureText.quoted(figure.peer))",
      "\"unit\": \(FigureText.quoted(figure.measure.unit.rawValue))", "\"median\": \(spread.median)",
      "\"least\": \(spread.least)", "\"most\": \(spread.most)",
    ]
    if let ratio = figure.ratio { fields.append("\"ratio\": \(ratio.median)") }
    fields.append("\"values\": [\(figure.values.map { "\($0)" }.joined(separator: ", "))]")
    return "      {\(fields.joined(separator: ", "))}"
  }
}
