import CoreMetrics
import Synchronization

/// A series, or the group of series that form a histogram.
protocol Series: AnyObject, Sendable {
  var id: SeriesID { get }
  /// Appends the lines of this series.
  func append(to text: inout PrometheusText)
}

final class CounterSeries: Series, CounterHandler {
  let id: SeriesID
  /// Not related to other memory. It wraps around after 2⁶⁴, which Prometheus treats as a restart.
  private let value = Atomic<UInt64>(0)

  init(_ id: SeriesID) { self.id = id }

  func increment(by amount: Int64) {
    // A counter never decreases.
    guard amount > 0 else { return }
    value.wrappingAdd(UInt64(amount), ordering: .relaxed)
  }

  func reset() { value.store(0, ordering: .relaxed) }

  func append(to text: inout PrometheusText) {
    text.append(id.name, id.labels, value.load(ordering: .relaxed))
  }
}

final class RealCounterSeries: Series, FloatingPointCounterHandler {
  let id: SeriesID
  private let value = AtomicDouble()

  init(_ id: SeriesID) { self.id = id }

  func increment(by amount: Double) {
    guard amount > 0, amount.isFinite else { return }
    value.add(amount)
  }

  func reset() { value.store(0) }

  func append(to text: inout PrometheusText) { text.append(id.name, id.labels, value.load()) }
}

final class GaugeSeries: Series, MeterHandler, RecorderHandler {
  let id: SeriesID
  private let value = AtomicDouble()

  init(_ id: SeriesID) { self.id = id }

  func set(_ new: Int64) { value.store(Double(new)) }
  func set(_ new: Double) { value.store(new) }
  func record(_ new: Int64) { value.store(Double(new)) }
  func record(_ new: Double) { value.store(new) }

  func increment(by amount: Double) {
    guard amount.isFinite else { return }
    value.add(amount)
  }

  func decrement(by amount: Double) { increment(by: -amount) }

  func append(to text: inout PrometheusText) { text.append(id.name, id.labels, value.load()) }
}

final class SummarySeries: Series, RecorderHandler {
  let id: SeriesID
  /// Guards the two numbers, which must be consistent.
  private let state = Mutex((count: UInt64(0), sum: 0.0))

  init(_ id: SeriesID) { self.id = id }

  func record(_ new: Int64) { record(Double(new)) }

  func record(_ new: Double) {
    // One NaN would make the sum NaN forever.
    guard new.isFinite else { return }
    state.withLock {
      $0.count &+= 1
      $0.sum += new
    }
  }

  func append(to text: inout PrometheusText) {
    let (count, sum) = state.withLock { $0 }
    text.append(id.name + "_sum", id.labels, sum)
    text.append(id.name + "_count", id.labels, count)
  }
}

/// A floating-point number that any thread can change atomically.
struct AtomicDouble: ~Copyable, Sendable {
  /// The bits of the number. Relaxed, because no other memory depends on it.
  private let bits = Atomic<UInt64>(0)

  func load() -> Double { Double(bitPattern: bits.load(ordering: .relaxed)) }
  func store(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }

  func add(_ amount: Double) {
    var old = bits.load(ordering: .relaxed)
    while true {
      let new = (Double(bitPattern: old) + amount).bitPattern
      let (exchanged, original) = bits.weakCompareExchange(expected: old, desired: new, ordering: .relaxed)
      if exchanged { return }
      old = original
    }
  }
}
