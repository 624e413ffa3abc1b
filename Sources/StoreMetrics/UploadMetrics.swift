public import CoreMetrics
public import UploadQueue

/// Tells swift-metrics what a queue of uploads does, and what it holds.
///
///     MetricsSystem.bootstrap(…)
///     var options = QueueOptions()
///     options.trace = UploadMetrics.tracer()
///
/// | name | kind | of what |
/// |---|---|---|
/// | `uploads_events_total` | counter | what happened to uploads in this process, by `event`: `enqueued`, `superseded`, `dropped`, `expired`, `refused`, `claimed`, `delivered`, `backed_off`, `parked`, `taken_back`, `released`, `taken_over` |
/// | `uploads_commit_seconds` | timer | a commit of the queue |
/// | `uploads_commit_calls_total` | counter | the calls that shared these commits |
/// | `uploads_store_failures_total` | counter | what could not be written, and is tried again |
/// | `uploads_breaker_open` | gauge | 1 while a destination is left alone, by `destination` |
/// | `uploads_waiting`, `uploads_sending`, `uploads_parked` | gauge | uploads in the queue, whoever enqueued them |
/// | `uploads_payload_bytes` | gauge | bytes of their payloads |
///
/// The gauges of what a queue holds move while ``follow(_:factory:dimensions:)`` runs.
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

  /// A hook for `QueueOptions.trace`.
  ///
  /// - Parameters:
  ///   - factory: Makes the metrics; that of the `MetricsSystem`, which is to be bootstrapped before.
  ///   - dimensions: More dimensions, which all metrics have, such as which queue it is.
  /// - Complexity: what a counter costs for each event, on the thread that commits.
  public static func tracer(
    factory: any MetricsFactory = MetricsSystem.factory, dimensions: [(String, String)] = []
  ) -> @Sendable (QueueEvent) -> Void {
    let recorder = EventRecorder(factory, dimensions)
    return { recorder.record($0) }
  }

  /// Sets the gauges of what a queue holds, now and after each change of any process, until its task is cancelled.
  ///
  /// - Parameters:
  ///   - queue: The queue that they tell of.
  ///   - factory: Makes the metrics; that of the `MetricsSystem`, which is to be bootstrapped before.
  ///   - dimensions: Dimensions of the gauges, such as which queue it is.
  /// - Throws: `StoreError` where the queue cannot be read.
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
