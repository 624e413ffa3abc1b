import Platform
import ServiceLifecycle

/// Reopens a source with back-off, and reports its state.
struct Reopening {
  private let inputContext: InputContext
  private let environment: InputEnvironment
  private let backoff: Backoff
  /// The number of failures since the source was open.
  private var failures = 0
  /// The last reported reason while the source is closed. Each reason is reported once.
  private var lastReason: String?

  /// Creates a back-off.
  ///
  /// - Parameters:
  ///   - first: The delay after the source disappeared or could not be opened.
  ///   - longest: The cap of the delay, which doubles with each attempt.
  init(inputContext: InputContext, environment: InputEnvironment, first: Duration, longest: Duration) {
    self.inputContext = inputContext
    self.environment = environment
    // Never spin, whatever the configuration.
    let least = max(first, .milliseconds(10))
    backoff = Backoff(first: least, longest: max(least, longest))
  }

  mutating func opened(_ what: String) {
    lastReason = nil
    failures = 0
    inputContext.report(.opened(what))
  }

  /// Reports that the source is closed, and waits. Returns early at graceful shutdown.
  ///
  /// - Throws: `CancellationError`.
  mutating func closed(_ reason: String) async throws {
    if reason != lastReason { inputContext.report(.closed(reason: reason, reopens: true)) }
    lastReason = reason
    failures += 1
    let wait = backoff.pause(afterFailure: failures)
    let sleep = environment.sleep
    try? await cancelWhenGracefulShutdown { try await sleep(wait) }
    try Task.checkCancellation()
  }
}
