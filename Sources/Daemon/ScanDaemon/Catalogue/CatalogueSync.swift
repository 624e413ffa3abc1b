import Catalog
import CatalogHTTP
import CatalogSources
public import CatalogSync
import Essentials
public import JSONFormat
import LogStore
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
  /// What a synchronisation requests.
  enum Extent: Sendable {
    /// Only the changes since the last synchronisation.
    case increment
    /// The full catalogue.
    case full
    /// The full catalogue. An existing catalogue that cannot be opened is set aside.
    case replacement
  }

  /// A function that synchronises the given stores.
  typealias Step = @Sendable (_ stores: UserStores, _ extent: Extent) async throws -> Synchronization

  /// The minimum time between two replacements of a damaged catalogue. A device that damages each new file must not
  /// make the server send the full catalogue again and again.
  static let replacementPause: Duration = .seconds(600)
  /// How long after its user signed in a first synchronisation may take before a problem is reported.
  static let firstAttemptPatience: Duration = .seconds(60)

  private struct State {
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
    /// The time of the next scheduled synchronisation, in microseconds since 1970.
    var next: Int64?
    /// Whether the catalogue cannot be read and must be replaced.
    var wantsReplacement = false
    /// The time of the last replacement, on the monotonic clock.
    var replaced: Duration?
    /// The time since which checks have found no attempt for a signed-in user.
    var waitingSince: Int64?
  }

  private let state = Mutex(State())
  private let options: SyncOptions?
  /// The problem that a failed synchronisation is.
  private let failing: ProblemCode
  private let step: Step?
  private let access: CatalogueAccess
  private let events: EventLog
  private let problems: Problems
  private let metrics: DaemonMetrics
  private let environment: DaemonEnvironment
  private let logger: Logger
  private let wakes = WakeSignal()
  private let thread = BlockingThread("daemon.sync")
  /// Called after each successful synchronisation.
  private let onSuccess = Mutex<(@Sendable () -> Void)?>(nil)
  /// A lock held while the catalogue is written, so that a synchronisation and a compaction do not overlap.
  let turn = AsyncLock()

  /// - Throws: `TransportError` for an invalid address or header.
  init(
    _ options: DaemonOptions, _ access: CatalogueAccess, _ events: EventLog, _ problems: Problems,
    _ metrics: DaemonMetrics, _ environment: DaemonEnvironment, _ logger: Logger
  ) throws {
    self.options = options.sync
    self.access = access
    self.events = events
    self.problems = problems
    self.metrics = metrics
    self.environment = environment
    self.logger = logger
    failing = options.sync?.source == nil ? .syncFailing : .sourceFailing
    step = try options.sync.map { options in
      if let source = options.source { return Self.rows(of: source, options, environment.time.sleep) }
      return try environment.synchronize ?? Self.http(options)
    }
  }

  private static func http(_ options: SyncOptions) throws -> Step {
    var transport = options.transport
    // The schedule retries and reports; the transport only retries failures that pass within moments.
    transport.retry.maximumAttempts = min(2, transport.retry.maximumAttempts)
    let http = try HTTPTransport(url: options.url, options: transport)
    let origin = options.organisation.map { CatalogueOrigin(source: options.url, organisation: $0) }
    return { stores, extent in
      var synchronizer = Synchronizer(http)
      synchronizer.options.threshold = options.threshold
      synchronizer.options.lossLimit = options.lossLimit
      if options.lossLimit.share >= 1 { synchronizer.options.rowLimits = .acceptingCollapse }
      // ``CompactionService`` normally compacts while the daemon is idle; this policy bounds the file if it is never
      // idle.
      synchronizer.compaction = CompactionPolicy(share: 3, floor: 64 << 20)
      do {
        return try await stores.synchronize(
          synchronizer, from: origin, source: http.url, full: extent != .increment,
          replacesDamaged: extent == .replacement)
      } catch let error as TransportError {
        throw SyncFailure(description: error.description(naming: options.transport.names))
      }
    }
  }

  /// A step that imports what changed in a file, a folder or a database.
  private static func rows(
    of source: CatalogueSource, _ options: SyncOptions, _ sleep: @escaping @Sendable (Duration) async throws -> Void
  ) -> Step {
    let importers = SourceImporters(source, options.lossLimit)
    return { stores, extent in
      // A catalogue that cannot be read is compared with nothing.
      let last = try? stores.catalogue()
      let destination = SourceDestination(location: try stores.catalogueLocation(), last: last) {
        try stores.importWriter(replacesDamaged: extent == .replacement)
      } willCommit: {
        try stores.forgetOrigin()
      }
      let done = try await importers.importer(for: stores).run(
        extent == .increment ? .difference : .everything, into: destination, sleep: sleep)
      return Synchronization(done.report, damagedPath: done.damagedPath, isUnchanged: done.isUnchanged)
    }
  }

  // MARK: The schedule

  /// Synchronises until graceful shutdown: once at the start, then on a schedule, and earlier after a failure.
  public func run() async throws {
    await withTaskCancellationOrGracefulShutdownHandler {
      while !wakes.isFinished {
        let pause = await nextPause()
        state.withLock { state in
          state.next = pause.map { environment.time.now() + $0.nanoseconds / 1000 }
        }
        await wakes.wait(pause, environment.time.sleep)
      }
    } onCancelOrGracefulShutdown: { [self] in
      stop()
    }
  }

  /// Synchronises, and returns the pause until the next time; `nil` to wait indefinitely.
  private func nextPause() async -> Duration? {
    guard let options, step != nil else { return nil }
    do {
      _ = try await syncNow()
      return jittered(options.interval, options)
    } catch is SyncUnavailable {
      return nil
    } catch {
      let failures = state.withLock { $0.failuresInARow }
      let backoff = Backoff(first: options.firstRetry, longest: options.interval)
      return jittered(backoff.pause(afterFailure: failures), options)
    }
  }

  private func jittered(_ pause: Duration, _ options: SyncOptions) -> Duration {
    let share = min(max(0, options.jitter), 1)
    return max(.milliseconds(1), pause * (1 + share * (2 * environment.time.fraction() - 1)))
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
      return state.last.error != nil || state.next.map { $0 <= environment.time.now() } ?? false
    }
    if isWanted { wakes.wake() }
  }

  /// Replaces the damaged catalogue of the signed-in user: starts a synchronisation that fetches the full catalogue and
  /// sets the damaged file aside. Replacements are at least ``replacementPause`` apart.
  func replaceCatalogue() {
    guard step != nil else { return }
    let (isWanted, uptime) = (state.withLock { !$0.wantsReplacement }, environment.uptime())
    guard isWanted else { return }
    let begins = state.withLock { state in
      if let last = state.replaced, uptime - last < Self.replacementPause { return false }
      state.wantsReplacement = true
      return true
    }
    if begins {
      logger.notice("the catalogue is damaged: everything is fetched anew")
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
    do { stores = try access.workspace.stores() } catch WorkspaceError.notSignedIn {
      throw SyncUnavailable.notSignedIn
    }
    let (start, time) = (environment.uptime(), environment.time.now())
    do {
      let replaces = state.withLock { $0.wantsReplacement }
      let done = try await turn.take { try await step(stores, replaces ? .replacement : full ? .full : .increment) }
      if replaces { self.replaced(done) }
      succeeded(stores, done, start)
      return done.report
    } catch {
      let error = Self.inWordsOfTheDaemon(error)
      failed(stores, error, time, start)
      throw error
    }
  }

  /// Returns the same error, except that an error whose remedy is an option of `catalogctl` names the daemon's setting
  /// instead.
  private static func inWordsOfTheDaemon(_ error: any Error) -> any Error {
    // Faults of a file of one's own name the option of an import that takes it.
    if let error = error as? SourceRefused, error.description.contains(" --") {
      return SourceRefused(
        error.description + " (an option of 'catalogctl import' is a key of the mapping in sync.mapFile, such as"
          + " \"onDuplicate\": \"last\")")
    }
    guard let error = error as? CatalogError else { return error }
    return switch error {
    case .wouldLose:
      SyncFailure(description: error.description(acceptingLoss: "a larger share in sync.maximumLoss, and a reload"))
    case .wouldCollapse:
      SyncFailure(description: error.description(acceptingLoss: "sync.maximumLoss of 1, and a reload"))
    default: error
    }
  }

  private func replaced(_ done: Synchronization) {
    state.withLock { state in
      state.wantsReplacement = false
      state.replaced = environment.uptime()
    }
    logger.notice(
      "the damaged catalogue was replaced",
      metadata: [
        "setAside": "\(done.damagedPath ?? "no file: it could be opened, and is kept as the previous generation")",
        "sequence": "\(done.report.update.sequence)",
      ])
  }

  private func succeeded(_ stores: UserStores, _ done: Synchronization, _ start: Duration) {
    let now = environment.time.now()
    let seconds = Double(now) / 1e6
    access.succeeded(stores, at: seconds)
    if done.isUnchanged {
      state.withLock { state in
        state.last = LastSync(stores: stores, attempt: Date(microseconds: now))
        state.failuresInARow = 0
      }
      problems.clear(failing)
      // The age of the catalogue outlives a restart, and a file is looked at every few seconds.
      if access.isNoted(at: seconds) { return }
    }
    // If this fails, the age after a restart is computed from the last commit, which causes a warning at most.
    do {
      try stores.settings.set(.lastSynchronization, to: seconds)
      access.noted(at: seconds)
    } catch {
      logger.info("the time of a synchronisation could not be kept", metadata: ["reason": "\(error)"])
    }
    if done.isUnchanged { return }
    if let failure = done.noteFailure {
      logger.warning("nobody else can begin with this catalogue", metadata: ["reason": "\(failure)"])
    }
    state.withLock { state in
      state.last = LastSync(stores: stores, attempt: Date(microseconds: now))
      state.failuresInARow = 0
    }
    let took = environment.uptime() - start
    metrics.count("shelfmark_syncs_total", [("outcome", "done")])
    metrics.sync.recordNanoseconds(took.nanoseconds)
    problems.clear(failing)
    let update = done.report.update
    warn(update.notices)
    logger.info(
      "synchronised",
      metadata: [
        "user": "\(stores.user ?? "")", "mode": "\(update.mode.name)", "sequence": "\(update.sequence)",
        "productsUpserted": "\(update.counts.productsUpserted)",
        "productsDeleted": "\(update.counts.productsDeleted)", "seconds": "\(took.seconds)",
      ])
    let data = LastSync.event(user: stores.user, update, took, setAside: done.damagedPath)
    events.publish(.sync, data.bytes)
    onSuccess.withLock { $0 }?()
  }

  /// Logs the values that were changed on import, and the references that the update broke.
  private func warn(_ notices: UpdateNotices) {
    if notices.collapsed > 0 {
      logger.warning(
        "products have the id of another product of the answer, or none", metadata: ["count": "\(notices.collapsed)"])
    }
    if notices.skipped.count > 0 {
      logger.warning(
        "rows exceed a limit of the format and were skipped",
        metadata: ["count": "\(notices.skipped.count)", "rows": .array(notices.skipped.first.map { "\($0)" })])
    }
    if !notices.brokenSets.isEmpty {
      logger.warning(
        "sets lack a component that was deleted",
        metadata: [
          "count": "\(notices.brokenSets.count)", "sets": .array(notices.brokenSets.prefix(20).map { "\($0.id)" }),
        ])
    }
  }

  private func failed(_ stores: UserStores, _ error: any Error, _ time: Int64, _ start: Duration) {
    // The daemon is shutting down; the cancellation is not the server's failure.
    if error is CancellationError || state.withLock({ $0.isStopped }) { return }
    let words = String("\(error)".prefix(500))
    // A user who has signed out no longer needs it, and the next user's synchronisation starts at once.
    guard (try? access.stores()) === stores else {
      events.publish(.sync, LastSync.event(user: stores.user, failure: words).bytes)
      return
    }
    let isForNothing = state.withLock { state in
      let isSame = state.last.stores === stores
      let failures = isSame ? state.last.failures + 1 : 1
      state.last = LastSync(stores: stores, attempt: Date(microseconds: time), error: words, failures: failures)
      state.failuresInARow = isSame ? state.failuresInARow + 1 : 1
      return state.cameBackMeanwhile
    }
    if isForNothing { wakes.wake() }
    metrics.count("shelfmark_syncs_total", [("outcome", "failed")])
    metrics.sync.recordNanoseconds((environment.uptime() - start).nanoseconds)
    problems.note(failing, words)
    events.publish(.sync, LastSync.event(user: stores.user, failure: words).bytes)
  }

  /// Sets the closure that is called after each successful synchronisation.
  func afterSuccess(_ body: @escaping @Sendable () -> Void) { onSuccess.withLock { $0 = body } }

  // MARK: State

  /// Reports problems of the schedule: no user to synchronise for, or no attempt that has ended.
  func lookForProblems() {
    guard step != nil, let stores = try? access.stores() else { return }
    guard let user = stores.user else {
      problems.set(.syncNoUser, "nobody is signed in, so the catalogue is not synchronised")
      problems.set(.syncNeverRan, nil as String?)
      problems.clear(failing)
      return
    }
    problems.set(.syncNoUser, nil as String?)
    let now = environment.time.now()
    let (isFailing, waitingSince) = state.withLock { state -> (Bool, Int64?) in
      let isOwn = state.last.stores === stores
      if isOwn { state.waitingSince = nil } else if state.waitingSince == nil { state.waitingSince = now }
      return (isOwn && state.last.error != nil, state.waitingSince)
    }
    if !isFailing { problems.clear(failing) }
    let isLate = waitingSince.map { now - $0 >= Self.firstAttemptPatience.nanoseconds / 1000 } ?? false
    problems.set(
      .syncNeverRan, isLate ? "no synchronisation for \(user) has ended since the daemon knows the user" : nil)
  }

  /// The state as JSON: the time and result of the last attempt, the time of the next one, and since when the catalogue
  /// is stale.
  public var json: JSONText {
    let (last, next, isRunning) = state.withLock { ($0.last, $0.next, $0.isRunning) }
    let stores = try? access.stores()
    let own = last.stores === stores ? last : LastSync()
    let success = stores.flatMap { access.lastSuccess(of: $0) }.map(Date.init(timeIntervalSince1970:))
    let current = stores.flatMap { stores in
      (try? access.catalogue(of: stores)).flatMap { access.age($0, of: stores).currentAt }
    }
    return .object([
      ("configured", .bool(step != nil)), ("source", .optional(options?.source?.name)), ("running", .bool(isRunning)),
      ("lastSuccess", .optional(success?.precise)), ("lastAttempt", .optional(own.attempt?.precise)),
      ("lastError", .optional(own.error)), ("failures", .int(own.failures)),
      ("next", .optional(next.map { Date(microseconds: $0).precise })),
      ("oldSince", .optional(own.error == nil ? nil : current?.precise)),
    ])
  }
}

/// The importer of the stores that are synchronised, which remembers what it has imported into them.
private final class SourceImporters: Sendable {
  private struct State {
    weak var stores: UserStores?
    var importer: SourceImport
  }

  private let source: CatalogueSource
  private let lossLimit: LossLimit
  private let state: Mutex<State>

  init(_ source: CatalogueSource, _ lossLimit: LossLimit) {
    self.source = source
    self.lossLimit = lossLimit
    state = Mutex(State(importer: SourceImport(source, lossLimit)))
  }

  func importer(for stores: UserStores) -> SourceImport {
    state.withLock { state in
      if state.stores !== stores { state = State(stores: stores, importer: SourceImport(source, lossLimit)) }
      return state.importer
    }
  }
}
