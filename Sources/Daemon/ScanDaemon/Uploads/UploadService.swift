import Documents
import Logging
import Platform
import ServiceLifecycle
import Synchronization
import UploadQueue
import Workspace

/// A service that sends the pending uploads of all users: the signed-in one and earlier ones.
///
/// Without webhooks it sends nothing: pending uploads then belong to another program.
final class UploadService: Service {
  /// The maximum number of users whose uploads are sent at the same time; others wait for their turn.
  static let maximumWorkers = 16
  /// The interval between checks for pending uploads of users who are not signed in.
  static let pollInterval: Duration = .seconds(30)
  /// How long a worker must run until the failure of its predecessor is considered over.
  static let steadyTime: Duration = .seconds(5)
  static let backoff = Backoff(first: .seconds(1), longest: .seconds(60))

  private struct State {
    /// The running workers, by user.
    var workers: [UserDocumentsTable.Key: (worker: UploadWorker, documents: UserDocuments, isLasting: Bool)] = [:]
    /// Users who have a worker, or whose failed worker waits to be restarted.
    var served: Set<UserDocumentsTable.Key> = []
    /// Webhooks that have given no response to an attempt since the last delivered upload.
    var unreachable: Set<String> = []
  }

  private let webhooks: Webhooks
  private let watch: QueueWatch
  private let drainTimeout: Duration
  private let context: DaemonContext
  private let onReconnect: @Sendable () -> Void
  private let state = Mutex(State())
  private let wakes = WakeSignal()
  private let thread = BlockingThread("daemon.uploads")

  /// - Parameters:
  ///   - watch: The service that failed attempts are reported to.
  ///   - drainTimeout: The time that uploads in flight are given to finish at the end.
  ///   - onReconnect: Called when a webhook that gave no response has taken an upload.
  init(
    _ context: DaemonContext, webhooks: Webhooks, watch: QueueWatch, drainTimeout: Duration,
    onReconnect: @escaping @Sendable () -> Void
  ) {
    self.context = context
    self.webhooks = webhooks
    self.watch = watch
    self.drainTimeout = drainTimeout
    self.onReconnect = onReconnect
  }

  /// Wakes the service after a sign-in, or when a queue may have its first upload.
  func wake() { wakes.wake() }

  /// Retries uploads that got no response, because the network is back.
  func networkReturned() async {
    let workers = state.withLock { $0.workers.values.map(\.worker) }
    await withDiscardingTaskGroup { group in
      for worker in workers { group.addTask { await worker.networkReturned() } }
    }
  }

  /// Handles a newly recorded upload: starts a worker for its user if none is running.
  func recorded(_ user: String?) {
    if state.withLock({ !$0.served.contains(UserDocumentsTable.Key(user)) }) { wakes.wake() }
  }

  func run() async throws {
    await withDiscardingTaskGroup { group in
      await wakes.untilShutdown {
        while !wakes.isFinished, !Task.isCancelled {
          for (user, isCurrent) in await usersWithWork() {
            let key = UserDocumentsTable.Key(user)
            let begins = state.withLock { state in
              state.served.count < Self.maximumWorkers + (isCurrent ? 1 : 0) && state.served.insert(key).inserted
            }
            if begins {
              group.addTask {
                await self.serve(user)
                let wasFull = self.state.withLock { state in
                  defer { state.served.remove(key) }
                  return state.served.count >= Self.maximumWorkers
                }
                // Another user may have waited for a worker.
                if wasFull { self.wakes.wake() }
              }
            }
          }
          await endWorkersOfOthers()
          await wakes.wait(webhooks.options.isEmpty ? nil : Self.pollInterval, context.time.sleep)
        }
        await drain()
        // Stops workers that wait to be restarted.
        group.cancelAll()
      }
    }
  }

  /// The signed-in user, and all other users with pending uploads but no worker.
  private func usersWithWork() async -> [(user: String?, isCurrent: Bool)] {
    if webhooks.options.isEmpty { return [] }
    do {
      let users = try await thread.run { [self] in
        let current = try context.access.stores().user
        let key = UserDocumentsTable.Key(current)
        var found: [(user: String?, isCurrent: Bool)] = [(current, true)]
        for user in try context.userDocuments.users() where UserDocumentsTable.Key(user) != key {
          // A queue that cannot be read is checked again next time.
          guard !isServed(user), let documents = (try? context.userDocuments.documents(ofUser: user)) ?? nil,
            let counts = try? documents.queue.counts(), counts.waiting + counts.sending > 0,
            let pauses = try? documents.queue.pauses(), pauses.isEmpty
          else { continue }
          found.append((user, false))
        }
        return found
      }
      context.problems.clear(.usersUnreadable)
      return users
    } catch {
      context.problems.report(.usersUnreadable, "\(error)")
      return []
    }
  }

  private func isServed(_ user: String?) -> Bool {
    state.withLock { $0.served.contains(UserDocumentsTable.Key(user)) }
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

  /// Sends a user's uploads: indefinitely while the user is signed in, otherwise until none is pending.
  private func serve(_ user: String?) async {
    let key = UserDocumentsTable.Key(user)
    var failures = 0
    while !wakes.isFinished, !Task.isCancelled {
      do {
        guard let documents = try await open(user) else { return context.problems.clear(.uploadsStopped, about: user) }
        let steadiness = clearSoon(user)
        defer { steadiness?.cancel() }
        let isLasting = isCurrent(user)
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
        defer { state.withLock { $0.workers[key] = nil } }
        // A shutdown that came before the worker was registered did not drain it.
        if wakes.isFinished { return }
        try await worker.run(untilEmpty: !isLasting, waitsForPaused: true)
        context.problems.clear(.uploadsStopped, about: user)
        for webhook in await worker.pausedDestinations.keys { context.problems.clear(.targetPaused, about: webhook) }
        if wakes.isFinished || !isCurrent(user) { return }
        // The user signed in again before the worker had ended.
        failures = 0
        continue
      } catch {
        if Task.isCancelled { return }
        context.problems.report(.uploadsStopped, "\(error)", about: user)
        context.logger.warning("a worker of uploads ended", metadata: ["reason": "\(error)"])
      }
      failures += 1
      try? await context.time.sleep(Self.backoff.pause(afterFailure: failures))
    }
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
