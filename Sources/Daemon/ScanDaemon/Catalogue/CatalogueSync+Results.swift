import Catalog
import CatalogSync
import Essentials
public import JSONFormat
import Logging
import Workspace

extension CatalogueSync {
  /// The problem that a failed synchronisation is.
  private var failing: ProblemCode { options?.source == nil ? .syncFailing : .sourceFailing }

  /// Reports that the damaged catalogue was replaced.
  func replaced(_ done: Synchronization) {
    state.withLock { state in
      state.wantsReplacement = false
      state.replaced = context.uptime()
    }
    context.logger.notice(
      "the damaged catalogue was replaced",
      metadata: [
        "setAside": "\(done.damagedPath ?? "no file: it could be opened, and is kept as the previous generation")",
        "sequence": "\(done.report.update.sequence)",
      ])
  }

  /// Keeps the time of a success, and reports what has changed.
  func succeeded(_ stores: UserStores, _ done: Synchronization, _ start: Duration) {
    let now = context.time.now()
    let seconds = Double(now) / 1e6
    context.access.succeeded(stores, at: seconds)
    if done.isUnchanged {
      state.withLock { state in
        state.last = LastSync(stores: stores, attempt: Date(microseconds: now))
        state.failuresInARow = 0
      }
      context.problems.clear(failing)
      // The age of the catalogue outlives a restart, and a file is checked every few seconds.
      if context.access.isWritten(at: seconds) { return }
    }
    // If this fails, the age after a restart is computed from the last commit, which causes a warning at most.
    do {
      try stores.settings.set(.lastSynchronization, to: seconds)
      context.access.wrote(at: seconds)
    } catch {
      context.logger.info("the time of a synchronisation could not be kept", metadata: ["reason": "\(error)"])
    }
    if done.isUnchanged { return }
    if let failure = done.noteFailure {
      context.logger.warning("nobody else can begin with this catalogue", metadata: ["reason": "\(failure)"])
    }
    state.withLock { state in
      state.last = LastSync(stores: stores, attempt: Date(microseconds: now))
      state.failuresInARow = 0
    }
    let took = context.uptime() - start
    context.metrics.count("shelfmark_syncs_total", [("outcome", "done")])
    context.metrics.sync.recordNanoseconds(took.nanoseconds)
    context.problems.clear(failing)
    let update = done.report.update
    warn(update.notices)
    for notice in done.notices {
      context.logger.warning("rows of the source need attention", metadata: ["reason": "\(notice)"])
    }
    context.logger.info(
      "synchronised",
      metadata: [
        "user": "\(stores.user ?? "")", "mode": "\(update.mode.name)", "sequence": "\(update.sequence)",
        "productsUpserted": "\(update.counts.productsUpserted)",
        "productsDeleted": "\(update.counts.productsDeleted)", "seconds": "\(took.seconds)",
      ])
    let data = LastSync.event(user: stores.user, update, took, setAside: done.damagedPath)
    context.events.publish(.sync, data.bytes)
    onSuccess.withLock { $0 }?()
  }

  /// Logs the values that were changed on import, and the references that the update broke.
  private func warn(_ notices: UpdateNotices) {
    if notices.collapsed > 0 {
      context.logger.warning(
        "products have the id of another product of the answer, or none", metadata: ["count": "\(notices.collapsed)"])
    }
    if notices.skipped.count > 0 {
      context.logger.warning(
        "rows exceed a limit of the format and were skipped",
        metadata: ["count": "\(notices.skipped.count)", "rows": .array(notices.skipped.first.map { "\($0)" })])
    }
    if !notices.brokenSets.isEmpty {
      context.logger.warning(
        "sets lack a component that was deleted",
        metadata: [
          "count": "\(notices.brokenSets.count)", "sets": .array(notices.brokenSets.prefix(20).map { "\($0.id)" }),
        ])
    }
  }

  /// Reports a failure, if it is still of interest.
  func failed(_ stores: UserStores, _ error: any Error, _ time: Int64, _ start: Duration) {
    // The daemon is shutting down; the cancellation is not the server's failure.
    if error is CancellationError || state.withLock({ $0.isStopped }) { return }
    let words = String("\(error)".prefix(500))
    // A user who has signed out no longer needs it, and the next user's synchronisation starts at once.
    guard (try? context.access.stores()) === stores else {
      context.events.publish(.sync, LastSync.event(user: stores.user, failure: words).bytes)
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
    context.metrics.count("shelfmark_syncs_total", [("outcome", "failed")])
    context.metrics.sync.recordNanoseconds((context.uptime() - start).nanoseconds)
    if error.isAboutKeys {
      context.problems.clear(failing)
      context.report(failing, error, of: stores.user)
    } else {
      context.problems.report(PublishedCatalogue.problem(error) ?? failing, words)
    }
    if PublishedCatalogue.problem(error) != nil { context.problems.clear(failing) }
    context.events.publish(.sync, LastSync.event(user: stores.user, failure: words).bytes)
  }

  // MARK: State

  /// Reports problems of the schedule: no user to synchronise for, or no attempt that has ended.
  func reportProblems() {
    guard step != nil, let stores = try? context.access.stores() else { return }
    guard let user = stores.user else {
      context.problems.set(.syncNoUser, "nobody is signed in, so the catalogue is not synchronised")
      context.problems.set(.syncNeverRan, nil as String?)
      context.problems.clear(failing)
      published?.clearProblems()
      return
    }
    published?.reportProblems(stores)
    context.problems.set(.syncNoUser, nil as String?)
    let now = context.time.uptime()
    let (isFailing, waitingSince) = state.withLock { state -> (Bool, Int64?) in
      let isOwn = state.last.stores === stores
      // A device that follows a publication waits for its moment.
      let isWaiting = published != nil && state.next.map { $0 > now } ?? false
      if isOwn || isWaiting { state.waitingSince = nil } else if state.waitingSince == nil { state.waitingSince = now }
      return (isOwn && state.last.error != nil, state.waitingSince)
    }
    if !isFailing { context.problems.clear(failing) }
    let isLate = waitingSince.map { now - $0 >= Self.firstAttemptTimeout.nanoseconds / 1000 } ?? false
    context.problems.set(
      .syncNeverRan, isLate ? "no synchronisation for \(user) has ended since the daemon knows the user" : nil)
  }

  /// The state as JSON: the time and result of the last attempt, the time of the next one, and since when the catalogue
  /// is stale.
  public var json: JSONText {
    let (last, next, isRunning) = state.withLock { ($0.last, $0.next, $0.isRunning) }
    let now = (wall: context.time.now(), steady: context.time.uptime())
    let stores = try? context.access.stores()
    let own = last.stores === stores ? last : LastSync()
    let success = stores.flatMap { context.access.lastSuccess(of: $0) }.map(Date.init(timeIntervalSince1970:))
    let current = stores.flatMap { stores in
      (try? context.access.catalogue(of: stores)).flatMap { context.access.age($0, of: stores).currentAt }
    }
    return .object([
      ("configured", .bool(step != nil)), ("source", .optional(options?.source?.name)), ("running", .bool(isRunning)),
      ("lastSuccess", .optional(success?.precise)), ("lastAttempt", .optional(own.attempt?.precise)),
      ("lastError", .optional(own.error)), ("failures", .int(own.failures)),
      ("next", .optional(next.map { Date(microseconds: now.wall + ($0 - now.steady)).precise })),
      ("oldSince", .optional(own.error == nil ? nil : current?.precise)),
      ("publication", published?.json(stores, firstAnswers: firstAnswers?.count ?? 0) ?? .null),
    ])
  }
}
