/// A writer of the text format, line by line.
struct PrometheusText {
  /// The counter of refused series.
  static let refusedName = "prometheus_series_refused_total"

  private(set) var bytes: [UInt8] = []

  mutating func append(_ family: MetricFamily) {
    head(family.name, family.kind, family.description)
    for (_, series) in family.series.sorted(by: { $0.key < $1.key }) { series.append(to: &self) }
  }

  mutating func appendRefused(_ count: UInt64) {
    head(
      Self.refusedName, .counter, "Series that were asked for and not made: too many, or the name is another metric's.")
    append(Self.refusedName, "", count)
  }

  private mutating func head(_ name: String, _ kind: MetricKind, _ description: String) {
    let description = MetricText.escaped(description, quotes: false)
    line("# HELP \(name) \(description)\n# TYPE \(name) \(kind.rawValue)")
  }

  mutating func append(_ name: String, _ labels: String, _ value: UInt64) { append(name, labels, String(value)) }
  mutating func append(_ name: String, _ labels: String, _ value: Double) {
    append(name, labels, Self.number(value))
  }

  private mutating func append(_ name: String, _ labels: String, _ value: String) {
    line(labels.isEmpty ? "\(name) \(value)" : "\(name){\(labels)} \(value)")
  }

  private mutating func line(_ text: String) {
    bytes += Array(text.utf8)
    bytes.append(UInt8(ascii: "\n"))
  }

  /// A number in a format that Go can parse.
  static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    // Integers without a decimal point, in the range where they are exact.
    if let whole = Int64(exactly: value), abs(value) < 1e15 { return String(whole) }
    return "\(value)"
  }
}
