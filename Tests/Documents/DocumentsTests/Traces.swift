import Documents
import Synchronization

/// Collects what a store tells its tracer.
final class Traces: Sendable {
  private let told = Mutex<[Trace]>([])

  func add(_ trace: Trace) { told.withLock { $0.append(trace) } }

  var all: [Trace] { told.withLock { $0 } }

  var last: Trace? { told.withLock { $0.last } }
}
