import Documents

/// Uploads that a worker took together: one, or a batch.
struct ClaimedGroup: Sendable {
  var uploads: [(entry: ScheduleEntry, upload: Upload)]
  /// Whether it goes by the transport for batches, even with one upload.
  var isBatch: Bool
}

extension UploadWorker {
  // MARK: Taking

  /// Takes the next uploads, and drops those whose time is over, in one commit.
  func claim(_ limit: Int, _ lease: ScheduleEntry.Lease) async throws -> [ClaimedGroup] {
    let (breakers, batches) = (breakers, lastBatches)
    let groups = try await queue.group.perform(isPatient: true) { change in
      try self.take(limit, lease, change, breakers, batches)
    }
    begin(groups)
    return groups
  }

  /// Tells the breakers that uploads go.
  private func begin(_ groups: [ClaimedGroup]) {
    let now = queue.environment.now()
    for entry in groups.compactMap(\.uploads.first?.entry) {
      let destination = options.destination(entry.kind)
      breakers[destination]?.begin(now: now, lane: entry.lane)
      lastBatches[entry.lane] = nil
    }
    for (entry, _) in groups.flatMap(\.uploads) where seenSuccesses[entry.id] == nil {
      seenSuccesses[entry.id] = successes[options.destination(entry.kind)] ?? 0
    }
  }

  /// Takes the next uploads inside a commit, up to `limit` groups of them.
  private nonisolated func take(
    _ limit: Int, _ lease: ScheduleEntry.Lease, _ change: QueueChange, _ breakers: [String: CircuitBreaker],
    _ batches: [String: Int64]
  ) throws -> [ClaimedGroup] {
    let (expired, next) = try choose(limit, lease, change, breakers, batches)
    for ordinal in expired {
      let entry = try change.entry(ordinal)
      if let entry, entry.state == .waiting {
        try change.expire(entry)
      } else {
        mirror.withLock { $0.note(ordinal, entry) }
      }
    }
    return try next.compactMap { entries in
      var group = ClaimedGroup(uploads: [], isBatch: isBatched(entries[0]))
      var isFull = false
      for entry in entries {
        // A file goes alone.
        if !isFull,
          let claim = try change.claim(
            entry, lease, takesFile: group.uploads.isEmpty, holds: options.holds(entry))
        {
          group.uploads.append(claim)
          if !claim.1.payload.files.isEmpty {
            group.isBatch = false
            isFull = true
          }
          continue
        }
        // Parked now, or not what the mirror took it for, or left for another request.
        if !group.uploads.isEmpty { isFull = true }
        let truth = try change.entry(entry.id)
        mirror.withLock { $0.note(entry.id, truth) }
      }
      return group.uploads.isEmpty ? nil : group
    }
  }

  nonisolated func isBatched(_ entry: ScheduleEntry) -> Bool {
    batchTransport != nil && options.batch(entry.kind) != nil
  }

  /// Chooses what goes next and what has expired, and notes in the mirror that it did.
  private nonisolated func choose(
    _ limit: Int, _ lease: ScheduleEntry.Lease, _ change: QueueChange, _ breakers: [String: CircuitBreaker],
    _ batches: [String: Int64]
  ) throws -> (expired: [Int64], next: [[ScheduleEntry]]) {
    let now = change.now
    let limit = change.state.pauses.isEmpty ? limit : 0
    let destination = options.destination
    return try withMirror(of: change) { mirror in
      let expired = mirror.schedule.expired(now: now)
      for ordinal in expired { mirror.note(ordinal, nil) }
      var breakers = breakers
      var chosen: [[ScheduleEntry]] = []
      while chosen.count < limit, let next = Self.next(&mirror.schedule, now, breakers) {
        // An open breaker lets one pass.
        breakers[destination(next.kind)]?.begin(now: now, lane: next.lane)
        let last = batches[next.lane] ?? .max
        let group =
          isBatched(next)
          ? mirror.schedule.batch(startingWith: next, through: max(last, next.id), now: now) : [next]
        chosen.append(group)
        for entry in group { mirror.note(entry.id, entry.claimed(by: lease)) }
      }
      return (expired, chosen)
    }
  }

  /// Calls `body` with a mirror that shows what a commit that is being made has come to.
  nonisolated func withMirror<Result: Sendable>(
    of change: QueueChange, _ body: (inout ScheduleMirror) throws -> Result
  ) throws -> Result {
    let base = change.transaction.base
    // What other calls of this commit did; it will come once more as the difference of two commits.
    let touched = try change.touched.map { ($0, try change.entry($0)) }
    return try mirror.withLock { mirror in
      try mirror.advance(to: base)
      for (ordinal, entry) in touched { mirror.note(ordinal, entry) }
      return try body(&mirror)
    }
  }

  /// What goes next, as the breakers allow.
  static func next(
    _ schedule: inout Schedule, _ now: Int64, _ breakers: [String: CircuitBreaker]
  ) -> ScheduleEntry? {
    schedule.next(
      now: now, isOpen: { breakers[$0]?.allows(now: now) ?? true },
      probes: { name in breakers[name].flatMap { $0.isClosed ? nil : $0.probes } })
  }

  // MARK: Sending

  /// Sends an upload, and writes what became of it.
  func start(_ entry: ScheduleEntry, _ upload: Upload, _ lease: ScheduleEntry.Lease) {
    start(ClaimedGroup(uploads: [(entry, upload)], isBatch: false), lease)
  }

  /// Sends what was taken together, and writes what became of it.
  func start(_ group: ClaimedGroup, _ lease: ScheduleEntry.Lease) {
    begin { [self] in
      let outcomes = await attempt(group)
      let verdicts = await judge(group, outcomes)
      let lookahead = await takeLookahead(group, outcomes)
      await settle(verdicts, lease)
      if lookahead > 0 { await lookAhead(of: group, lookahead, lease) }
    }
  }

  /// One attempt: how it ended for each upload.
  nonisolated func attempt(_ group: ClaimedGroup) async -> [AttemptOutcome] {
    if Task.isCancelled { return group.uploads.map { _ in .released } }
    if group.isBatch, let batchTransport { return await attempt(group.uploads.map(\.upload), batchTransport) }
    var outcomes: [AttemptOutcome] = []
    for (entry, upload) in group.uploads { outcomes.append(await attempt(entry, upload)) }
    return outcomes
  }

  private nonisolated func attempt(_ entry: ScheduleEntry, _ upload: Upload) async -> AttemptOutcome {
    do {
      for file in upload.payload.files { try await file.checkAside() }
      let response = try await answer { [transport] in try await transport(upload) }
      if options.isAlreadyDone(upload, response) { return .delivered }
      return outcome(response, entry.kind)
    } catch is CancellationError where Task.isCancelled {
      return .released
    } catch {
      // A transport may say in its own words that it was cancelled.
      return Task.isCancelled ? .released : AttemptOutcome(thrown: error)
    }
  }

  /// What an answer means, by its status and the success rule.
  private nonisolated func outcome(_ response: UploadResponse, _ kind: String) -> AttemptOutcome {
    let retry = options.retryPolicies[kind] ?? options.retry
    let outcome = retry.outcome(response)
    guard outcome == .delivered, let success = options.success else { return outcome }
    do {
      if try success(kind, response) { return .delivered }
      let message = response.message.map { ": " + $0 } ?? ""
      let words = "the server answered \(response.status), but its response fails the success rule\(message)"
      return .failed(UploadFailure(status: response.status, message: words), .rejected, retryAfter: nil)
    } catch {
      let words = "the server answered \(response.status), but the success rule cannot be evaluated: \(error)"
      return .failed(
        UploadFailure(status: response.status, message: words), .failed, retryAfter: response.retryAfter)
    }
  }

  /// Sends a batch. If the server refuses all of it, or answers with an error such as 500, one of the uploads may be why: it is
  /// sent in halves then, until that one is found. What follows it waits, for its order.
  private nonisolated func attempt(_ uploads: [Upload], _ transport: @escaping BatchTransport) async
    -> [AttemptOutcome]
  {
    var outcomes = [AttemptOutcome](repeating: .released, count: uploads.count)
    var ranges = [uploads.indices]
    while let range = ranges.popLast() {
      let batch = UploadBatch(Array(uploads[range]))
      let retry = options.retryPolicies[batch.kind] ?? options.retry
      var outcome: AttemptOutcome
      do {
        let response = try await answer { try await transport(batch) }
        outcome = self.outcome(response, batch.kind)
        if outcome == .delivered, case .each(let list) = try BatchAnswer(response, to: batch, retry) {
          for (index, outcome) in zip(range, list) { outcomes[index] = outcome }
          if list.allSatisfy({ $0 == .delivered }) { continue }
          return outcomes
        }
      } catch let error as UnreadableResponse {
        outcome = .failed(UploadFailure(message: "\(error)"), .failed, retryAfter: nil)
      } catch {
        outcome = Task.isCancelled ? .released : AttemptOutcome(thrown: error)
      }
      if outcome == .delivered {
        for index in range { outcomes[index] = .delivered }
      } else if range.count > 1, outcome.mayBeOfOne, !Task.isCancelled {
        let middle = range.lowerBound + range.count / 2
        ranges.append(middle..<range.upperBound)
        ranges.append(range.lowerBound..<middle)
      } else {
        // The first one represents all: they wait after it, and go together again.
        outcomes[range.lowerBound] = outcome
        return outcomes
      }
    }
    return outcomes
  }

  /// What a transport answers, in time.
  private nonisolated func answer(
    _ send: @escaping @Sendable () async throws -> UploadResponse
  ) async throws -> UploadResponse {
    guard let bound = options.attemptTimeout else { return try await send() }
    return try await withThrowingTaskGroup(of: UploadResponse?.self) { group in
      group.addTask { try await send() }
      group.addTask { [queue] in
        try await queue.environment.sleep(bound)
        return nil
      }
      defer { group.cancelAll() }
      guard let first = try await group.next(), let response = first else {
        throw AttemptTimeout(bound: bound)
      }
      return response
    }
  }

  // MARK: Judging

  /// What becomes of each upload; tells the destination's breaker.
  func judge(_ group: ClaimedGroup, _ outcomes: [AttemptOutcome]) async -> [SettledUpload] {
    guard let first = group.uploads.first?.entry else { return [] }
    let destination = options.destination(first.kind)
    // Those that passed first: they say that the destination is there.
    let arrived = outcomes.count { $0 == .delivered }
    if arrived > 0 { succeeded(destination, by: arrived) }
    var settled: [SettledUpload] = []
    for ((entry, _), outcome) in zip(group.uploads, outcomes) {
      let verdict = await judge(outcome, entry, destination, others: arrived > 0)
      if case .again = verdict {
      } else {
        seenSuccesses[entry.id] = nil
        accused.remove(entry.id)
      }
      report(entry, verdict)
      settled.append(SettledUpload(ordinal: entry.id, verdict: verdict))
    }
    // What goes again together is the same batch, under the same id.
    if group.uploads.count > 1, case .again(_, _, false)? = settled.first?.verdict {
      lastBatches[first.lane] = group.uploads.last?.entry.id
    }
    if seenSuccesses.count > Self.maximumSeen { seenSuccesses = [:] }
    if lastBatches.count > Self.maximumSeen { lastBatches = [:] }
    return settled
  }

  /// Tells the observer of attempts how one ended.
  func report(_ entry: ScheduleEntry, _ verdict: UploadVerdict) {
    guard let onAttempt = options.onAttempt, let result = verdict.result else { return }
    onAttempt(UploadAttempt(upload: entry.upload, kind: entry.kind, result: result))
  }

  private func judge(
    _ outcome: AttemptOutcome, _ entry: ScheduleEntry, _ destination: String, others: Bool
  ) async -> UploadVerdict {
    switch outcome {
    case .delivered: return .delivered
    case .released:
      if !others { breakers[destination]?.cancel() }
      return .released
    case .refused(let failure):
      breakers[destination]?.cancel()
      return .parked(failure, holds: options.holds(entry))
    case .failed(let failure, let cause, let retryAfter):
      let retry = options.retryPolicies[entry.kind] ?? options.retry
      // The destination took another upload right after it had failed this one: this failure says nothing about the destination.
      let isAccused = accused.contains(entry.id) && outcome.mayBeDueToUpload
      if !isAccused {
        await tell(failure, cause, retryAfter: retry.bounded(retryAfter), entry, destination, others: others)
      }
      if cause == .pausing { return .paused(failure) }
      let counts = retry.countsOutages || isAccused || self.counts(cause, entry, destination, others: others)
      let verdict = retry.verdict(
        failure, entry, counts: counts, holds: options.holds(entry), retryAfter: retryAfter,
        fraction: queue.environment.fraction())
      if case .parked = verdict, outcome.mayBeDueToUpload, !retry.countsOutages, suspects.count < Self.maximumSeen {
        suspects[destination, default: []].append(entry.upload)
      }
      seenSuccesses[entry.id] = successes[destination] ?? 0
      return verdict
    }
  }

  /// Whether a failure counts against the upload: see ``FailureCause``.
  private func counts(_ cause: FailureCause, _ entry: ScheduleEntry, _ destination: String, others: Bool) -> Bool {
    let othersPassed = others || successes[destination] ?? 0 > seenSuccesses[entry.id] ?? .max
    return switch cause {
    case .rejected: true
    case .failed: othersPassed || breakers[destination]?.isClosed ?? true
    case .unavailable: othersPassed
    case .postponed, .pausing: false
    }
  }

  /// Tells the breaker of a destination of a failure.
  private func tell(
    _ failure: UploadFailure, _ cause: FailureCause, retryAfter: Duration, _ entry: ScheduleEntry,
    _ destination: String, others: Bool
  ) async {
    // It took others of the same batch.
    if others { return }
    if cause == .rejected { return succeeded(destination, by: 1) }
    var breaker = breakers[destination] ?? CircuitBreaker()
    let now = queue.environment.now()
    let pause =
      cause == .pausing
      ? breaker.pause(now: now, failure, retryAfter: retryAfter.microseconds, options.breaker)
      : breaker.fail(
        now: now, upload: entry.id, isOutage: cause.isOutage, isAnswered: failure.status != nil && cause != .postponed,
        options.breaker)
    breakers[destination] = breaker == CircuitBreaker() ? nil : breaker
    guard let pause else { return }
    if cause == .pausing {
      queue.options.trace?(
        .destinationPaused(destination: destination, failure, pause: .microseconds(pause)))
    }
    queue.options.trace?(.breakerOpened(destination: destination, pause: .microseconds(pause)))
    await takeBackSuspects(destination)
  }

  /// A destination took uploads, or refused one for what it is.
  private func succeeded(_ destination: String, by count: Int) {
    successes[destination, default: 0] += count
    suspects[destination] = nil
    guard let breaker = breakers.removeValue(forKey: destination) else { return }
    if !breaker.isClosed { queue.options.trace?(.breakerClosed(destination: destination)) }
  }

  /// Different uploads failed, and none passed: those that were parked since the last success waited for the destination as well. They
  /// go again, before those that came after them, of which none passed either.
  private func takeBackSuspects(_ destination: String) async {
    guard let ids = suspects.removeValue(forKey: destination), !ids.isEmpty else { return }
    do {
      let left = try await queue.group.perform(isPatient: true) { change in try ids.filter { try !change.takeBack($0) }
      }
      // Those that are about to be parked go when the next probe fails.
      if !left.isEmpty, breakers[destination] != nil { suspects[destination, default: []] += left }
    } catch {
      // They stay parked, and that is told.
      _ = lasting(error)
    }
  }

  // MARK: Writing

  /// Writes what became of an attempt, and takes the next uploads in the same commit. While the store takes nothing the uploads
  /// stay with their lease: they are sent again only if this worker ends before it could be written.
  func settle(_ settled: [SettledUpload], _ lease: ScheduleEntry.Lease) async {
    while true {
      do {
        // The place of this attempt is free for another one.
        let limit = canBegin ? 1 : 0
        let (breakers, batches) = (breakers, lastBatches)
        let groups = try await queue.group.perform(isPatient: true) { change in
          for upload in settled { try change.settle(upload.ordinal, lease, upload.verdict) }
          return limit == 0 ? [] : try self.take(limit, lease, change, breakers, batches)
        }
        settlingFailure = nil
        begin(groups)
        for group in groups { start(group, lease) }
        return
      } catch {
        mirror.withLock { $0.reset() }
        settlingFailure = lasting(error)
        do { try await queue.environment.sleep(.seconds(1)) } catch { return }
      }
    }
  }
}

/// What becomes of an upload.
struct SettledUpload: Sendable {
  let ordinal: Int64
  let verdict: UploadVerdict
}

extension UploadVerdict {
  /// What observers are told; `nil` where nobody knows how the attempt ended.
  fileprivate var result: UploadAttempt.Result? {
    switch self {
    case .delivered: .delivered
    case .again(let failure, _, _): .failed(failure)
    case .paused(let failure): .paused(failure)
    case .parked(let failure, _): .parked(failure)
    case .released: nil
    }
  }
}

extension AttemptOutcome {
  /// Whether the destination took the upload, or refused it for what it is: it is in order.
  var showsDestination: Bool {
    switch self {
    case .delivered, .failed(_, .rejected, _): true
    default: false
    }
  }

  /// Whether the destination answered, and the upload may be why it failed: an answer such as 500 or 502.
  var mayBeDueToUpload: Bool {
    guard case .failed(let failure, let cause, _) = self, failure.status != nil else { return false }
    return cause == .failed || cause == .unavailable
  }

  /// Whether one of several uploads that went together may be why all of them failed.
  fileprivate var mayBeOfOne: Bool {
    switch self {
    case .failed(_, .rejected, _), .failed(_, .failed, _), .refused: true
    default: false
    }
  }
}

/// An attempt took too long.
struct AttemptTimeout: Error, CustomStringConvertible {
  let bound: Duration

  var description: String { "no answer within \(bound)" }
}
