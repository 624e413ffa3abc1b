import BenchmarkSupport

/// What is measured, in groups that become tables.
enum Measure: Hashable, Sendable {
  case lookup(Operation)
  case twoThreads
  case speedup
  case load, loadMemory, byteCount, increment, opening
  case tailHit(Int)
  case tailMiss(Int)
  case coldTime, coldPages, coldFaults
  case compaction, compactionRate, quietMedian, quietTail, busyMedian, busyTail
  /// A step of the pointer chase.
  case chase

  var title: String {
    switch self {
    case .lookup(let operation): operation.title
    case .twoThreads: "hit, two threads"
    case .speedup: "two threads against one"
    case .load: "load"
    case .loadMemory: "peak memory of load"
    case .byteCount: "on disk"
    case .increment: "1000 rows, durable"
    case .opening: "open to first lookup"
    case .tailHit(let count): "hit, \(count) increments waiting"
    case .tailMiss(let count): "miss, \(count) increments waiting"
    case .coldTime: "cold hit"
    case .coldPages: "pages read per cold hit"
    case .coldFaults: "major faults per cold hit"
    case .compaction: "compaction"
    case .compactionRate: "MB of the fresh file a second"
    case .quietMedian: "hit, median"
    case .quietTail: "hit, 99 %"
    case .busyMedian: "median while it compacts"
    case .busyTail: "99 % while it compacts"
    case .chase: "pointer chase, a step"
    }
  }

  enum Unit: String { case nanoseconds, bytes, count }

  var unit: Unit {
    switch self {
    case .loadMemory, .byteCount: .bytes
    case .coldPages, .coldFaults, .speedup, .compactionRate: .count
    default: .nanoseconds
    }
  }
}

/// The values of one measure for one peer, one for each round.
struct Figure: Sendable {
  let measure: Measure
  let peer: String
  let values: [Double]
  /// The peer's value as a multiple of ours in the same round.
  var ratios: [Double] = []

  var spread: Spread { Spread(values) }
  var ratio: Spread? { ratios.isEmpty ? nil : Spread(ratios) }
}

/// The figures of a run at one size.
struct Figures: Sendable {
  static let ours = "Shelfmark"

  let productCount: Int
  let source: String
  var peers: [(name: String, configuration: String)] = []
  var skipped: [String] = []
  private(set) var all: [Figure] = []

  init(productCount: Int, source: String) {
    self.productCount = productCount
    self.source = source
  }

  /// Adds values of one measure by peer, and their ratios to ours round by round.
  mutating func add(_ measure: Measure, _ values: [(peer: String, values: [Double])]) {
    let own = values.first { $0.peer == Self.ours }?.values
    for (peer, values) in values where !values.isEmpty {
      var figure = Figure(measure: measure, peer: peer, values: values)
      if let own, own.count == values.count { figure.ratios = zip(values, own).map { $1 == 0 ? 0 : $0 / $1 } }
      all.append(figure)
    }
  }

  mutating func remove(_ measure: Measure) { all.removeAll { $0.measure == measure } }

  subscript(_ measure: Measure, _ peer: String) -> Figure? {
    all.first { $0.measure == measure && $0.peer == peer }
  }

  /// How a value of this measure is written.
  static func text(_ value: Double, _ unit: Measure.Unit) -> String {
    switch unit {
    case .count: FigureText.number(value)
    case .bytes:
      value < 1_048_576 ? "\(FigureText.number(value / 1024)) KiB" : "\(FigureText.number(value / 1_048_576)) MiB"
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
