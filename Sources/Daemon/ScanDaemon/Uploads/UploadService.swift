import Documents
import Essentials
import Logging
import Platform
import ServiceLifecycle
import Synchronization
import UploadQueue
import Workspace

/// A service that sends the pending uploads of all users: the signed-in one and earlier ones.
///
/// The signed-in user has a worker for as long as the user is signed in. The others take turns: ``QueueSurvey`` finds
/// those with uploads, and ``UploadTurns`` says whose turn it is. What an upload costs does not grow with the users.
///
/// Without webhooks it sends nothing: pending uploads then belong to another program.
final class UploadService: Service {
  /// The default maximum number of users, besides the one who is signed in, whose uploads are sent at the same time;
  /// others wait for their turn.
  static let maximumWorkers = 16
  /// The interval between surveys of the uploads of users who are not signed in.
  static let pollInterval: Duration = .seconds(30)
  /// How long a worker must run until the failure of its predecessor is considered over.
  static let steadyTime: Duration = .seconds(5)
  static let backoff = Backoff(first: .seconds(1), longest: .seconds(60))

  private struct State {
    var turns = UploadTurns()
    /// The running workers, by user.
    var workers: [UserDocumentsTable.Key: (worker: UploadWorker, documents: UserDocuments, isLasting: Bool)] = [:]
    /// How often the worker of a user failed in a row.
    var failures: [UserDocumentsTable.Key: Int] = [:]
    /// Whether workers may have to end, because another user is signed in.
    var checksWorkers = false
    /// Webhooks that have given no response to an attempt since the last delivered upload.
    var unreachable: Set<String> = []
  }

  private let webhooks: Webhooks
  private let watch: QueueWatch
  private let survey: QueueSurvey
  private let maximumWorkers: Int
  private let drainTimeout: Duration
  private let context: DaemonContext
  private let onReconnect: @Sendable () -> Void
  private let state = Mutex(State())
  private let wakes = WakeSignal()
  /// Wakes the survey, which waits otherwise.
  private let surveyWakes = WakeSignal()
  private let thread = BlockingThread("daemon.uploads")

  /// - Parameters:
  ///   - watch: The service that failed attempts are reported to.
  ///   - survey: What is in the queues of all users.
  ///   - maximumWorkers: The maximum number of users whose uploads are sent at the same time.
  ///   - drainTimeout: The time that uploads in flight are given to finish at the end.
  ///   - onReconnect: Called when a webhook that gave no response has taken an upload.
  init(
    _ context: DaemonContext, webhooks: Webhooks, watch: QueueWatch, survey: QueueSurvey, maximumWorkers: Int,
    drainTimeout: Duration, onReconnect: @escaping @Sendable () -> Void
  ) {
    self.context = context
    self.webhooks = webhooks
    self.watch = watch
    self.survey = survey
    self.maximumWorkers = maximumWorkers
    self.drainTimeout = drainTimeout
    self.onReconnect = onReconnect
  }

  /// Wakes the service after a sign-in, or when a queue may have its first upload.
  func wake() {
    state.withLock { $0.checksWorkers = true }
    surveyWakes.wake()
    wakes.wake()
  }

  /// The number of uploads that wait for a time that was asked for and that is far away, and the last of these times;
  /// `nil` if there are none.
  func uploadsForLater() -> (count: Int, until: Date)? {
    state.withLock { $0.workers.values.compactMap(\.worker.uploadsForLater) }
      .reduce(nil) { (($0?.count ?? 0) + $1.count, max($0?.until ?? $1.until, $1.until)) }
  }

  /// Retries uploads that got no response, because the network is back.
  func networkReturned() async {
    let workers = state.withLock { $0.workers.values.map(\.worker) }
    await withDiscardingTaskGroup { group in
      for worker in workers { group.addTask { await worker.networkReturned() } }
    }
  }

  /// Handles a newly recorded upload: its user gets a turn if no worker is running.
  func recorded(_ user: String?) {
    if state.withLock({ $0.turns.add(user) }) { wakes.wake() }
  }

  func run() async throws {
    if webhooks.options.isEmpty {
      return await wakes.untilShutdown {
        while !wakes.isFinished, !Task.isCancelled { await wakes.wait(nil, context.time.sleep) }
      }
    }
    await withDiscardingTaskGroup { group in
      await wakes.untilShutdown {
        group.addTask { await self.surveyAll() }
        while !wakes.isFinished, !Task.isCancelled {
          while let turn = nextUser() {
            group.addTask {
              let time = await self.serve(turn.user)
              self.state.withLock { $0.turns.end(turn.user, until: time) }
              self.wakes.wake()
            }
          }
          if state.withLock({ state in
            defer { state.checksWorkers = false }
            return state.checksWorkers
          }) {
            await endWorkersOfOthers()
          }
          await wakes.wait(pause, context.time.sleep)
        }
        surveyWakes.finish()
        await drain()
        // Stops workers that wait to be restarted.
        group.cancelAll()
      }
    }
  }

  /// How long to wait for an event.
  private var pause: Duration {
    let turns = state.withLock { $0.turns.pause(uptime: context.uptime()) }
    return min(turns ?? Self.pollInterval, Self.pollInterval)
  }

  /// The next user whose uploads are to be sent; `nil` if there is none, or enough workers run.
  private func nextUser() -> UploadTurns.Turn? {
    // Who is signed in is known without a system call as a rule, and reported elsewhere where it cannot be read.
    let current = try? context.access.stores()
    return state.withLock { state in
      state.turns.takeDue(uptime: context.uptime())
      if let current, state.turns.servingCount <= maximumWorkers, state.turns.begin(current.user) {
        return UploadTurns.Turn(user: current.user)
      }
      // The signed-in user takes no turn from the others.
      let isCurrentServed = current.map { state.turns.isServing($0.user) } ?? false
      return state.turns.next(limit: maximumWorkers + (isCurrentServed ? 1 : 0))
    }
  }

  /// Finds the users with uploads, again and again.
  private func surveyAll() async {
    while !surveyWakes.isFinished, !Task.isCancelled {
      do {
        try await survey.run(isOver: { surveyWakes.isFinished || Task.isCancelled }) { users in
          let isNew = state.withLock { state in users.reduce(false) { state.turns.add($1) || $0 } }
          if isNew { wakes.wake() }
        }
        context.problems.clear(.usersUnreadable)
      } catch {
        context.problems.report(.usersUnreadable, "\(error)")
      }
      // Also a user that was removed may have a worker.
      state.withLock { $0.checksWorkers = true }
      wakes.wake()
      await surveyWakes.wait(Self.pollInterval, context.time.sleep)
    }
  }

  private func isCurrent(_ user: String?) -> Bool {
    (try? context.access.stores()).map { UserDocumentsTable.Key($0.user) == UserDocumentsTable.Key(user) } ?? false
  }

  /// Ends the workers of users who are no longer signed in and have no pending uploads, and of users that were removed.
  private func endWorkersOfOthers() async {
    for (worker, documents, isLasting) in state.withLock({ Array($0.workers.values) }) {
      let isGone = await !isThere(documents)
      if !isGone {
        if !isLasting || isCurrent(documents.user) { continue }
        if let counts = try? documents.queue.counts(), counts.waiting + counts.sending > 0 { continue }
      }
      await worker.drain(within: isGone ? .zero : .seconds(1))
    }
  }

  /// Whether the documents still belong to their user.
  private func isThere(_ documents: UserDocuments) async -> Bool {
    let isThere = try? await thread.run { [context] in
      guard let now = try context.userDocuments.documents(ofUser: documents.user) else { return false }
      return now.home == documents.home
    }
    // If that cannot be determined, assume that nothing changed.
    return isThere ?? true
  }

  // MARK: One user

  /// Sends a user's uploads: indefinitely while the user is signed in, otherwise until nothing can be sent.
  ///
  /// - Returns: When the user may have another turn, by ``DaemonContext/uptime()``; `nil` if it needs none until there are
  ///   new uploads.
  private func serve(_ user: String?) async -> Duration? {
    let key = UserDocumentsTable.Key(user)
    while !wakes.isFinished, !Task.isCancelled {
      let isLasting = isCurrent(user)
      do {
        let ending = try await work(user, isLasting: isLasting)
        state.withLock { $0.failures[key] = nil }
        if wakes.isFinished || !isCurrent(user) {
          return ending?.pause.map { context.uptime() + $0 }
        }
        // The user signed in again before the worker had ended.
      } catch {
        if Task.isCancelled { return nil }
        context.report(.uploadsStopped, error, about: user, of: user)
        context.logger.warning("a worker of uploads ended", metadata: ["reason": "\(error)"])
        let failures = state.withLock { state in
          state.failures[key, default: 0] += 1
          return state.failures[key] ?? 1
        }
        let pause = Self.backoff.pause(afterFailure: failures)
        // The turn of another user need not wait for this one.
        if !isLasting { return context.uptime() + pause }
        try? await context.time.sleep(pause)
      }
    }
    return nil
  }

  /// Runs a worker for a user.
  ///
  /// - Parameter isLasting: Whether the worker waits for new uploads.
  /// - Returns: What the worker found when it ended by itself; `nil` if it was drained, or the user has no documents.
  private func work(_ user: String?, isLasting: Bool) async throws -> UploadWorker.Ending? {
    let key = UserDocumentsTable.Key(user)
    guard let documents = try await open(user) else {
      context.problems.clear(.uploadsStopped, about: user)
      return nil
    }
    let steadiness = clearSoon(user)
    defer { steadiness?.cancel() }
    // Whatever ended the previous worker, this one works.
    let begin: @Sendable () -> Void = { [context] in context.problems.clear(.uploadsStopped, about: user) }
    let worker = UploadWorker(
      documents.queue, options: workerOptions(documents.queue),
      batchTransport: { [webhooks] batch in
        begin()
        return try await webhooks.send(batch)
      },
      transport: { [webhooks] upload in
        begin()
        return try await webhooks.send(upload)
      })
    state.withLock { $0.workers[key] = (worker, documents, isLasting) }
    survey.began(worker, documents)
    defer { state.withLock { $0.workers[key] = nil } }
    // A shutdown that came before the worker was registered did not drain it.
    if wakes.isFinished { return nil }
    do {
      try await worker.run(untilEmpty: !isLasting, waitsForPaused: true, waitsForLater: false)
    } catch {
      survey.ended(documents, nil)
      throw error
    }
    let ending = await worker.ending
    survey.ended(documents, ending)
    context.problems.clear(.uploadsStopped, about: user)
    for webhook in await worker.pausedDestinations.keys { context.problems.clear(.targetPaused, about: webhook) }
    return ending
  }

  /// Ends the problem of a user's failed worker once the next one has run for a moment, with or without uploads.
  private func clearSoon(_ user: String?) -> Task<Void, Never>? {
    guard context.problems.has(.uploadsStopped) else { return nil }
    return Task { [context] in
      if (try? await context.time.sleep(Self.steadyTime)) == nil { return }
      context.problems.clear(.uploadsStopped, about: user)
    }
  }

  /// - Returns: The documents; `nil` if the user has none, for example because the user was removed.
  private func open(_ user: String?) async throws -> UserDocuments? {
    try await thread.run { [context] in
      guard let documents = try context.userDocuments.documents(ofUser: user) else { return nil }
      // Before the first upload there is no need to write.
      if try documents.queue.counts().enqueued > 0 { try documents.declareQueue() }
      return documents
    }
  }

  private func workerOptions(_ queue: UploadQueue) -> WorkerOptions {
    var options = WorkerOptions()
    let rules = Dictionary(webhooks.options.map { ($0.name, $0.success) }, uniquingKeysWith: { first, _ in first })
    if rules.values.contains(where: { $0 != nil }) {
      options.success = { kind, response in try rules[kind]??.holds(for: response) ?? true }
    }
    let holding = Set(webhooks.options.filter { $0.onParked == .hold }.map(\.name))
    if !holding.isEmpty { options.onParked = { kind, _ in holding.contains(kind) ? .hold : .continue } }
    for webhook in webhooks.options { options.batches[webhook.name] = webhook.batch }
    options.onAttempt = { [weak self] attempt in self?.report(attempt, queue) }
    // A webhook that hangs leaves the other webhooks their share.
    options.concurrency = min(16, 4 * max(1, webhooks.options.count))
    options.destination = { $0 }
    for webhook in webhooks.options { options.retryPolicies[webhook.name] = webhook.retry }
    // If the daemon is killed repeatedly, that is not the upload's fault.
    options.retry.maximumInterruptions = 1_000_000
    // The transport has its own timeout.
    options.attemptTimeout = nil
    // A paused destination must not wait longer than its uploads would wait anyway.
    let longest = webhooks.options.map(\.retry.longestPause).max() ?? .seconds(60)
    options.breakerLongestPause = min(.seconds(60), longest)
    options.breakerFirstPause = min(.seconds(2), longest)
    options.longestPauseOnAnswer = min(.seconds(300), longest * 5)
    return options
  }

  /// Reports the outcome of an attempt.
  private func report(_ attempt: UploadAttempt, _ queue: UploadQueue) {
    let webhook = attempt.kind
    let isDelivered = attempt.result == .delivered
    context.metrics.count(
      "shelfmark_uploads_total", [("webhook", webhook), ("outcome", isDelivered ? "done" : "failed")])
    switch attempt.result {
    case .delivered:
      watch.ended(attempt.upload, webhook: webhook)
      if state.withLock({ $0.unreachable.remove(webhook) }) != nil { onReconnect() }
    case .failed(let failure):
      context.problems.clear(.targetPaused, about: webhook)
      watch.failed(attempt.upload, queue, webhook: webhook, failure.message)
      if failure.status == nil { state.withLock { _ = $0.unreachable.insert(webhook) } }
    case .paused(let failure):
      watch.ended(attempt.upload, webhook: webhook)
      context.problems.report(
        .targetPaused, "nothing is sent but a probe now and then: \(failure.message)", about: webhook)
    case .parked(let failure):
      watch.ended(attempt.upload, webhook: webhook)
      context.logger.notice(
        "an upload was parked",
        metadata: ["webhook": "\(webhook)", "upload": "\(attempt.upload)", "reason": "\(failure.message)"])
    }
  }

  // MARK: Ending

  private func drain() async {
    let workers = state.withLock { $0.workers.values.map { ($0.worker, $0.documents) } }
    await withDiscardingTaskGroup { group in
      for (worker, documents) in workers {
        group.addTask { [self] in
          // The outcome of attempts for a removed user cannot be written anywhere.
          let isThere = await isThere(documents)
          if await worker.drain(within: isThere ? drainTimeout : .zero) { return }
          let failure = await worker.lastingFailure
          let user = documents.user
          context.logger.warning(
            "uploads on their way are given up; they go again when the daemon runs",
            metadata: ["user": "\(user ?? "")", "reason": "\(failure.map { "\($0)" } ?? "they took too long")"])
        }
      }
    }
  }
}
