/// What kind of metric a name stands for.
enum MetricKind: String, Sendable {
  case counter, gauge, summary, histogram

  /// What stands behind the name in the series that a metric of this kind is told as.
  var endings: [String] {
    switch self {
    case .counter, .gauge: [""]
    case .summary: ["", "_sum", "_count"]
    case .histogram: ["", "_bucket", "_sum", "_count"]
    }
  }
}

/// A name with labels.
struct SeriesID: Sendable, Hashable {
  let name: String
  /// As they stand between the braces.
  let labels: String
}

/// All series with one name.
struct MetricFamily {
  let name: String
  let kind: MetricKind
  var description: String
  /// By their labels.
  var series: [String: any Series] = [:]
}

/// Which series there are.
///
/// - Every name that the text shows belongs to one family.
/// - `count` is the number of series of all families, and never more than `limit`.
struct SeriesTable {
  let limit: Int
  private var families: [String: MetricFamily] = [:]
  /// Which family tells series of this name.
  private var owners: [String: String] = [PrometheusText.refusedName: PrometheusText.refusedName]
  private var count = 0
  private(set) var refusedCount: UInt64 = 0
  /// By the label that programs use.
  var descriptions: [String: String] = [:]
  var collectors: [@Sendable () -> Void] = []

  init(limit: Int) { self.limit = limit }

  /// The series with that id, made where there is none; `nil` where there can be none.
  mutating func series<Made: Series>(
    _ id: SeriesID, kind: MetricKind, label: String, _ make: (SeriesID) -> Made
  ) -> Made? {
    if let known = families[id.name]?.series[id.labels] {
      // The same name and labels as another kind of metric, or as a counter of the other kind of numbers.
      guard let series = known as? Made else { return refuse() }
      return series
    }
    guard count < limit else { return refuse() }
    if let family = families[id.name] {
      guard family.kind == kind else { return refuse() }
    } else {
      let names = kind.endings.map { id.name + $0 }
      guard names.allSatisfy({ owners[$0] == nil }) else { return refuse() }
      for name in names { owners[name] = id.name }
      families[id.name] = MetricFamily(name: id.name, kind: kind, description: label)
    }
    let series = make(id)
    families[id.name]?.series[id.labels] = series
    count += 1
    return series
  }

  mutating func remove(_ series: any Series) {
    let id = series.id
    guard let family = families[id.name], let known = family.series[id.labels], known === series else { return }
    families[id.name]?.series[id.labels] = nil
    count -= 1
    guard family.series.count == 1 else { return }
    families[id.name] = nil
    for ending in family.kind.endings { owners[id.name + ending] = nil }
  }

  private mutating func refuse<Made>() -> Made? {
    refusedCount &+= 1
    return nil
  }

  /// All families by name, with their descriptions.
  var inOrder: [MetricFamily] {
    families.values.sorted { $0.name < $1.name }.map { family in
      var family = family
      family.description = descriptions[family.description] ?? family.description
      return family
    }
  }
}
