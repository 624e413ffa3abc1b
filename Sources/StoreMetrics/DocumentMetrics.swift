public import CoreMetrics
public import Documents
import Synchronization
import TextFormat

/// Tells swift-metrics what a store of documents does.
///
///     MetricsSystem.bootstrap(…)
///     var options = DocumentStore.Options()
///     options.trace = DocumentMetrics.tracer()
///
/// | name | kind | counts |
/// |---|---|---|
/// | `documents_operation_seconds` | timer | what each operation took; one that throws as well |
/// | `documents_read_total` | counter | documents whose bytes were read |
/// | `documents_affected_total` | counter | documents that were written, deleted or found |
/// | `documents_scans_total` | counter | queries and counts that no index helped |
///
/// All have the dimensions `collection` and `operation`, which is a `Trace.Operation`.
public enum DocumentMetrics {
  static let timer = "documents_operation_seconds"
  static let read = "documents_read_total"
  static let affected = "documents_affected_total"
  static let scans = "documents_scans_total"

  /// A hook for `DocumentStore.Options.trace`.
  ///
  /// - Parameters:
  ///   - factory: Makes the metrics; that of the `MetricsSystem`, which is to be bootstrapped before.
  ///   - dimensions: More dimensions, which all metrics have, such as which store it is.
  /// - Complexity: For each operation a lookup among those that were seen, under a lock, and what the metrics cost.
  public static func tracer(
    factory: any MetricsFactory = MetricsSystem.factory, dimensions: [(String, String)] = []
  ) -> @Sendable (Trace) -> Void {
    let recorder = Recorder(factory, dimensions)
    return { recorder.record($0) }
  }
}

/// Keeps the metrics of each operation on each collection: making them may be slow.
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
  /// Guards the metrics that there are; held for a lookup, or for making them.
  private let known = Mutex<[Key: Metrics]>([:])

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
    known.withLock { known in
      if let metrics = known[key] { return metrics }
      let dimensions = dimensions + [("collection", key.collection), ("operation", key.operation.rawValue)]
      let metrics = Metrics(
        timer: Timer(label: DocumentMetrics.timer, dimensions: dimensions, factory: factory),
        read: Counter(label: DocumentMetrics.read, dimensions: dimensions, factory: factory),
        affected: Counter(label: DocumentMetrics.affected, dimensions: dimensions, factory: factory),
        scans: Counter(label: DocumentMetrics.scans, dimensions: dimensions, factory: factory))
      known[key] = metrics
      return metrics
    }
  }
}
