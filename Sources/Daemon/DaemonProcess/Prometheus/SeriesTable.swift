/// The kind of a metric.
enum MetricKind: String, Sendable {
  case counter, gauge, summary, histogram

  /// The suffixes of the names of the series that a metric of this kind consists of.
  var endings: [String] {
    switch self {
    case .counter, .gauge: [""]
    case .summary: ["", "_sum", "_count"]
    case .histogram: ["", "_bucket", "_sum", "_count"]
    }
  }
}

/// A metric name with labels.
struct SeriesID: Sendable, Hashable {
  let name: String
  /// The text between the braces.
  let labels: String
}

/// All series with one name.
struct MetricFamily {
  let name: String
  let kind: MetricKind
  var description: String
  /// The name that it had in an earlier version, under which it is shown as well; `nil` if it had no other.
  var former: String?
  /// The series by their labels.
  var series: [String: any Series] = [:]
}

/// The table of all series.
///
/// - Every name that the text shows belongs to one family.
/// - `count` is the number of series of all families, and never more than `limit`.
struct SeriesTable {
  let limit: Int
  private var families: [String: MetricFamily] = [:]
  /// The family that reports the series with each name.
  private var owners: [String: String] = [
    PrometheusText.refusedName: PrometheusText.refusedName,
    PrometheusText.formerRefusedName: PrometheusText.refusedName,
  ]
  private var count = 0
  private(set) var refusedCount: UInt64 = 0
  /// The descriptions, by the label that programs use.
  var descriptions: [String: String] = [:]
  var collectors: [@Sendable () -> Void] = []

  init(limit: Int) { self.limit = limit }

  /// Returns the series with this id, and creates it if it does not exist; `nil` if it is refused.
  mutating func series<Made: Series>(
    _ id: SeriesID, kind: MetricKind, label: String, former: String? = nil, _ make: (SeriesID) -> Made
  ) -> Made? {
    if let existing = families[id.name]?.series[id.labels] {
      // The same name and labels are used by another kind of metric, or by a counter of the other number type.
      guard let series = existing as? Made else { return refuse() }
      return series
    }
    guard count < limit else { return refuse() }
    if let family = families[id.name] {
      guard family.kind == kind else { return refuse() }
    } else {
      let names = kind.endings.flatMap { ending in [id.name, former].compactMap(\.self).map { $0 + ending } }
      guard names.allSatisfy({ owners[$0] == nil }) else { return refuse() }
      for name in names { owners[name] = id.name }
      families[id.name] = MetricFamily(name: id.name, kind: kind, description: label, former: former)
    }
    let series = make(id)
    families[id.name]?.series[id.labels] = series
    count += 1
    return series
  }

  mutating func remove(_ series: any Series) {
    let id = series.id
    guard let family = families[id.name], let existing = family.series[id.labels], existing === series else { return }
    families[id.name]?.series[id.labels] = nil
    count -= 1
    guard family.series.count == 1 else { return }
    families[id.name] = nil
    for ending in family.kind.endings {
      owners[id.name + ending] = nil
      if let former = family.former { owners[former + ending] = nil }
    }
  }

  private mutating func refuse<Made>() -> Made? {
    refusedCount &+= 1
    return nil
  }

  /// All families with their descriptions, sorted by name.
  var inOrder: [MetricFamily] {
    families.values.sorted { $0.name < $1.name }.map { family in
      var family = family
      family.description = descriptions[family.description] ?? family.description
      return family
    }
  }
}
