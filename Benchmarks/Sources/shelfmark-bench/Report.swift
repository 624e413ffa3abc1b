import BenchmarkSupport

/// One line of the results.
struct Measurement {
  /// *Subject – operation*, as the documentation names it.
  var name: String
  var condition: String
  var value: Double
  var least: Double
  var most: Double
  var unit: String
  /// The value as a multiple of the reference in the same run.
  var ratio: Double?
  var reference = ""
  /// What else there is to say: checksums, parts.
  var note = ""

  init(_ name: String, _ condition: String, _ spread: Spread, _ unit: String, scale: Double = 1) {
    self.name = name
    self.condition = condition
    self.unit = unit
    value = spread.median * scale
    least = spread.least * scale
    most = spread.most * scale
  }

  init(_ name: String, _ condition: String, _ value: Double, _ unit: String, note: String = "") {
    self.init(name, condition, Spread([value]), unit)
    self.note = note
  }

  func comparedTo(_ value: Double, _ reference: String) -> Measurement {
    var copy = self
    copy.ratio = self.value / value
    copy.reference = reference
    return copy
  }

  func noting(_ note: String) -> Measurement {
    var copy = self
    copy.note = note
    return copy
  }
}

/// The results of a run, with what they were measured on.
struct Report {
  let machine: Machine
  let commandLine: String
  var measurements: [Measurement] = []

  init(machine: Machine, commandLine: String) {
    self.machine = machine
    self.commandLine = commandLine
  }

  mutating func add(_ measurement: Measurement) { measurements.append(measurement) }

  func text(_ format: Options.Format) -> String {
    switch format {
    case .table: table
    case .markdown: markdown
    case .json: json
    }
  }

  private static let titles = ["operation", "condition", "median", "least – most", "unit", "ratio", "note"]

  private var cells: [[String]] {
    measurements.map { line in
      let isSpread = line.least != line.most
      return [
        line.name, line.condition, FigureText.number(line.value),
        isSpread ? "\(FigureText.number(line.least)) – \(FigureText.number(line.most))" : "", line.unit,
        line.ratio.map { "\(FigureText.number($0)) × \(line.reference)" } ?? "", line.note,
      ]
    }
  }

  private var table: String {
    let rows = [Self.titles] + cells
    let widths = Self.titles.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    let lines = rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let padding = String(repeating: " ", count: widths[column] - cell.count)
        line += (column == 2 ? padding + cell : cell + padding) + "  "
      }
      while line.last == " " { line.removeLast() }
      return line
    }
    return ([machine.description, commandLine, ""] + lines).joined(separator: "\n")
  }

  private var markdown: String {
    let head = "| " + Self.titles.joined(separator: " | ") + " |\n|---|---|---:|---|---|---|---|"
    // A bar inside of a cell would end it.
    let lines = cells.map { row in
      "| " + row.map { $0.split(separator: "|").joined(separator: "\\|") }.joined(separator: " | ") + " |"
    }
    return (["\(machine.description)  ", "`\(commandLine)`", "", head] + lines).joined(separator: "\n")
  }

  private var json: String {
    let lines = measurements.map { line in
      var fields = [
        "\"name\":\(FigureText.quoted(line.name))", "\"condition\":\(FigureText.quoted(line.condition))",
        "\"median\":\(line.value)", "\"least\":\(line.least)", "\"most\":\(line.most)",
        "\"unit\":\(FigureText.quoted(line.unit))",
      ]
      if let ratio = line.ratio {
        fields += ["\"ratio\":\(ratio)", "\"reference\":\(FigureText.quoted(line.reference))"]
      }
      if !line.note.isEmpty { fields.append("\"note\":\(FigureText.quoted(line.note))") }
      return "    {" + fields.joined(separator: ",") + "}"
    }
    return """
      {
        "processor": \(FigureText.quoted(machine.processor)), "cores": \(machine.coreCount),
        "kernel": \(FigureText.quoted(machine.kernel)), "swift": \(FigureText.quoted(machine.swift)),
        "load": \(FigureText.quoted(machine.load)),
        "command": \(FigureText.quoted(commandLine)),
        "measurements": [
      \(lines.joined(separator: ",\n"))
        ]
      }
      """
  }
}
