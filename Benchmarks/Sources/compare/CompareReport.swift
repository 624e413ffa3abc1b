import BenchmarkSupport

#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The results of a run: tables, JSON and plots.
struct CompareReport {
  let machine: Machine
  let options: CompareOptions
  let runs: [Figures]

  private var isGrowth: Bool { !options.growth.isEmpty }

  /// Writes every file of the report into `directory`, which is made if it is missing.
  func write(to directory: String) throws {
    _ = unsafe mkdir(directory, 0o755)
    let name = isGrowth ? "growth" : "compare"
    try write(markdown, "\(directory)/\(name).md")
    try write(JSONReport(report: self).text, "\(directory)/\(name).json")
    for (name, svg) in plots { try write(svg, "\(directory)/\(name).svg") }
    complain("written to \(directory)")
  }

  private func write(_ text: String, _ path: String) throws {
    try OutputFile(creating: path).append((text + "\n").utf8)
  }

  var markdown: String {
    let head = "\(machine.description)  \n`\(options.commandLine)`"
    if !isGrowth { return head + "\n\n" + runs.map { ComparisonTables(figures: $0).text }.joined(separator: "\n\n") }
    return head + "\n\n" + GrowthTables(runs: runs).text
  }

  // MARK: Plots

  /// File names without extension, and what the files hold.
  private var plots: [(String, String)] {
    isGrowth
      ? GrowthTables.measures.compactMap { name, measure in growthPlot(measure).map { ("growth-\(name)", $0) } }
        + [tailPlot].compactMap { $0.map { ("growth-tail", $0) } }
      : runs.prefix(1).map { ("lookups", lookupPlot($0)) }
  }

  private func lookupPlot(_ figures: Figures) -> String {
    let measures = [Measure.lookup(.hit), .lookup(.dependent), .lookup(.miss)]
    return BarPlot(
      title: "A lookup, \(figures.source)",
      axis: "nanoseconds, logarithmic; the line spans least to most",
      groups: figures.peers.compactMap { peer in
        let bars = measures.map { figures[$0, peer.name]?.spread }
        return bars.contains { $0 != nil } ? (peer.name, bars) : nil
      },
      legend: measures.map(\.title)
    ).svg
  }

  private func growthPlot(_ measure: Measure) -> String? {
    let names = runs.flatMap { $0.peers.map(\.name) }
    var lines: [LinePlot.Line] = []
    // A store has one colour in all plots.
    var colour = 0
    for (place, name) in names.enumerated() where !names[..<place].contains(name) {
      lines.append(line(measure, name, shownAs: name, colour: colour))
      colour += 1
    }
    return plot(measure.title, measure.unit, lines)
  }

  /// Ours with more and more increments waiting.
  private var tailPlot: String? {
    let lines = GrowthTables.tails.enumerated().map { colour, tail in
      line(.tailHit(tail), Figures.ours, shownAs: "\(tail) increments", colour: colour)
    }
    return plot("\(Figures.ours): hit with increments of 1000 rows waiting", .nanoseconds, lines)
  }

  private func line(_ measure: Measure, _ peer: String, shownAs name: String, colour: Int) -> LinePlot.Line {
    let points = runs.compactMap { run in
      run[measure, peer].map { (x: Double(run.productCount), y: $0.spread) }
    }
    return LinePlot.Line(name: name, colour: SVG.colours[colour % SVG.colours.count], points: points)
  }

  private func plot(_ title: String, _ unit: Measure.Unit, _ lines: [LinePlot.Line]) -> String? {
    let lines = lines.filter { !$0.points.isEmpty }
    // One size alone is no growth.
    guard lines.contains(where: { $0.points.count > 1 }) else { return nil }
    return LinePlot(
      title: title, xAxis: "products in the catalogue, logarithmic",
      yAxis: (unit == .bytes ? "bytes" : "time of one") + ", logarithmic; median, and a bar from least to most",
      unit: unit, lines: lines
    ).svg
  }
}
