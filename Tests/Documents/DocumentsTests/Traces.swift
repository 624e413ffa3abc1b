import Documents
import Synchronization

/// Collects what a store tells its tracer.
final class Traces: Sendable {
  private let traces = Mutex<[Trace]>([])

  func add(_ trace: Trace) { traces.withLock { $0.append(trace) } }

  var all: [Trace] { traces.withLock { $0 } }

  var last: Trace? { traces.withLock { $0.last } }
}
