import Documents

extension UploadWorker {
  /// Takes the next uploads, and drops those whose time is over, in one commit.
  func claim(_ limit: Int, _ lease: ScheduleEntry.Lease) async throws -> [(ScheduleEntry, Upload)] {
    let breakers = breakers
    let claimed = try await queue.group.perform { change in
      let (expired, next) = try self.choose(limit, lease, change, breakers)
      for ordinal in expired {
        let entry = try change.entry(ordinal)
        if let entry, entry.state == .waiting {
          try change.expire(entry)
        } else {
          self.mirror.withLock { $0.note(ordinal, entry) }
        }
      }
      var claimed: [(ScheduleEntry, Upload)] = []
      for entry in next {
        if let claim = try change.claim(entry, lease) {
          claimed.append(claim)
        } else {
          // Parked now, or not what the mirror took it for.
          let truth = try change.entry(entry.id)
          self.mirror.withLock { $0.note(entry.id, truth) }
        }
      }
      return claimed
    }
    let now = queue.environment.now()
    for (entry, _) in claimed { self.breakers[options.destination(entry.kind)]?.begin(now: now) }
    return claimed
  }

  /// Chooses what goes next and what has expired, and notes in the mirror that it did.
  private nonisolated func choose(
    _ limit: Int, _ lease: ScheduleEntry.Lease, _ change: QueueChange, _ breakers: [String: CircuitBreaker]
  ) throws -> (expired: [Int64], next: [ScheduleEntry]) {
    let base = change.transaction.base
    // What other calls of this commit did; it will come once more as the difference of two commits.
    let touched = try change.touched.map { ($0, try change.entry($0)) }
    let now = change.now
    let limit = change.state.pauses.isEmpty ? limit : 0
    let destination = options.destination
    return try mirror.withLock { mirror in
      try mirror.advance(to: base)
      for (ordinal, entry) in touched { mirror.note(ordinal, entry) }
      let expired = mirror.schedule.expired(now: now)
      for ordinal in expired { mirror.note(ordinal, nil) }
      var breakers = breakers
      var chosen: [ScheduleEntry] = []
      while chosen.count < limit,
        let next = mirror.schedule.next(now: now, isOpen: { breakers[$0]?.allows(now: now) ?? true })
      {
        // An open breaker lets one pass.
        breakers[destination(next.kind)]?.begin(now: now)
        chosen.append(next)
        mirror.note(next.id, next.claimed(by: lease))
      }
      return (expired, chosen)
    }
  }

  /// Sends an upload, and writes what became of it.
  func start(_ entry: ScheduleEntry, _ upload: Upload, _ lease: ScheduleEntry.Lease) {
    begin { [self] in
      let verdict = await attempt(entry, upload)
      await note(verdict, options.destination(entry.kind))
      await settle(entry, lease, verdict)
    }
  }

  /// One attempt.
  private nonisolated func attempt(_ entry: ScheduleEntry, _ upload: Upload) async -> UploadVerdict {
    if Task.isCancelled { return .released }
    let fraction = queue.environment.fraction()
    let retry = options.retryPolicies[entry.kind] ?? options.retry
    do {
      for file in upload.payload.files { try await file.checkAside() }
      let response = try await answer(upload)
      let isDone = options.isAlreadyDone(upload, response)
      return retry.verdict(response, failures: entry.failures, isDone: isDone, fraction: fraction)
    } catch is CancellationError where Task.isCancelled {
      return .released
    } catch {
      // A transport may say in its own words that it was cancelled.
      if Task.isCancelled { return .released }
      return retry.verdict(thrown: error, failures: entry.failures, fraction: fraction)
    }
  }

  /// What the transport answers, in time.
  private nonisolated func answer(_ upload: Upload) async throws -> UploadResponse {
    guard let bound = options.attemptTimeout else { return try await transport(upload) }
    return try await withThrowingTaskGroup(of: UploadResponse?.self) { group in
      group.addTask { [transport] in try await transport(upload) }
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

  /// Tells the destination's breaker.
  private func note(_ verdict: UploadVerdict, _ destination: String) {
    var breaker = breakers[destination] ?? CircuitBreaker()
    switch verdict {
    case .released, .refused: breaker.cancel()
    case .delivered:
      if !breaker.isClosed { queue.options.trace?(.breakerClosed(destination: destination)) }
      breaker.succeed()
    case .parked(let failure) where failure.status.map { !UploadRetryPolicy.mayPass(status: $0) } ?? false:
      // It refuses this upload, but it is there.
      if !breaker.isClosed { queue.options.trace?(.breakerClosed(destination: destination)) }
      breaker.succeed()
    case .again, .parked:
      if let pause = breaker.fail(now: queue.environment.now(), options.breaker) {
        queue.options.trace?(.breakerOpened(destination: destination, pause: .microseconds(pause)))
      }
    }
    breakers[destination] = breaker == CircuitBreaker() ? nil : breaker
  }

  /// Writes what became of an attempt. While the store takes nothing the upload stays with its lease: it is sent again only
  /// if this worker ends before it could be written.
  private func settle(_ entry: ScheduleEntry, _ lease: ScheduleEntry.Lease, _ verdict: UploadVerdict) async {
    while true {
      do {
        try await queue.group.perform { try $0.settle(entry.id, lease, verdict) }
        settlingFailure = nil
        return
      } catch {
        settlingFailure = lasting(error)
        do { try await queue.environment.sleep(.seconds(1)) } catch { return }
      }
    }
  }
}

/// An attempt took too long.
struct AttemptTimeout: Error, CustomStringConvertible {
  let bound: Duration

  var description: String { "no answer within \(bound)" }
}
