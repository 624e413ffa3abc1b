import Documents
public import Essentials
public import LogStore
import Synchronization

/// A worker that sends the uploads of a queue.
///
/// It claims an upload with a *lease*, in a commit; calls the transport; and writes the result in another commit, which
/// also claims the next uploads. A lease ends with its worker: see `Documentation/Format/UploadQueue.md`. Only a
/// success removes an upload.
///
/// A process may have several workers, and a queue may have workers in several processes. Uploads of one order key are
/// still sent one at a time.
///
/// Invariants:
/// - An upload is sent only after the commit that claimed it for this worker is durable.
/// - No more than `options.concurrency` attempts run at a time.
/// - What became of an attempt is written before its upload can be claimed again. A worker that cannot write keeps the
///   lease, and with it the order.
public actor UploadWorker {
  /// A closure that sends one upload and returns the server's response. A thrown error counts as a temporary failure,
  /// except an ``UploadRefusal``. Its task is cancelled when the attempt times out or the worker ends.
  public typealias Transport = @Sendable (Upload) async throws -> UploadResponse

  /// A closure that sends several uploads in one request, under the batch's ID. Errors and cancellation are the same as
  /// for ``Transport``.
  ///
  /// The response may list the uploads that failed, in a JSON object with `failed` or `results`: see *Batches* in the
  /// documentation.
  public typealias BatchTransport = @Sendable (UploadBatch) async throws -> UploadResponse

  /// The queue whose uploads the worker sends.
  public nonisolated let queue: UploadQueue
  let options: WorkerOptions
  let transport: Transport
  let batchTransport: BatchTransport?
  /// The worker's view of the queue. The mutex guards it between the actor and the committing thread. It is not held
  /// across a sync.
  nonisolated let mirror: Mutex<ScheduleMirror>
  var breakers: [String: CircuitBreaker] = [:]
  /// The number of uploads that each destination has accepted, or refused because of their content, since the worker
  /// started.
  var successes: [String: Int] = [:]
  /// For each upload that is being sent or has failed, by ordinal: the value of ``successes`` for its destination when
  /// it was last claimed or failed.
  var seenSuccesses: [Int64: Int] = [:]
  /// Uploads that were parked since the last success of their destination. An outage may have caused their failures.
  var suspects: [String: [UploadID]] = [:]
  /// The destinations that have suspects which were parked because they failed alone for long.
  var destinationsInDoubt: Set<String> = []
  /// Uploads that were parked as suspects, and are at fault, because their destination has accepted another one since.
  /// That is to be written.
  var confirmed: Set<UploadID> = []
  /// Uploads that failed while their destination accepted another one: see `UploadWorker+Lookahead.swift`.
  var blamed: Set<Int64> = []
  /// By lane: the last ordinal of a batch that is to be sent again with the same members.
  var lastBatches: [String: Int64] = [:]
  /// The maximum number of entries in each record of failed uploads. When it is exceeded, the record is cleared.
  static let maximumSeen = 10_000
  private var slot: WorkerSlot?
  /// The running attempts, by number. Ordinals would not be unique, because an upload may be claimed again before its
  /// last attempt is removed from this dictionary.
  private var attempts: [Int: Task<Void, Never>] = [:]
  private var lastAttempt = 0
  private var isDraining = false
  private var hasRun = false
  /// When to check the leases of other workers, on the clock that only goes forward.
  private var nextLeaseCheck = Int64.min
  /// The last persistent errors of claiming uploads and of writing results; each is cleared by the next success.
  private var claimFailure: StoreError?
  var settleFailure: StoreError?
  private let wakeSignal = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  /// Callers of ``drain(within:)`` that wait for the worker to end.
  private var drains: [CheckedContinuation<Void, Never>] = []

  /// Creates a worker.
  ///
  /// - Parameters:
  ///   - queue: The queue whose uploads the worker sends.
  ///   - options: The options.
  ///   - batchTransport: A transport for batches of the kinds that the options batch; `nil` to send each upload alone.
  ///   - transport: A transport for one upload.
  /// - Precondition: `options.concurrency` is greater than 0.
  public init(
    _ queue: UploadQueue, options: WorkerOptions = WorkerOptions(), batchTransport: BatchTransport? = nil,
    transport: @escaping Transport
  ) {
    precondition(options.concurrency > 0, "a worker without attempts does nothing")
    self.queue = queue
    self.options = options
    self.transport = transport
    self.batchTransport = batchTransport
    var rules = ScheduleRules(destination: options.destination, holds: options.onParked)
    if batchTransport != nil { rules.batch = options.batch }
    rules.longestPause = { (options.retryPolicies[$0] ?? options.retry).longestPause }
    mirror = Mutex(ScheduleMirror(queue.tables, rules, queue.environment))
  }

  /// The error that prevents the queue from being read or written, if it is not temporary: for example, its store is
  /// damaged or missing. Otherwise `nil`.
  public var lastingFailure: StoreError? { settleFailure ?? claimFailure }

  /// The number of running attempts.
  package var inFlight: Int { attempts.count }

  /// Whether the worker is waiting for an event. Until then, only running attempts change anything.
  private(set) var isIdle = false

  /// The destinations with an open circuit breaker, and the time at which each is probed next, in microseconds since
  /// 1970.
  package var openBreakers: [String: Int64] {
    let now = queue.environment.time
    return breakers.compactMapValues { $0.openUntil.map(now.wallTime(ofSteady:)) }
  }

  /// The number of uploads that wait for a time that the application asked for and that is more than a day away, or that
  /// was asked for while the clock was ahead, and the last of these times; `nil` if there are none.
  package nonisolated var uploadsForLater: (count: Int, until: Date)? {
    let now = queue.environment.now()
    return mirror.withLock { $0.schedule.uploadsForLater(now: now) }.map { ($0.count, Date(microseconds: $0.until)) }
  }

  /// The destinations that are paused by an answer, for example 401 or 404. Only occasional probes are sent to them.
  public var pausedDestinations: [String: DestinationPause] {
    let now = queue.environment.time
    return breakers.compactMapValues { breaker in
      guard let since = breaker.openSince, let until = breaker.openUntil, let answer = breaker.answer else {
        return nil
      }
      return DestinationPause(
        since: Date(microseconds: now.wallTime(ofSteady: since)),
        until: Date(microseconds: now.wallTime(ofSteady: until)), answer: answer)
    }
  }

  /// What the worker found when it ended by itself, because no upload could be sent.
  package struct Ending: Sendable, Equatable {
    /// The sequence number of the commit that it looked at. Until the next one there is nothing to send but what waits
    /// for the end of ``pause``.
    package let sequence: UInt64
    /// How long until the next upload may become ready or expire; `nil` for never. At most ten minutes if it waits for a
    /// time that was asked for, as somebody may set the clock forward.
    package let pause: Duration?
  }

  /// What the worker found when it ended by itself; `nil` while it runs, or if it ended in another way.
  package private(set) var ending: Ending?

  /// The uploads that wait or are being sent, by any worker, at the last commit.
  ///
  /// - Throws: `StoreError` if the queue cannot be read.
  /// - Complexity: O(*n*) in these uploads, in memory.
  package nonisolated func waitingUploads() throws -> [WaitingUploads] {
    let snapshot = try queue.store.snapshot()
    return try mirror.withLock { mirror in
      do { try mirror.advance(to: snapshot) } catch {
        mirror.reset()
        throw error
      }
      return WaitingUploads.grouping(mirror.schedule.items.values)
    }
  }

  /// Sends uploads until the worker is drained or its task is cancelled. A worker runs once.
  ///
  /// - Parameters:
  ///   - untilEmpty: Whether to return when no upload is being sent, by any worker, and all waiting uploads need a
  ///     manual decision; or when the queue is paused. Uploads that wait for a held order key do not count.
  ///   - waitsForPaused: Whether, with `untilEmpty`, to continue while uploads wait for a destination that is paused by
  ///     an answer.
  ///   - waitsForLater: Whether, with `untilEmpty`, to continue while uploads wait for the time before which they were
  ///     enqueued not to be sent.
  /// - Throws: `UploadQueueError.tooManyWorkers`; `StoreError` if the queue cannot be read.
  public func run(
    untilEmpty: Bool = false, waitsForPaused: Bool = false, waitsForLater: Bool = true
  ) async throws {
    precondition(!hasRun, "a worker runs once; make another one")
    hasRun = true
    let slot = try WorkerSlot.take(queue.tables, queue.environment)
    self.slot = slot
    let followers = follow()
    // After an error, wait for the running attempts before throwing it.
    var failure: (any Error)?
    do {
      try await releaseKeys()
      try await work(slot.lease, untilEmpty: untilEmpty ? EndCondition(waitsForPaused, waitsForLater) : nil)
    } catch { failure = error }
    for follower in followers { follower.cancel() }
    await cancelAttempts()
    slot.release()
    self.slot = nil
    for drain in drains { drain.resume() }
    drains = []
    if let failure { throw failure }
  }

  /// Begins no further attempts, waits for the running ones, and ends the worker.
  ///
  /// If the queue cannot be written and the error is persistent (``lastingFailure``), the call does not wait, because
  /// results could not be written. The uploads are sent again once the store works.
  ///
  /// - Parameter bound: The time that running attempts have to finish. After it they are cancelled, and their uploads
  ///   wait again.
  /// - Returns: Whether all attempts finished without being cancelled.
  @discardableResult
  public func drain(within bound: Duration) async -> Bool {
    isDraining = true
    if slot == nil { return true }
    wake()
    let sleep = queue.environment.sleep
    let isHopeless = lastingFailure != nil
    let timer = Task {
      if !isHopeless { try await sleep(bound) }
      await cancelAttempts()
    }
    defer { timer.cancel() }
    await withCheckedContinuation { continuation in
      if slot == nil { continuation.resume() } else { drains.append(continuation) }
    }
    return !wasCutShort
  }

  // MARK: The network

  /// The maximum number of uploads that one ``networkReturned()`` makes ready: as many as the largest group commit.
  static let maximumEarlyRetries = 1024

  /// Retries early because the network has returned, or changed. Uploads that wait because their last attempt got no
  /// answer become ready now, in one commit, and each destination with an open breaker is probed with one upload.
  ///
  /// Pauses that follow from an answer still apply: a Retry-After, and the back-off after a 503. Running attempts
  /// continue. An attempt that fails afterwards counts like any other, so call this once each time the network returns.
  public func networkReturned() async {
    let now = queue.environment.time
    for destination in breakers.keys { breakers[destination]?.reconsider(now: now.steady) }
    do {
      let snapshot = try queue.store.snapshot()
      let ordinals = try mirror.withLock { mirror in
        try mirror.advance(to: snapshot)
        return mirror.schedule.unanswered(now: now, limit: Self.maximumEarlyRetries)
      }
      if !ordinals.isEmpty {
        try await queue.group.perform(mayWait: true) { change in
          for ordinal in ordinals { try change.hasten(ordinal) }
        }
      }
    } catch {
      mirror.withLock { $0.reset() }
      // The uploads are retried when their back-off ends.
      queue.options.trace?(.storeFailed("\(error)"))
    }
    wake()
  }

  /// Whether attempts have been cancelled since the worker started.
  private var wasCutShort = false
  /// Whether attempts are being cancelled, including any that begin now.
  private var isEnding = false

  // MARK: The run loop

  /// What a worker that ends by itself waits for.
  private struct EndCondition {
    let paused: Bool
    let later: Bool

    init(_ paused: Bool, _ later: Bool) {
      self.paused = paused
      self.later = later
    }
  }

  /// - Parameter condition: What to wait for before ending; `nil` to wait for new uploads.
  private func work(_ lease: ScheduleEntry.Lease, untilEmpty condition: EndCondition?) async throws {
    wake()
    var iterator = wakeSignal.stream.makeAsyncIterator()
    while !Task.isCancelled {
      var timer: Task<Void, Never>?
      if isDraining {
        if attempts.isEmpty { return }
      } else {
        let next = try await begin(lease)
        if let condition, attempts.isEmpty, try isEmpty(condition) { return }
        timer = next.map(alarm)
      }
      isIdle = true
      // If the task is cancelled, this returns at once.
      let isOver = await iterator.next(isolation: #isolation) == nil
      isIdle = false
      timer?.cancel()
      if isOver { return }
    }
  }

  /// Whether the queue is paused, or no upload is being sent and none can be sent without a manual decision. It
  /// examines the uploads, not the counts, which may be wrong after a repair.
  private func isEmpty(_ condition: EndCondition) throws -> Bool {
    let snapshot = try queue.store.snapshot()
    if try !queue.tables.state(in: snapshot).pauses.isEmpty {
      ending = Ending(sequence: snapshot.sequence, pause: nil)
      return true
    }
    let paused = condition.paused ? [] : Set(pausedDestinations.keys)
    let present = queue.environment.time
    let now = condition.later ? nil : present.wall
    ending = try mirror.withLock { mirror -> Ending? in
      try mirror.advance(to: snapshot)
      if mirror.schedule.hasSendableUploads(before: now, isPaused: { paused.contains($0) }) { return nil }
      let next = mirror.schedule.nextTime(after: present, lookingEvery: .seconds(600))
      return Ending(
        sequence: snapshot.sequence, pause: next.map { .microseconds(max(0, $0.subtracting(present.steady))) })
    }
    return ending != nil
  }

  /// Releases order keys held by parked uploads if the current options no longer hold them, and remembers suspects.
  private func releaseKeys() async throws {
    let snapshot = try queue.store.snapshot()
    guard try queue.tables.state(in: snapshot).counts.parked > 0 else { return }
    let parked = try queue.tables.schedule.query(.in(\.state, [.parked])).results(in: snapshot)
    var free: [Int64] = []
    for entry in parked {
      let entry = try entry.get()
      if entry.holdsKey == true, !options.holds(entry) { free.append(entry.id) }
      if entry.isSuspect == true {
        suspects[options.destination(entry.kind), default: []].append(entry.upload)
        destinationsInDoubt.insert(options.destination(entry.kind))
      }
    }
    if free.isEmpty { return }
    try await queue.group.perform { [free] change in for ordinal in free { try change.releaseKey(ordinal) } }
  }

  /// Whether the worker is ending.
  var isClosing: Bool { isDraining || isEnding }

  /// Whether another attempt may begin when one ends.
  var canBegin: Bool { !isClosing && attempts.count <= options.concurrency }

  nonisolated func wake() { wakeSignal.continuation.yield() }

  /// Wakes the worker at this time, on the clock that only goes forward.
  private func alarm(at time: Int64) -> Task<Void, Never> {
    let environment = queue.environment
    return Task {
      let left = max(1000, time.subtracting(environment.uptime()))
      if (try? await environment.sleep(.microseconds(left))) != nil { wake() }
    }
  }

  /// Starts tasks that wake the worker when the store has a new commit, and pause the queue while the network is
  /// unreachable.
  private func follow() -> [Task<Void, Never>] {
    let signals = queue.store.signals()
    var tasks = [
      Task { for await _ in signals { wake() } }
    ]
    if let reachability = options.reachability {
      tasks.append(
        Task { [queue] in
          for await isReachable in reachability {
            // Ignore an error: a store that cannot be written also stops the worker elsewhere.
            if isReachable { try? await queue.resume(.unreachable) } else { try? await queue.pause(.unreachable) }
          }
        })
    }
    return tasks
  }

  /// Begins as many attempts as the concurrency allows.
  ///
  /// - Returns: The time of the next check if no event comes first, on the clock that only goes forward; `nil` if only an
  ///   event can bring work.
  private func begin(_ lease: ScheduleEntry.Lease) async throws -> Int64? {
    let now = queue.environment.time
    do {
      try await checkLeases(now.steady, lease)
      let free = options.concurrency - attempts.count
      guard free > 0, try queue.tables.state(in: queue.store.snapshot()).pauses.isEmpty else {
        return leaseCheck(lease)
      }
      if try hasWork(now) {
        for group in try await claim(free, lease) { start(group, lease) }
      }
      claimFailure = nil
    } catch {
      mirror.withLock { $0.reset() }
      claimFailure = persistentError(error)
      // Temporary: another process holds the store's lock for long, or the disk is full. Retry after a second.
      return now.steady.adding(1_000_000)
    }
    let checks = leaseCheck(lease)
    guard attempts.count < options.concurrency else { return checks }
    let later = queue.environment.time
    let times = [checks, mirror.withLock { $0.schedule.nextTime(after: later) }] + breakers.values.map(\.openUntil)
    return times.compactMap(\.self).filter { $0 > now.steady }.min()
  }

  /// Whether a commit would have anything to write, without committing. Closes the breakers of destinations that were
  /// manually retried.
  private func hasWork(_ now: QueueTime) throws -> Bool {
    let snapshot = try queue.store.snapshot()
    let retries = try mirror.withLock { mirror in
      try mirror.advance(to: snapshot)
      return mirror.schedule.takeRetries()
    }
    for destination in retries where breakers[destination]?.retry() == true {
      breakers[destination] = nil
      queue.options.trace?(.breakerClosed(destination: destination))
    }
    let breakers = breakers
    return mirror.withLock { mirror in
      !mirror.schedule.expired(now: now).isEmpty || Self.next(&mirror.schedule, now, breakers) != nil
    }
  }

  // MARK: Leases of other workers

  /// When to check the leases of other workers; `nil` if no other worker has one.
  private func leaseCheck(_ own: ScheduleEntry.Lease) -> Int64? {
    mirror.withLock { $0.schedule.leases.contains { $0 != own } } ? nextLeaseCheck : nil
  }

  /// Takes over the uploads of workers that have ended.
  private func checkLeases(_ now: Int64, _ own: ScheduleEntry.Lease) async throws {
    if now < nextLeaseCheck { return }
    nextLeaseCheck = now.adding(options.leaseCheckInterval.microseconds)
    let snapshot = try queue.store.snapshot()
    let others = try mirror.withLock { mirror in
      try mirror.advance(to: snapshot)
      return mirror.schedule.leases.filter { $0 != own }.map { ($0, mirror.schedule.ordinals(of: $0)) }
    }
    for (lease, ordinals) in others {
      // If the lease has our slot, its former holder has released our lock. For another slot, hold its lock until
      // the commit is durable, so that no new worker takes the slot meanwhile.
      let lock = lease.slot == own.slot ? nil : try WorkerSlot.lock(queue.tables, lease.slot)
      if lock == nil, lease.slot != own.slot { continue }
      defer { lock?.release() }
      let options = options
      try await queue.group.perform(mayWait: true) { change in
        for ordinal in ordinals {
          try change.takeOver(ordinal, lease, limit: options.retry.maximumInterruptions, holds: options.holds)
        }
      }
    }
  }

  // MARK: Failures

  /// Traces an error of the store. A persistent one stops ``drain(within:)`` from waiting.
  ///
  /// - Returns: The error if it is persistent; otherwise `nil`.
  func persistentError(_ error: any Error) -> StoreError? {
    queue.options.trace?(.storeFailed("\(error)"))
    guard let error = error as? StoreError, error.lasts else { return nil }
    if isDraining, !isEnding { Task { await cancelAttempts() } }
    return error
  }

  // MARK: Attempts

  /// Runs an attempt in a separate task.
  func begin(_ attempt: @escaping @Sendable () async -> Void) {
    lastAttempt += 1
    let number = lastAttempt
    let task = Task {
      await attempt()
      attempts[number] = nil
      wake()
    }
    attempts[number] = task
    // Its upload was claimed while the other attempts were being cancelled.
    if isEnding {
      wasCutShort = true
      task.cancel()
    }
  }

  private func cancelAttempts() async {
    isEnding = true
    let running = Array(attempts.values)
    if !running.isEmpty { wasCutShort = true }
    for attempt in running { attempt.cancel() }
    for attempt in running { await attempt.value }
  }
}

/// A destination that is paused by an answer. Only occasional probes are sent to it.
public struct DestinationPause: Sendable, Equatable {
  /// When the pause began.
  public let since: Date
  /// When the next probe is due.
  public let until: Date
  /// The last answer.
  public let answer: UploadFailure
}
