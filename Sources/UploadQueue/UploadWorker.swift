import Documents
public import LogStore
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Sends the uploads of a queue.
///
/// It takes an upload by a *lease*, in a commit; calls the transport; and writes what became of it in another commit, which
/// also takes the next ones. A lease ends with its worker: see `Documentation/Format/UploadQueue.md`. Only a success
/// removes an upload.
///
/// A process may have several workers, and a queue workers in several processes; an order key is then still one at a time.
public actor UploadWorker {
  /// Sends one upload, and says what the server answered. What it throws is a failure that may pass, but for an
  /// ``UploadRefusal``. It is cancelled when the attempt takes too long or the worker is to end.
  public typealias Transport = @Sendable (Upload) async throws -> UploadResponse

  /// Sends several uploads in one request, under the id of the batch. As ``Transport``.
  ///
  /// The answer may say which of them failed: a JSON object with `failed` or `results`, see *Batches* in the documentation.
  public typealias BatchTransport = @Sendable (UploadBatch) async throws -> UploadResponse

  /// The queue whose uploads it sends.
  public nonisolated let queue: UploadQueue
  let options: WorkerOptions
  let transport: Transport
  let batchTransport: BatchTransport?
  /// What the worker knows of the queue. Guards it between the actor and the thread that commits; held for no sync.
  nonisolated let mirror: Mutex<ScheduleMirror>
  var breakers: [String: CircuitBreaker] = [:]
  /// Uploads that each destination took, or refused for what they are, since the worker began.
  var successes: [String: Int] = [:]
  /// For uploads that are being sent or failed, by ordinal: ``successes`` of their destination when they were taken or failed last.
  var seenSuccesses: [Int64: Int] = [:]
  /// Uploads that were parked since the last success of their destination, which may be what failed.
  var suspects: [String: [UploadID]] = [:]
  /// Uploads that failed while their destination took another one: see `UploadWorker+Lookahead.swift`.
  var accused: Set<Int64> = []
  /// By lane: the last ordinal of a batch that is to go again as it was.
  var lastBatches: [String: Int64] = [:]
  /// What is remembered of failed uploads at most; beyond that it begins anew.
  static let maximumSeen = 10_000
  private var slot: WorkerSlot?
  /// The attempts that are running, by number: an upload may be taken again before its last attempt is off this list.
  private var attempts: [Int: Task<Void, Never>] = [:]
  private var lastAttempt = 0
  private var isDraining = false
  private var hasRun = false
  private var nextLeaseCheck: Int64 = 0
  /// What lasts of the failures to take uploads, and to write what became of them; gone with the next success of each.
  private var takingFailure: StoreError?
  var settlingFailure: StoreError?
  private let wakes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  /// Who waits for the worker to end.
  private var drains: [CheckedContinuation<Void, Never>] = []

  /// - Parameters:
  ///   - queue: The queue whose uploads it sends.
  ///   - options: How it works.
  ///   - batchTransport: Sends several uploads at once, of the kinds for which the options have batches; without it each goes alone.
  ///   - transport: Sends one upload.
  /// - Precondition: `options.concurrency` is more than 0.
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
    mirror = Mutex(ScheduleMirror(queue.tables, rules))
  }

  /// Why the queue cannot be read or written, if that does not pass by itself: its store is damaged, or gone.
  public var lastingFailure: StoreError? { settlingFailure ?? takingFailure }

  /// Attempts that are running.
  public var inFlight: Int { attempts.count }

  /// Whether it waits for something to happen, and changes nothing until then but by attempts that are running.
  private(set) var isIdle = false

  /// The destinations that are left alone, and until when (microseconds since 1970).
  public var openBreakers: [String: Int64] { breakers.compactMapValues(\.openUntil) }

  /// The destinations that an answer paused, such as 401 or 404. Nothing goes there but a probe now and then.
  public var pausedDestinations: [String: DestinationPause] {
    breakers.compactMapValues { breaker in
      guard let since = breaker.openSince, let until = breaker.openUntil, let answer = breaker.answer else {
        return nil
      }
      return DestinationPause(
        since: Date(microseconds: since), until: Date(microseconds: until), answer: answer)
    }
  }

  /// Sends until it is drained, or its task is cancelled. A worker runs once.
  ///
  /// - Parameters:
  ///   - untilEmpty: Whether it returns when nothing waits that can go without somebody's decision, and nothing is being sent, by
  ///     any worker; or the queue is paused. What waits for a held order key does not count.
  ///   - waitsForPaused: Whether, with `untilEmpty`, it goes on while uploads wait for a destination that an answer paused.
  /// - Throws: `UploadQueueError.tooManyWorkers`; `StoreError` where the queue cannot be read.
  public func run(untilEmpty: Bool = false, waitsForPaused: Bool = false) async throws {
    precondition(!hasRun, "a worker runs once; make another one")
    hasRun = true
    let slot = try WorkerSlot.take(queue.tables, queue.environment)
    self.slot = slot
    let followers = follow()
    // A failure must not leave attempts that nobody waits for.
    var failure: (any Error)?
    do {
      try await releaseKeys()
      try await work(slot.lease, untilEmpty: untilEmpty, waitsForPaused)
    } catch { failure = error }
    for follower in followers { follower.cancel() }
    await cancelAttempts()
    slot.release()
    self.slot = nil
    for drain in drains { drain.resume() }
    drains = []
    if let failure { throw failure }
  }

  /// Begins no further attempt, waits for those that run, and ends the worker.
  ///
  /// Where the queue cannot be written, and will not be without somebody's help (``lastingFailure``), nothing is waited for: what
  /// comes of an attempt could not be written. Its upload is sent again when the store is in order.
  ///
  /// - Parameter bound: how long the attempts may take; then they are cancelled, and their uploads wait again.
  /// - Returns: whether all attempts ended by themselves.
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

  /// What ``networkReturned()`` hastens at once: as much as the largest commit of others.
  static let maximumHastened = 1024

  /// The network is back, or another one is there: what waits because its last attempt got no answer goes now and not after its
  /// pause, in one commit, and a destination that is left alone is tried with one upload.
  ///
  /// What a server answered stands: a Retry-After is waited for, and so is the pause after a 503. Attempts that are running go on.
  /// An attempt that fails then counts like others: call it once for each time that the network comes back.
  public func networkReturned() async {
    let now = queue.environment.now()
    for destination in breakers.keys { breakers[destination]?.reconsider(now: now) }
    do {
      let snapshot = try queue.store.snapshot()
      let ordinals = try mirror.withLock { mirror in
        try mirror.advance(to: snapshot)
        return mirror.schedule.unanswered(now: now, limit: Self.maximumHastened)
      }
      if !ordinals.isEmpty {
        try await queue.group.perform(isPatient: true) { change in
          for ordinal in ordinals { try change.hasten(ordinal) }
        }
      }
    } catch {
      mirror.withLock { $0.reset() }
      // They go when their pause is over.
      queue.options.trace?(.storeFailed("\(error)"))
    }
    wake()
  }

  /// Whether attempts were cancelled since the worker began.
  private var wasCutShort = false
  /// Whether attempts are cancelled, those too that begin now.
  private var isEnding = false

  // MARK: The loop

  private func work(_ lease: ScheduleEntry.Lease, untilEmpty: Bool, _ waitsForPaused: Bool) async throws {
    wake()
    var iterator = wakes.stream.makeAsyncIterator()
    while !Task.isCancelled {
      var timer: Task<Void, Never>?
      if isDraining {
        if attempts.isEmpty { return }
      } else {
        let next = try await begin(lease)
        if untilEmpty, attempts.isEmpty, try isEmpty(waitsForPaused) { return }
        timer = next.map(alarm)
      }
      isIdle = true
      // Cancelled from outside, this returns at once.
      let isOver = await iterator.next(isolation: #isolation) == nil
      isIdle = false
      timer?.cancel()
      if isOver { return }
    }
  }

  /// Whether nothing waits that can go by itself, and nothing is being sent, or the queue is paused. It asks the uploads and not
  /// their numbers, which a repair may have parted.
  private func isEmpty(_ waitsForPaused: Bool) throws -> Bool {
    let snapshot = try queue.store.snapshot()
    if try !queue.tables.state(in: snapshot).pauses.isEmpty { return true }
    let paused = waitsForPaused ? [] : Set(pausedDestinations.keys)
    return try mirror.withLock { mirror in
      try mirror.advance(to: snapshot)
      return !mirror.schedule.canGoOn { paused.contains($0) }
    }
  }

  /// Lets order keys go on that an upload holds whose options say so no more: what is stored is what workers do.
  private func releaseKeys() async throws {
    let snapshot = try queue.store.snapshot()
    guard try queue.tables.state(in: snapshot).counts.parked > 0 else { return }
    let parked = try queue.tables.schedule.query(.in(\.state, [.parked])).results(in: snapshot)
    var free: [Int64] = []
    for entry in parked {
      let entry = try entry.get()
      if entry.holdsKey == true, !options.holds(entry) { free.append(entry.id) }
    }
    if free.isEmpty { return }
    try await queue.group.perform { [free] change in for ordinal in free { try change.releaseKey(ordinal) } }
  }

  /// Whether it is to end, soon or now.
  var isClosing: Bool { isDraining || isEnding }

  /// Whether another attempt may begin when one ends.
  var canBegin: Bool { !isClosing && attempts.count <= options.concurrency }

  nonisolated func wake() { wakes.continuation.yield() }

  /// Wakes the worker at this time.
  private func alarm(at time: Int64) -> Task<Void, Never> {
    let environment = queue.environment
    return Task {
      let left = max(1000, time.adding(-environment.now()))
      if (try? await environment.sleep(.microseconds(left))) != nil { wake() }
    }
  }

  /// Tasks that wake the worker when the store has a new commit, and pause the queue when the network is away.
  private func follow() -> [Task<Void, Never>] {
    let signals = queue.store.signals()
    var tasks = [
      Task { for await _ in signals { wake() } }
    ]
    if let reachability = options.reachability {
      tasks.append(
        Task { [queue] in
          for await isReachable in reachability {
            // A store that cannot be written now stops the worker in another way.
            if isReachable { try? await queue.resume(.unreachable) } else { try? await queue.pause(.unreachable) }
          }
        })
    }
    return tasks
  }

  /// Begins as many attempts as may begin.
  ///
  /// - Returns: when to look again, if nothing else happens; `nil` for whenever.
  private func begin(_ lease: ScheduleEntry.Lease) async throws -> Int64? {
    let now = queue.environment.now()
    do {
      try await checkLeases(now, lease)
      let free = options.concurrency - attempts.count
      guard free > 0, try queue.tables.state(in: queue.store.snapshot()).pauses.isEmpty else {
        return leaseCheck(lease)
      }
      if try hasWork(now) {
        for group in try await claim(free, lease) { start(group, lease) }
      }
      takingFailure = nil
    } catch {
      mirror.withLock { $0.reset() }
      takingFailure = lasting(error)
      // Another process has the store for long, or the disk is full: that passes, or somebody ends the worker.
      return now.adding(1_000_000)
    }
    let checks = leaseCheck(lease)
    guard attempts.count < options.concurrency else { return checks }
    let later = queue.environment.now()
    let times = [checks, mirror.withLock { $0.schedule.nextTime(after: later) }] + breakers.values.map(\.openUntil)
    return times.compactMap(\.self).filter { $0 > now }.min()
  }

  /// Whether there is anything to write: a look, without a commit. Closes the breakers of what somebody asked to try again.
  private func hasWork(_ now: Int64) throws -> Bool {
    let snapshot = try queue.store.snapshot()
    let retries = try mirror.withLock { mirror in
      try mirror.advance(to: snapshot)
      return mirror.schedule.takeRetries()
    }
    for (destination, time) in retries where breakers[destination]?.retry(at: time) == true {
      breakers[destination] = nil
      queue.options.trace?(.breakerClosed(destination: destination))
    }
    let breakers = breakers
    return mirror.withLock { mirror in
      !mirror.schedule.expired(now: now).isEmpty || Self.next(&mirror.schedule, now, breakers) != nil
    }
  }

  // MARK: Leases of others

  /// When leases of other workers are looked at; `nil` if there are none.
  private func leaseCheck(_ own: ScheduleEntry.Lease) -> Int64? {
    mirror.withLock { $0.schedule.leases.contains { $0 != own } } ? nextLeaseCheck : nil
  }

  /// Takes over what workers have that are no more.
  private func checkLeases(_ now: Int64, _ own: ScheduleEntry.Lease) async throws {
    if now < nextLeaseCheck { return }
    nextLeaseCheck = now.adding(options.leaseCheckInterval.microseconds)
    let snapshot = try queue.store.snapshot()
    let others = try mirror.withLock { mirror in
      try mirror.advance(to: snapshot)
      return mirror.schedule.leases.filter { $0 != own }.map { ($0, mirror.schedule.ordinals(of: $0)) }
    }
    for (lease, ordinals) in others {
      // The lock that is ours was let go by whoever had it before. Another one is held until all is written, so that
      // nobody takes it meanwhile and wonders.
      let lock = lease.slot == own.slot ? nil : try WorkerSlot.lock(queue.tables, lease.slot)
      if lock == nil, lease.slot != own.slot { continue }
      defer { lock?.release() }
      let options = options
      try await queue.group.perform(isPatient: true) { change in
        for ordinal in ordinals {
          try change.takeOver(ordinal, lease, limit: options.retry.maximumInterruptions, holds: options.holds)
        }
      }
    }
  }

  // MARK: Failures

  /// Tells of a failure of the store. One that lasts ends the waiting of ``drain(within:)``.
  ///
  /// - Returns: it, if it lasts.
  func lasting(_ error: any Error) -> StoreError? {
    queue.options.trace?(.storeFailed("\(error)"))
    guard let error = error as? StoreError, error.lasts else { return nil }
    if isDraining, !isEnding { Task { await cancelAttempts() } }
    return error
  }

  // MARK: Attempts

  /// Runs one attempt beside the others.
  func begin(_ attempt: @escaping @Sendable () async -> Void) {
    lastAttempt += 1
    let number = lastAttempt
    let task = Task {
      await attempt()
      attempts[number] = nil
      wake()
    }
    attempts[number] = task
    // Its upload was taken while the others were cancelled.
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

/// A destination that an answer paused: nothing goes there but a probe now and then.
public struct DestinationPause: Sendable, Equatable {
  /// Since when.
  public let since: Date
  /// When it is probed next.
  public let until: Date
  /// What it answered last.
  public let answer: UploadFailure
}
