public import CoreMetrics
public import Documents
import Synchronization
import TextFormat

/// Exports metrics of a document store to swift-metrics.
///
///     MetricsSystem.bootstrap(…)
///     var options = DocumentStore.Options()
///     options.trace = DocumentMetrics.tracer()
///
/// | name | kind | meaning |
/// |---|---|---|
/// | `documents_operation_seconds` | timer | duration of each operation, including failed ones |
/// | `documents_read_total` | counter | documents whose bytes were read |
/// | `documents_affected_total` | counter | documents that were written, deleted or found |
/// | `documents_scans_total` | counter | queries and counts without an index |
///
/// All metrics have the dimensions `collection` and `operation`, which is a `Trace.Operation`.
public enum DocumentMetrics {
  static let timer = "documents_operation_seconds"
  static let read = "documents_read_total"
  static let affected = "documents_affected_total"
  static let scans = "documents_scans_total"

  /// Creates a tracer for `DocumentStore.Options.trace`.
  ///
  /// - Parameters:
  ///   - factory: The factory of the metrics. The default requires that `MetricsSystem` is already bootstrapped.
  ///   - dimensions: Additional dimensions of all metrics, for example the store's name.
  /// - Complexity: For each operation, one dictionary lookup under a lock, plus the cost of the metrics.
  public static func tracer(
    factory: any MetricsFactory = MetricsSystem.factory, dimensions: [(String, String)] = []
  ) -> Tracer {
    let recorder = Recorder(factory, dimensions)
    return Tracer { recorder.record($0) }
  }
}

/// Caches the metrics of each operation on each collection, because creating them may be slow.
private final class Recorder: Sendable {
  private struct Key: Hashable {
    let collection: String
    let operation: Trace.Operation
  }

  private struct Metrics {
    let timer: Timer
    let read: Counter
    let affected: Counter
    let scans: Counter
  }

  private let factory: any MetricsFactory
  private let dimensions: [(String, String)]
  /// Guards the cached metrics. Held for a lookup, or while they are created.
  private let cached = Mutex<[Key: Metrics]>([:])

  init(_ factory: any MetricsFactory, _ dimensions: [(String, String)]) {
    self.factory = factory
    self.dimensions = dimensions
  }

  func record(_ trace: Trace) {
    let metrics = metrics(Key(collection: trace.collection, operation: trace.operation))
    metrics.timer.recordNanoseconds(trace.duration.nanoseconds)
    if trace.documentsRead > 0 { metrics.read.increment(by: trace.documentsRead) }
    if trace.documentsAffected > 0 { metrics.affected.increment(by: trace.documentsAffected) }
    if trace.plan == .scan { metrics.scans.increment() }
  }

  private func metrics(_ key: Key) -> Metrics {
    cached.withLock { cached in
      if let metrics = cached[key] { return metrics }
      let dimensions = dimensions + [("collection", key.collection), ("operation", key.operation.rawValue)]
      let metrics = Metrics(
        timer: Timer(label: DocumentMetrics.timer, dimensions: dimensions, factory: factory),
        read: Counter(label: DocumentMetrics.read, dimensions: dimensions, factory: factory),
        affected: Counter(label: DocumentMetrics.affected, dimensions: dimensions, factory: factory),
        scans: Counter(label: DocumentMetrics.scans, dimensions: dimensions, factory: factory))
      cached[key] = metrics
      return metrics
    }
  }
}
