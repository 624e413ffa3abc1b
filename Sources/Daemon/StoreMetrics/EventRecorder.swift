import CoreMetrics
import TextFormat
import UploadQueue

/// Counts the events of a queue.
final class EventRecorder: Sendable {
  private enum Name: String, CaseIterable {
    case enqueued
    case superseded
    case dropped
    case expired
    case refused
    case claimed
    case delivered
    case backedOff = "backed_off"
    case parked
    case requeued = "taken_back"
    case released
    case takenOver = "taken_over"
  }

  private let factory: any MetricsFactory
  private let dimensions: [(String, String)]
  /// One counter for each event. All are created at the start, so that a rate has an initial value.
  private let counters: [Name: Counter]
  private let commit: Timer
  private let calls: Counter
  private let failures: Counter

  init(_ factory: any MetricsFactory, _ dimensions: [(String, String)]) {
    self.factory = factory
    self.dimensions = dimensions
    counters = Dictionary(
      uniqueKeysWithValues: Name.allCases.map { name in
        let dimensions = dimensions + [("event", name.rawValue)]
        return (name, Counter(label: UploadMetrics.events, dimensions: dimensions, factory: factory))
      })
    commit = Timer(label: UploadMetrics.commit, dimensions: dimensions, factory: factory)
    calls = Counter(label: UploadMetrics.calls, dimensions: dimensions, factory: factory)
    failures = Counter(label: UploadMetrics.failures, dimensions: dimensions, factory: factory)
  }

  func record(_ event: QueueEvent) {
    switch event {
    case .enqueued: count(.enqueued)
    case .superseded: count(.superseded)
    case .dropped: count(.dropped)
    case .expired: count(.expired)
    case .refused: count(.refused)
    case .claimed: count(.claimed)
    case .delivered: count(.delivered)
    case .backedOff: count(.backedOff)
    case .parked: count(.parked)
    case .requeued: count(.requeued)
    case .released: count(.released)
    case .takenOver: count(.takenOver)
    case .committed(let count, let duration):
      commit.recordNanoseconds(duration.nanoseconds)
      calls.increment(by: count)
    case .destinationPaused: break
    case .breakerOpened(let destination, _): breaker(destination).record(1)
    case .breakerClosed(let destination): breaker(destination).record(0)
    case .storeFailed: failures.increment()
    }
  }

  private func count(_ name: Name) { counters[name]?.increment() }

  /// Created anew each time, which is rare. The factory returns the same gauge.
  private func breaker(_ destination: String) -> Gauge {
    Gauge(label: UploadMetrics.breaker, dimensions: dimensions + [("destination", destination)], factory: factory)
  }
}
