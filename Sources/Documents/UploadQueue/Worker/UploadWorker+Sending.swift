import Documents

/// Uploads that a worker claimed together: one, or a batch.
struct ClaimedGroup: Sendable {
  var uploads: [(entry: ScheduleEntry, upload: Upload)]
  /// Whether it is sent with the batch transport, even if it has only one upload.
  var isBatch: Bool
}

extension UploadWorker {
  // MARK: Claiming

  /// Claims the next uploads and drops expired ones, in one commit.
  func claim(_ limit: Int, _ lease: ScheduleEntry.Lease) async throws -> [ClaimedGroup] {
    let (breakers, batches) = (breakers, lastBatches)
    let groups = try await queue.group.perform(mayWait: true) { change in
      try self.take(limit, lease, change, breakers, batches)
    }
    begin(groups)
    return groups
  }

  /// Records in the breakers that attempts begin.
  private func begin(_ groups: [ClaimedGroup]) {
    let now = queue.environment.uptime()
    for entry in groups.compactMap(\.uploads.first?.entry) {
      let destination = options.destination(entry.kind)
      breakers[destination]?.begin(now: now, lane: entry.lane)
      lastBatches[entry.lane] = nil
    }
    for (entry, _) in groups.flatMap(\.uploads) where seenSuccesses[entry.id] == nil {
      seenSuccesses[entry.id] = successes[options.destination(entry.kind)] ?? 0
    }
  }

  /// Claims the next uploads inside a commit, up to `limit` groups.
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
        mirror.withLock { $0.record(ordinal, entry) }
      }
    }
    return try next.compactMap { entries in
      var group = ClaimedGroup(uploads: [], isBatch: isBatched(entries[0]))
      var isFull = false
      for entry in entries {
        // An upload with files is sent alone.
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
        // The upload was parked now, differs from the mirror's entry, or is left for another request.
        if !group.uploads.isEmpty { isFull = true }
        let current = try change.entry(entry.id)
        mirror.withLock { $0.record(entry.id, current) }
      }
      return group.uploads.isEmpty ? nil : group
    }
  }

  nonisolated func isBatched(_ entry: ScheduleEntry) -> Bool {
    batchTransport != nil && options.batch(entry.kind) != nil
  }

  /// Chooses the next uploads and the expired ones, and records both in the mirror.
  private nonisolated func choose(
    _ limit: Int, _ lease: ScheduleEntry.Lease, _ change: QueueChange, _ breakers: [String: CircuitBreaker],
    _ batches: [String: Int64]
  ) throws -> (expired: [Int64], next: [[ScheduleEntry]]) {
    let now = change.time
    let limit = change.state.pauses.isEmpty ? limit : 0
    let destination = options.destination
    return try withMirror(of: change) { mirror in
      let expired = mirror.schedule.expired(now: now)
      for ordinal in expired { mirror.record(ordinal, nil) }
      var breakers = breakers
      var chosen: [[ScheduleEntry]] = []
      while chosen.count < limit, let next = Self.next(&mirror.schedule, now, breakers) {
        // An open breaker allows one probe.
        breakers[destination(next.kind)]?.begin(now: now.steady, lane: next.lane)
        let last = batches[next.lane] ?? .max
        let group =
          isBatched(next)
          ? mirror.schedule.batch(startingWith: next, through: max(last, next.id), now: now) : [next]
        chosen.append(group)
        for entry in group { mirror.record(entry.id, entry.claimed(by: lease)) }
      }
      return (expired, chosen)
    }
  }

  /// Calls `body` with a mirror that includes the changes of the current, uncommitted transaction.
  nonisolated func withMirror<Result: Sendable>(
    of change: QueueChange, _ body: (inout ScheduleMirror) throws -> Result
  ) throws -> Result {
    let base = change.transaction.base
    // Changes by other calls that share this commit. The difference between two commits will contain them again.
    let touched = try change.touched.map { ($0, try change.entry($0)) }
    return try mirror.withLock { mirror in
      try mirror.advance(to: base)
      for (ordinal, entry) in touched { mirror.record(ordinal, entry) }
      return try body(&mirror)
    }
  }

  /// The next upload that the breakers allow; `nil` if no upload is ready.
  static func next(
    _ schedule: inout DueQueue, _ now: QueueTime, _ breakers: [String: CircuitBreaker]
  ) -> ScheduleEntry? {
    schedule.next(
      now: now, isOpen: { breakers[$0]?.allows(now: now.steady) ?? true },
      probes: { name in breakers[name].flatMap { $0.isClosed ? nil : $0.probes } })
  }

  // MARK: Sending

  /// Sends a group and writes the results.
  func start(_ group: ClaimedGroup, _ lease: ScheduleEntry.Lease) {
    begin { [self] in
      let outcomes = await attempt(group)
      let verdicts = await judge(group, outcomes)
      let lookahead = await takeLookahead(group, outcomes, verdicts)
      let key = lookahead > 0 ? group.uploads.first?.entry.orderKey : nil
      if let key { mirror.withLock { $0.schedule.beginLookahead(key) } }
      await settle(verdicts, lease)
      if lookahead > 0 { await lookAhead(of: group, lookahead, lease) }
      if let key { mirror.withLock { $0.schedule.endLookahead(key) } }
    }
  }

  /// Makes one attempt, and returns the outcome for each upload.
  nonisolated func attempt(_ group: ClaimedGroup) async -> [AttemptOutcome] {
    if Task.isCancelled { return group.uploads.map { _ in .released } }
    if group.isBatch, let batchTransport { return await attempt(group.uploads.map(\.upload), batchTransport) }
    var outcomes: [AttemptOutcome] = []
    for (entry, upload) in group.uploads { outcomes.append(await attempt(entry, upload)) }
    return outcomes
  }

  private nonisolated func attempt(_ entry: ScheduleEntry, _ upload: Upload) async -> AttemptOutcome {
    do {
      for file in upload.payload.files { try await file.checkOffPool() }
      let response = try await answer { [transport] in try await transport(upload) }
      if options.isAlreadyDone(upload, response) { return .delivered }
      return outcome(response, entry.kind)
    } catch is CancellationError where Task.isCancelled {
      return .released
    } catch {
      // A transport may report cancellation with its own type of error.
      return Task.isCancelled ? .released : AttemptOutcome(thrown: error)
    }
  }

  /// The outcome of an answer, by its status and the success rule.
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

  /// Sends a batch. If the server refuses all of it, or answers with an error like 500, a single upload may be the
  /// cause: the batch is then split into halves until that upload is found. The uploads after it wait, to preserve the
  /// order.
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
      } else if range.count > 1, outcome.mayBeDueToOne, !Task.isCancelled {
        let middle = range.lowerBound + range.count / 2
        ranges.append(middle..<range.upperBound)
        ranges.append(range.lowerBound..<middle)
      } else {
        // The first upload represents the rest, which wait after it and are sent together again.
        outcomes[range.lowerBound] = outcome
        return outcomes
      }
    }
    return outcomes
  }

  /// Calls a transport with the attempt's timeout.
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

  // MARK: Evaluating outcomes

  /// Decides the consequence for each upload, and updates the destination's breaker.
  func judge(_ group: ClaimedGroup, _ outcomes: [AttemptOutcome]) async -> [SettledUpload] {
    guard let first = group.uploads.first?.entry else { return [] }
    let destination = options.destination(first.kind)
    // Successes first: they show that the destination works.
    let arrived = outcomes.count { $0 == .delivered }
    if arrived > 0 { succeeded(destination, by: arrived) }
    var settled: [SettledUpload] = []
    for ((entry, _), outcome) in zip(group.uploads, outcomes) {
      let verdict = await judge(outcome, entry, destination, others: arrived > 0)
      if case .again = verdict {
      } else {
        seenSuccesses[entry.id] = nil
        blamed.remove(entry.id)
      }
      report(entry, verdict)
      settled.append(SettledUpload(ordinal: entry.id, verdict: verdict))
    }
    // Uploads that are retried together form the same batch, under the same ID.
    if group.uploads.count > 1, case .again(_, _, false)? = settled.first?.verdict {
      lastBatches[first.lane] = group.uploads.last?.entry.id
    }
    if seenSuccesses.count > Self.maximumSeen { seenSuccesses = [:] }
    if lastBatches.count > Self.maximumSeen { lastBatches = [:] }
    return settled
  }

  /// Reports the end of an attempt to the `onAttempt` callback.
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
      // The destination accepted another upload right after this one failed, so this failure says nothing about it.
      let isBlamed = blamed.contains(entry.id) && outcome.mayBeDueToUpload
      if !isBlamed {
        await updateBreaker(failure, cause, retryAfter: retry.bounded(retryAfter), entry, destination, others: others)
      }
      if cause == .pausing { return .paused(failure) }
      let counts = retry.countsOutages || isBlamed || self.counts(cause, entry, destination, others: others)
      var verdict = retry.verdict(
        failure, entry, counts: counts, holds: options.holds(entry), retryAfter: retryAfter,
        fraction: queue.environment.fraction())
      if !counts, cause == .failed, breakers[destination]?.isClosed ?? true,
        entry.failedFor ?? 0 >= retry.outageTime.microseconds
      {
        verdict = .parked(failure, holds: options.holds(entry), isSuspect: true)
        destinationsInDoubt.insert(destination)
      } else if !counts, cause != .postponed, destinationsInDoubt.contains(destination),
        entry.attempts > retry.maximumRetries
      {
        // It fails as those before it did, and nothing has arrived since: that was an outage.
        await takeBackSuspects(destination)
      }
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
    case .failed, .unavailable: othersPassed
    case .postponed, .pausing: false
    }
  }

  /// Records a failure in the destination's breaker.
  func updateBreaker(
    _ failure: UploadFailure, _ cause: FailureCause, retryAfter: Duration, _ entry: ScheduleEntry,
    _ destination: String, others: Bool
  ) async {
    // The destination accepted other uploads of the same batch.
    if others { return }
    if cause == .rejected { return succeeded(destination, by: 1) }
    var breaker = breakers[destination] ?? CircuitBreaker()
    let now = queue.environment.uptime()
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

  /// Records that a destination accepted uploads, or refused one because of its content.
  private func succeeded(_ destination: String, by count: Int) {
    successes[destination, default: 0] += count
    let former = suspects.removeValue(forKey: destination) ?? []
    if destinationsInDoubt.remove(destination) != nil { confirmed.formUnion(former) }
    guard let breaker = breakers.removeValue(forKey: destination) else { return }
    if !breaker.isClosed { queue.options.trace?(.breakerClosed(destination: destination)) }
  }

  /// Unparks the suspects of a destination. When its breaker opens, different uploads have failed and none has arrived,
  /// so the uploads parked since the last success were also waiting for the destination. They are retried, before the
  /// later uploads, none of which has arrived either.
  private func takeBackSuspects(_ destination: String) async {
    destinationsInDoubt.remove(destination)
    guard let ids = suspects.removeValue(forKey: destination), !ids.isEmpty else { return }
    do {
      let left = try await queue.group.perform(mayWait: true) { change in try ids.filter { try !change.takeBack($0) }
      }
      // Uploads that are about to be parked are unparked when the next probe fails.
      if !left.isEmpty, breakers[destination] != nil { suspects[destination, default: []] += left }
    } catch {
      // They stay parked, and the error is traced.
      _ = persistentError(error)
    }
  }

  // MARK: Writing

  /// Writes the results of an attempt and claims the next uploads in the same commit. While the store cannot be
  /// written, the uploads stay leased, and writing is retried: they are sent again only if this worker ends before it
  /// succeeds.
  func settle(_ settled: [SettledUpload], _ lease: ScheduleEntry.Lease) async {
    while true {
      do {
        // This attempt has ended, so another one may begin.
        let limit = canBegin ? 1 : 0
        let (breakers, batches, confirmed) = (breakers, lastBatches, confirmed)
        let groups = try await queue.group.perform(mayWait: true) { change in
          for id in confirmed { try change.confirmParking(id) }
          for upload in settled { try change.settle(upload.ordinal, lease, upload.verdict) }
          return limit == 0 ? [] : try self.take(limit, lease, change, breakers, batches)
        }
        settleFailure = nil
        self.confirmed.subtract(confirmed)
        begin(groups)
        for group in groups { start(group, lease) }
        return
      } catch {
        mirror.withLock { $0.reset() }
        settleFailure = persistentError(error)
        do { try await queue.environment.sleep(.seconds(1)) } catch { return }
      }
    }
  }
}

/// An upload with the consequence of its attempt.
struct SettledUpload: Sendable {
  let ordinal: Int64
  let verdict: UploadVerdict
}

extension UploadVerdict {
  /// The result for the `onAttempt` callback; `nil` if it is unknown.
  fileprivate var result: UploadAttempt.Result? {
    switch self {
    case .delivered: .delivered
    case .again(let failure, _, _): .failed(failure)
    case .paused(let failure): .paused(failure)
    case .parked(let failure, _, _): .parked(failure)
    case .released: nil
    }
  }
}

extension AttemptOutcome {
  /// Whether the outcome shows that the destination works: it accepted the upload, or refused it because of its
  /// content.
  var showsDestinationWorks: Bool {
    switch self {
    case .delivered, .failed(_, .rejected, _): true
    default: false
    }
  }

  /// Whether the destination answered, and the upload itself may be the cause of the failure: an answer like 500 or
  /// 502.
  var mayBeDueToUpload: Bool {
    guard case .failed(let failure, let cause, _) = self, failure.status != nil else { return false }
    return cause == .failed || cause == .unavailable
  }

  /// Whether a single upload of a batch may be the cause of the failure of all.
  fileprivate var mayBeDueToOne: Bool {
    switch self {
    case .failed(_, .rejected, _), .failed(_, .failed, _), .refused: true
    default: false
    }
  }
}

/// An attempt timed out.
struct AttemptTimeout: Error, CustomStringConvertible {
  let bound: Duration

  var description: String { "no answer within \(bound)" }
}
