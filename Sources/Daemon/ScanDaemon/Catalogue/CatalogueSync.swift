public import CatalogSync
import Logging
import Platform
public import ServiceLifecycle
import Synchronization
import Workspace

/// A service that keeps the signed-in user's catalogue up to date.
///
/// Scans are answered from the old catalogue while a new one is downloaded and after a synchronisation fails. Commits
/// run on a dedicated thread.
public final class CatalogueSync: Service, Sendable {
  /// The minimum time between two replacements of a damaged catalogue. A device that damages each new file must not
  /// make the server send the full catalogue again and again.
  static let replacementPause: Duration = .seconds(600)
  /// How long after its user signed in a first synchronisation may take before a problem is reported.
  static let firstAttemptTimeout: Duration = .seconds(60)

  /// What the schedule and the last synchronisations have left.
  struct State {
    var isRunning = false
    /// The task that synchronises; `nil` while none runs.
    var worker: Task<Void, Never>?
    var waiting: [(full: Bool, continuation: CheckedContinuation<ImportReport, any Error>)] = []
    var isStopped = false
    var last = LastSync()
    /// Failures since the last success or the last return of the network. They determine the back-off.
    var failuresInARow = 0
    /// Whether the network came back during a synchronisation, which may still hang on the old connection.
    var cameBackMeanwhile = false
    /// The time of the next scheduled synchronisation, in microseconds of the clock that only goes forward.
    var next: Int64?
    /// Whether the catalogue cannot be read and must be replaced.
    var wantsReplacement = false
    /// The time of the last replacement, on the monotonic clock.
    var replaced: Duration?
    /// The time since which checks have found no attempt for a signed-in user, on the same clock.
    var waitingSince: Int64?
  }

  let state = Mutex(State())
  let options: SyncOptions?
  /// How stores are synchronised; `nil` if nothing is configured to synchronise them with.
  let step: Step?
  /// The publication that the catalogue follows, if it does.
  let published: PublishedCatalogue?
  /// Answers scans from that publication before there are rows.
  let firstAnswers: FirstAnswers?
  let context: DaemonContext
  let wakes = WakeSignal()
  private let thread = BlockingThread("daemon.sync")
  /// Called after each successful synchronisation.
  let onSuccess = Mutex<(@Sendable () -> Void)?>(nil)
  /// Called after each attempt.
  private let onAttempt = Mutex<(@Sendable (UserStores) async -> Void)?>(nil)
  /// A lock held while the catalogue is written, so that a synchronisation and a compaction do not overlap.
  let turn = AsyncLock()

  /// - Throws: `TransportError` for an invalid address or header.
  init(_ context: DaemonContext, options: SyncOptions?) throws {
    self.context = context
    self.options = options
    let published = try options.flatMap { options in
      try options.publication.map { try PublishedCatalogue($0, options, context) }
    }
    self.published = published
    firstAnswers = published.map { FirstAnswers($0, context) }
    if let published {
      step = { stores, extent in try await published.run(stores, extent) }
    } else {
      step = try options.map { try Self.step($0, context.environment) }
    }
  }

  /// Sets the closure that is called after each successful synchronisation.
  func afterSuccess(_ body: @escaping @Sendable () -> Void) { onSuccess.withLock { $0 = body } }

  /// Sets the closure that is called after each synchronisation, whether it succeeded or not.
  func afterAttempt(_ body: @escaping @Sendable (UserStores) async -> Void) { onAttempt.withLock { $0 = body } }

  // MARK: The schedule

  /// Synchronises until graceful shutdown: once at the start, then on a schedule, and earlier after a failure.
  public func run() async throws {
    await withTaskCancellationOrGracefulShutdownHandler {
      if let stores = try? context.access.workspace.stores(), let pause = published?.firstPause(stores) {
        await wait(pause)
      }
      while !wakes.isFinished {
        await wait(nextPause())
      }
    } onCancelOrGracefulShutdown: { [self] in
      stop()
    }
  }

  private func wait(_ pause: Duration?) async {
    state.withLock { state in
      state.next = pause.map { context.time.uptime() + $0.nanoseconds / 1000 }
    }
    await wakes.wait(pause, context.time.sleep)
  }

  /// Synchronises, and returns the pause until the next time; `nil` to wait indefinitely.
  private func nextPause() async -> Duration? {
    guard let options, step != nil else { return nil }
    do {
      published?.willPoll()
      _ = try await syncNow()
      if let published { return published.pause(try? context.access.stores()) }
      return jittered(options.interval, options)
    } catch is SyncUnavailable {
      return nil
    } catch {
      let failures = state.withLock { $0.failuresInARow }
      if let published { return published.pause(after: error, failures, try? context.access.stores()) }
      let backoff = Backoff(first: options.firstRetry, longest: options.interval)
      return jittered(backoff.pause(afterFailure: failures), options)
    }
  }

  private func jittered(_ pause: Duration, _ options: SyncOptions) -> Duration {
    let share = min(max(0, options.jitter), 1)
    return max(.milliseconds(1), pause * (1 + share * (2 * context.time.fraction() - 1)))
  }

  /// Handles a change of the signed-in user.
  func userChanged() {
    state.withLock { state in
      state.wantsReplacement = false
      state.waitingSince = nil
    }
    wakes.wake()
  }

  /// Handles the likely return of the network. If the last synchronisation failed or the next one is overdue,
  /// synchronises now. If one is running, the next one starts as soon as that one fails. If it fails too, the back-off
  /// starts from the beginning.
  func reconnected() {
    let isWanted = state.withLock { state in
      state.failuresInARow = 0
      if state.isRunning {
        state.cameBackMeanwhile = true
        return false
      }
      return state.last.error != nil || state.next.map { $0 <= context.time.uptime() } ?? false
    }
    if isWanted { wakes.wake() }
  }

  /// Replaces the damaged catalogue of the signed-in user: starts a synchronisation that fetches the full catalogue and
  /// sets the damaged file aside. Replacements are at least ``replacementPause`` apart.
  func replaceCatalogue() {
    guard step != nil else { return }
    let (isWanted, uptime) = (state.withLock { !$0.wantsReplacement }, context.uptime())
    guard isWanted else { return }
    let begins = state.withLock { state in
      if let last = state.replaced, uptime - last < Self.replacementPause { return false }
      state.wantsReplacement = true
      return true
    }
    if begins {
      context.logger.notice("the catalogue is damaged: everything is fetched anew")
      wakes.wake()
    }
  }

  private func stop() {
    wakes.finish()
    let worker = state.withLock { state in
      state.isStopped = true
      return state.worker
    }
    worker?.cancel()
  }

  // MARK: One synchronisation

  /// Synchronises now. Callers that arrive while a synchronisation runs share the next one.
  ///
  /// - Parameter full: Whether to fetch the full catalogue and replace the existing one. If any of the callers that
  ///   share a synchronisation passes `true`, it applies to all of them.
  /// - Returns: The changes.
  /// - Throws: ``SyncUnavailable`` if no server is configured or no user is signed in; any error of the
  ///   synchronisation, which leaves the catalogue unchanged.
  public func syncNow(full: Bool = false) async throws -> ImportReport {
    try await withCheckedThrowingContinuation { continuation in
      state.withLock { state in
        state.waiting.append((full, continuation))
        if state.worker == nil { state.worker = Task(executorPreference: thread) { await self.work() } }
      }
    }
  }

  /// Synchronises until no caller is waiting.
  private func work() async {
    while true {
      let callers = state.withLock { state in
        defer { state.waiting = [] }
        state.isRunning = !state.waiting.isEmpty
        state.cameBackMeanwhile = false
        if state.waiting.isEmpty { state.worker = nil }
        return state.waiting
      }
      if callers.isEmpty { return }
      let result: Result<ImportReport, any Error>
      do { result = .success(try await once(full: callers.contains { $0.full })) } catch { result = .failure(error) }
      for caller in callers { caller.continuation.resume(with: result) }
    }
  }

  private func once(full: Bool) async throws -> ImportReport {
    guard let step else { throw SyncUnavailable.noServer }
    if state.withLock({ $0.isStopped }) { throw CancellationError() }
    let stores: UserStores
    do { stores = try context.access.workspace.stores() } catch WorkspaceError.notSignedIn {
      throw SyncUnavailable.notSignedIn
    }
    let (start, time) = (context.uptime(), context.time.now())
    do {
      let replaces = state.withLock { $0.wantsReplacement }
      let done = try await turn.take { try await step(stores, replaces ? .replacement : full ? .full : .increment) }
      if replaces { self.replaced(done) }
      succeeded(stores, done, start)
      await onAttempt.withLock { $0 }?(stores)
      return done.report
    } catch {
      let error = Self.namingSettings(error)
      failed(stores, error, time, start)
      await onAttempt.withLock { $0 }?(stores)
      throw error
    }
  }
}
