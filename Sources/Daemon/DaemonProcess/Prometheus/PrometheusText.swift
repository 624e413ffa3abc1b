/// A writer of the text format, line by line.
struct PrometheusText {
  /// The counter of refused series.
  static let refusedName = "shelfmark_series_refused_total"
  /// The name that it had.
  static let formerRefusedName = "prometheus_series_refused_total"

  private(set) var bytes: [UInt8] = []
  /// The family that is shown under its former name now, and that name.
  private var renamed: (name: String, former: String)?

  /// Appends a family, and then under its former name if it had another one.
  mutating func append(_ family: MetricFamily) {
    appendLines(family)
    guard let former = family.former else { return }
    appendFormer(family.name, former) { text in
      text.appendLines(
        MetricFamily(
          name: former, kind: family.kind, description: Self.formerDescription(of: family.name), series: family.series))
    }
  }

  private mutating func appendLines(_ family: MetricFamily) {
    head(family.name, family.kind, family.description)
    for (_, series) in family.series.sorted(by: { $0.key < $1.key }) { series.append(to: &self) }
  }

  private mutating func appendFormer(_ name: String, _ former: String, _ body: (inout PrometheusText) -> Void) {
    renamed = (name, former)
    body(&self)
    renamed = nil
  }

  /// What `# HELP` says of a name that goes away.
  private static func formerDescription(of name: String) -> String {
    "Deprecated: the former name of \(name), which the next version no longer has."
  }

  mutating func appendRefused(_ count: UInt64) {
    head(
      Self.refusedName, .counter, "Series that were asked for and not made: too many, or the name is another metric's.")
    append(Self.refusedName, "", count)
    head(Self.formerRefusedName, .counter, Self.formerDescription(of: Self.refusedName))
    append(Self.formerRefusedName, "", count)
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
    var name = name
    // The series of a histogram have names that begin with that of their family.
    if let renamed, name.hasPrefix(renamed.name) { name = renamed.former + name.dropFirst(renamed.name.count) }
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
