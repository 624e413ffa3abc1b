import ServiceLifecycle

/// Opens a source again and again, and tells how it is.
struct Reopening {
  private let inputContext: InputContext
  private let environment: InputEnvironment
  private let first: Duration
  private let longest: Duration
  private var next: Duration
  /// What was told last, if the source is closed: it is told once.
  private var lastReason: String?

  /// - Parameters:
  ///   - first: How long to wait after the source went away or could not be opened.
  ///   - longest: The wait doubles up to this.
  init(inputContext: InputContext, environment: InputEnvironment, first: Duration, longest: Duration) {
    self.inputContext = inputContext
    self.environment = environment
    // However it is configured, it does not spin.
    self.first = max(first, .milliseconds(10))
    self.longest = max(first, longest, .milliseconds(10))
    next = self.first
  }

  mutating func opened(_ what: String) {
    lastReason = nil
    next = first
    inputContext.note(.opened(what))
  }

  /// Tells why the source is not open, and waits. Returns early at graceful shutdown.
  ///
  /// - Throws: `CancellationError`.
  mutating func closed(_ reason: String) async throws {
    if reason != lastReason { inputContext.note(.closed(reason: reason, reopens: true)) }
    lastReason = reason
    let wait = next
    next = min(next + next, longest)
    let sleep = environment.sleep
    try? await cancelWhenGracefulShutdown { try await sleep(wait) }
    try Task.checkCancellation()
  }
}
