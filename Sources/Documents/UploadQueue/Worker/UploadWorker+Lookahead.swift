import Documents

/// Look-ahead: distinguishes failing uploads from an outage of their destination.
///
/// Normally only the first upload of an order key is sent. If it fails repeatedly, that may be its own fault or an outage:
/// nothing else is sent that would tell. So when it has used up its retries and is answered with a failure like 500, the
/// worker immediately tries the uploads that follow it under the same order key, one after another. While the circuit
/// breaker is closed, it does so after each failure, and as many failures as open the breaker do. While the breaker is
/// open, it does so after a probe:
///
/// - If all of them fail, nothing is learned, nothing counts, and the order is preserved. The next probe comes after
///   the next pause.
/// - If the destination accepts one, the uploads before it, which failed an instant earlier, are at fault. They
///   continue in order, each of their attempts so far counts, and their failures no longer affect the breaker: each is
///   parked when it fails with no retry left.
///
/// Until the sequence is over, this worker sends no other upload of the order key, however long each answer takes.
///
/// The order changes only for uploads that fail. If the destination recovers within such a sequence, an upload that
/// failed before arrives after the one that was accepted. An attempt without an answer ends the sequence, as does one
/// that pauses the destination. Keys that are held in order (``ParkedUploadPolicy/hold``) are not looked ahead.
extension UploadWorker {
  /// The number of uploads to try after a group that was sent; 0 for none.
  func takeLookahead(_ group: ClaimedGroup, _ outcomes: [AttemptOutcome], _ settled: [SettledUpload]) -> Int {
    guard let probe = group.uploads.first?.entry, outcomes.first?.mayBeDueToUpload == true,
      case .again(_, _, counts: false)? = settled.first?.verdict
    else { return 0 }
    let policy = options.retryPolicies[probe.kind] ?? options.retry
    // `attempts` includes the attempt that has just ended.
    if policy.countsOutages || options.holds(probe) || probe.attempts <= policy.maximumRetries { return 0 }
    let destination = options.destination(probe.kind)
    guard let breaker = breakers[destination] else { return 0 }
    return breaker.isClosed ? options.breaker.failures : breakers[destination]?.takeLookahead() ?? 0
  }

  /// Tries the uploads after a probe until the destination accepts one. After a batch, the first upload of the batch is
  /// tried alone before them, because another one may be the cause of the batch's failure.
  func lookAhead(of group: ClaimedGroup, _ limit: Int, _ lease: ScheduleEntry.Lease) async {
    guard let probe = group.uploads.first?.entry else { return }
    let destination = options.destination(probe.kind)
    let wasClosed = breakers[destination]?.isClosed
    defer { breakers[destination]?.endLookahead() }
    let followers = mirror.withLock { $0.schedule.followers(of: probe, limit: limit) }
    var failed = group.uploads.count > 1 ? [] : [probe.id]
    for ordinal in group.uploads.count > 1 ? [probe.id] + followers : followers {
      guard !isClosing, !Task.isCancelled, breakers[destination]?.isClosed == wasClosed, wasClosed != nil,
        let group = await claim(ordinal, to: destination, lease), let entry = group.uploads.first?.entry
      else { return }
      let outcomes = await attempt(group)
      if case .failed(let failure, let cause, _)? = outcomes.first, outcomes[0].mayBeDueToUpload {
        failed.append(ordinal)
        if wasClosed == true {
          await updateBreaker(failure, cause, retryAfter: .zero, entry, destination, others: false)
        }
        let verdict = UploadVerdict.again(failure, after: 0, counts: false)
        report(entry, verdict)
        await settle([SettledUpload(ordinal: ordinal, verdict: verdict)], lease)
        continue
      }
      let verdicts = await judge(group, outcomes)
      // Before the result is written, so that no other upload of the order key is sent meanwhile.
      if outcomes.first?.showsDestinationWorks == true { await blame(failed, probe.kind) }
      await settle(verdicts, lease)
      return
    }
  }

  /// Claims one upload out of order; `nil` if it may not be sent, or the queue cannot be written.
  private func claim(
    _ ordinal: Int64, to destination: String, _ lease: ScheduleEntry.Lease
  ) async -> ClaimedGroup? {
    do {
      return try await queue.group.perform(mayWait: true) { change in
        guard change.state.pauses.isEmpty else { return nil }
        let entry = try self.withMirror(of: change) { mirror in
          let entry = mirror.schedule.candidate(ordinal, now: change.time)
          guard let entry, self.options.destination(entry.kind) == destination else { return nil as ScheduleEntry? }
          mirror.record(ordinal, entry.claimed(by: lease))
          return entry
        }
        guard let entry else { return nil }
        guard let claim = try change.claim(entry, lease) else {
          let current = try change.entry(ordinal)
          self.mirror.withLock { $0.record(ordinal, current) }
          return nil
        }
        return ClaimedGroup(uploads: [claim], isBatch: self.isBatched(entry) && claim.1.payload.files.isEmpty)
      }
    } catch {
      mirror.withLock { $0.reset() }
      _ = persistentError(error)
      return nil
    }
  }

  /// Counts the failures against uploads whose destination accepted another upload meanwhile.
  private func blame(_ ordinals: [Int64], _ kind: String) async {
    if ordinals.isEmpty { return }
    let limit = (options.retryPolicies[kind] ?? options.retry).maximumRetries
    do {
      try await queue.group.perform(mayWait: true) { change in
        for ordinal in ordinals { try change.blame(ordinal, limit: limit) }
      }
      if blamed.count > Self.maximumSeen { blamed = [] }
      blamed.formUnion(ordinals)
    } catch {
      // The uploads continue as if the look-ahead had learned nothing.
      _ = persistentError(error)
    }
  }
}
