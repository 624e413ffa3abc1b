public import CoreMetrics
public import UploadQueue

/// Exports metrics of an upload queue's events and contents to swift-metrics.
///
///     MetricsSystem.bootstrap(…)
///     var options = QueueOptions()
///     options.trace = UploadMetrics.tracer()
///
/// | name | kind | meaning |
/// |---|---|---|
/// | `uploads_events_total` | counter | events of uploads in this process, by `event`: `enqueued`, `superseded`, `dropped`, `expired`, `refused`, `claimed`, `delivered`, `backed_off`, `parked`, `taken_back`, `released`, `taken_over` |
/// | `uploads_commit_seconds` | timer | duration of a commit of the queue |
/// | `uploads_commit_calls_total` | counter | calls that shared these commits |
/// | `uploads_store_failures_total` | counter | failed writes, which are retried |
/// | `uploads_breaker_open` | gauge | 1 while a destination's circuit breaker is open, by `destination` |
/// | `uploads_waiting`, `uploads_sending`, `uploads_parked` | gauge | uploads in the queue, from all processes |
/// | `uploads_payload_bytes` | gauge | total size of their payloads |
///
/// The gauges of the contents are updated while ``follow(_:factory:dimensions:)`` runs.
public enum UploadMetrics {
  static let events = "uploads_events_total"
  static let commit = "uploads_commit_seconds"
  static let calls = "uploads_commit_calls_total"
  static let failures = "uploads_store_failures_total"
  static let breaker = "uploads_breaker_open"
  static let waiting = "uploads_waiting"
  static let sending = "uploads_sending"
  static let parked = "uploads_parked"
  static let bytes = "uploads_payload_bytes"

  /// Creates a callback for `QueueOptions.trace`.
  ///
  /// - Parameters:
  ///   - factory: The factory of the metrics. The default requires that `MetricsSystem` is already bootstrapped.
  ///   - dimensions: Additional dimensions of all metrics, for example the queue's name.
  /// - Complexity: The cost of a counter for each event, on the committing thread.
  public static func tracer(
    factory: any MetricsFactory = MetricsSystem.factory, dimensions: [(String, String)] = []
  ) -> @Sendable (QueueEvent) -> Void {
    let recorder = EventRecorder(factory, dimensions)
    return { recorder.record($0) }
  }

  /// Updates the gauges of a queue's contents, now and after each change by any process, until its task is cancelled.
  ///
  /// - Parameters:
  ///   - queue: The queue to observe.
  ///   - factory: The factory of the metrics. The default requires that `MetricsSystem` is already bootstrapped.
  ///   - dimensions: The dimensions of the gauges, for example the queue's name.
  /// - Throws: `StoreError` if the queue cannot be read.
  public static func follow(
    _ queue: UploadQueue, factory: any MetricsFactory = MetricsSystem.factory, dimensions: [(String, String)] = []
  ) async throws {
    func gauge(_ label: String) -> Gauge { Gauge(label: label, dimensions: dimensions, factory: factory) }
    let (waiting, sending, parked) = (gauge(Self.waiting), gauge(Self.sending), gauge(Self.parked))
    let bytes = gauge(Self.bytes)
    for try await counts in queue.observedCounts {
      waiting.record(counts.waiting)
      sending.record(counts.sending)
      parked.record(counts.parked)
      bytes.record(counts.byteCount)
    }
  }
}
