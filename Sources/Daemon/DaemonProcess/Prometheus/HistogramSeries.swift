import CoreMetrics
import Synchronization

/// A histogram of durations.
final class HistogramSeries: Series, TimerHandler {
  let id: SeriesID

  private struct State {
    /// The count of each bucket, not cumulative. The last bucket has no upper bound.
    var counts = [UInt64](repeating: 0, count: PrometheusRegistry.timerBuckets.count + 1)
    var nanoseconds: UInt64 = 0
  }

  /// Guards the counts and the sum, which must be consistent.
  private let state = Mutex(State())

  private static let boundsInNanoseconds = PrometheusRegistry.timerBuckets.map { Int64(($0 * 1e9).rounded()) }
  private static let bounds = PrometheusRegistry.timerBuckets.map(PrometheusText.number)

  init(_ id: SeriesID) { self.id = id }

  func recordNanoseconds(_ duration: Int64) {
    // A clock that was set back must not give a negative duration.
    let duration = max(duration, 0)
    let bounds = Self.boundsInNanoseconds
    let bucket = bounds.firstIndex { duration <= $0 } ?? bounds.count
    state.withLock {
      $0.counts[bucket] &+= 1
      $0.nanoseconds &+= UInt64(duration)
    }
  }

  func append(to text: inout PrometheusText) {
    let state = state.withLock { $0 }
    let separator = id.labels.isEmpty ? "" : ","
    var total: UInt64 = 0
    for (count, bound) in zip(state.counts, Self.bounds + ["+Inf"]) {
      total &+= count
      text.append(id.name + "_bucket", "\(id.labels)\(separator)le=\"\(bound)\"", total)
    }
    text.append(id.name + "_sum", id.labels, Double(state.nanoseconds) / 1e9)
    text.append(id.name + "_count", id.labels, total)
  }
}
