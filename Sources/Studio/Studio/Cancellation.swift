import Synchronization

/// Tells work on another thread that nobody waits for it any more.
final class Cancellation: Sendable {
  // No other memory depends on it.
  private let flag = Atomic(false)

  var isCancelled: Bool { flag.load(ordering: .relaxed) }
  func cancel() { flag.store(true, ordering: .relaxed) }
}
