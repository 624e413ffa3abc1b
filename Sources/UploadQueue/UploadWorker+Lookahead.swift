import Documents

/// Finds uploads that fail while their destination is in order.
///
/// Only the first upload of an order key may go. If it and the next few fail, the failures look like an outage: the circuit breaker
/// opens, and each probe is the first upload again. So when a probe has used up its retries and is answered with a failure such as
/// 500, the worker tries the uploads that follow it under the same order key, at once and one after another:
///
/// - All of them fail: nothing is known, nothing counts, and the order is kept. The next probe comes after the next pause.
/// - The destination takes one: the uploads before it failed an instant ago, so the failures are theirs. They go on in order, each of
///   their attempts so far counts, and none of them tells the breaker anything: each is parked when it fails and has no retry left.
///
/// The order changes only for uploads that fail. If the destination recovers within such a sequence, one that failed before
/// arrives after the one that it took. An attempt without an answer ends the sequence, as does one that pauses the destination. Keys that are held in order (``OnParked/hold``) are left alone.
extension UploadWorker {
  /// How many uploads to try after a group that was sent.
  func takeLookahead(_ group: ClaimedGroup, _ outcomes: [AttemptOutcome]) -> Int {
    guard let probe = group.uploads.first?.entry, outcomes.first?.mayBeDueToUpload == true else { return 0 }
    let policy = options.retryPolicies[probe.kind] ?? options.retry
    // The attempt that has just ended is one of `attempts`.
    if policy.countsOutages || options.holds(probe) || probe.attempts <= policy.maximumRetries { return 0 }
    return breakers[options.destination(probe.kind)]?.takeLookahead() ?? 0
  }

  /// Tries the uploads after a probe, until the destination takes one. Of a batch the first upload is tried alone before: another one
  /// may be why the batch failed.
  func lookAhead(of group: ClaimedGroup, _ limit: Int, _ lease: ScheduleEntry.Lease) async {
    guard let probe = group.uploads.first?.entry else { return }
    let destination = options.destination(probe.kind)
    defer { breakers[destination]?.endLookahead() }
    let followers = mirror.withLock { $0.schedule.followers(of: probe, limit: limit) }
    var failed = group.uploads.count > 1 ? [] : [probe.id]
    for ordinal in group.uploads.count > 1 ? [probe.id] + followers : followers {
      guard !isClosing, !Task.isCancelled, breakers[destination]?.isClosed == false,
        let group = await claim(ordinal, to: destination, lease), let entry = group.uploads.first?.entry
      else { return }
      let outcomes = await attempt(group)
      if case .failed(let failure, _, _)? = outcomes.first, outcomes[0].mayBeDueToUpload {
        failed.append(ordinal)
        let verdict = UploadVerdict.again(failure, after: 0, counts: false)
        report(entry, verdict)
        await settle([SettledUpload(ordinal: ordinal, verdict: verdict)], lease)
        continue
      }
      let verdicts = await judge(group, outcomes)
      // Before the attempt is written, so that nothing of the order key goes meanwhile.
      if outcomes.first?.showsDestination == true { await accuse(failed, probe.kind) }
      await settle(verdicts, lease)
      return
    }
  }

  /// Takes one upload out of its turn; `nil` if it cannot go, or the queue cannot be written.
  private func claim(
    _ ordinal: Int64, to destination: String, _ lease: ScheduleEntry.Lease
  ) async -> ClaimedGroup? {
    do {
      return try await queue.group.perform(isPatient: true) { change in
        guard change.state.pauses.isEmpty else { return nil }
        let entry = try self.withMirror(of: change) { mirror in
          let entry = mirror.schedule.candidate(ordinal, now: change.now)
          guard let entry, self.options.destination(entry.kind) == destination else { return nil as ScheduleEntry? }
          mirror.note(ordinal, entry.claimed(by: lease))
          return entry
        }
        guard let entry else { return nil }
        guard let claim = try change.claim(entry, lease) else {
          let truth = try change.entry(ordinal)
          self.mirror.withLock { $0.note(ordinal, truth) }
          return nil
        }
        return ClaimedGroup(uploads: [claim], isBatch: self.isBatched(entry) && claim.1.payload.files.isEmpty)
      }
    } catch {
      mirror.withLock { $0.reset() }
      _ = lasting(error)
      return nil
    }
  }

  /// Has failures count against uploads whose destination took another one meanwhile.
  private func accuse(_ ordinals: [Int64], _ kind: String) async {
    if ordinals.isEmpty { return }
    let limit = (options.retryPolicies[kind] ?? options.retry).maximumRetries
    do {
      try await queue.group.perform(isPatient: true) { change in
        for ordinal in ordinals { try change.accuse(ordinal, limit: limit) }
      }
      if accused.count > Self.maximumSeen { accused = [] }
      accused.formUnion(ordinals)
    } catch {
      // They go on as if nothing were known.
      _ = lasting(error)
    }
  }
}
