import Documents

/// What became of an attempt.
enum UploadVerdict: Sendable, Equatable {
  /// It arrived.
  case delivered
  /// It failed, and may pass after this many microseconds.
  case again(UploadFailure, after: Int64)
  /// It failed for good.
  case parked(UploadFailure)
  /// It was not even tried: its file is another one, or the transport will not send it.
  case refused(UploadFailure)
  /// Nobody knows: the attempt was cancelled.
  case released
}

extension QueueChange {
  /// Gives an upload to a worker.
  ///
  /// - Returns: the upload; `nil` if it is gone or no longer as it was, which changes nothing, or if its payload is gone or
  ///   cannot be read, which parks it: it must not hold up the others.
  func claim(_ entry: ScheduleEntry, _ lease: ScheduleEntry.Lease) throws -> (ScheduleEntry, Upload)? {
    guard try self.entry(entry.id) == entry else { return nil }
    let stored: StoredUpload?
    do { stored = try transaction.get(entry.upload, from: tables.uploads) } catch let error as DocumentStoreError {
      try park(entry, UploadFailure(message: "the payload cannot be read: \(error)"))
      return nil
    }
    guard let stored else {
      try park(entry, UploadFailure(message: "the payload is missing"))
      return nil
    }
    let claimed = entry.claimed(by: lease)
    try put(claimed, replacing: entry)
    events.append(.claimed(entry.upload, attempt: claimed.attempts))
    return (claimed, Upload(claimed, stored.payload))
  }

  /// Writes what became of an attempt. An upload that has another lease by now, or none, is left alone.
  func settle(_ ordinal: Int64, _ lease: ScheduleEntry.Lease, _ verdict: UploadVerdict) throws {
    guard let entry = try entry(ordinal), entry.lease == lease else { return }
    switch verdict {
    case .delivered:
      try remove(entry)
      state.counts.delivered += 1
      events.append(.delivered(entry.upload))
    case .again(let failure, let pause):
      if try isReplaced(entry) { return try supersede(entry) }
      if let expires = entry.expires, expires <= now { return try expire(entry) }
      var waiting = entry
      waiting.failures += 1
      waiting.lastError = failure
      waiting.notBefore = now.adding(pause)
      try wait(&waiting, replacing: entry)
      events.append(.backedOff(entry.upload, failure, notBefore: waiting.notBefore))
    case .parked(let failure), .refused(let failure):
      if try isReplaced(entry) { return try supersede(entry) }
      try park(entry, failure)
    case .released:
      if try isReplaced(entry) { return try supersede(entry) }
      var waiting = entry
      try wait(&waiting, replacing: entry)
      events.append(.released(entry.upload))
    }
  }

  /// Takes an upload from a worker that is no more.
  ///
  /// - Parameter limit: how often that may happen before it is parked: it may be what ends them.
  func takeOver(_ ordinal: Int64, _ lease: ScheduleEntry.Lease, limit: Int) throws {
    guard let entry = try entry(ordinal), entry.lease == lease else { return }
    var waiting = entry
    waiting.interruptions += 1
    if waiting.interruptions > limit {
      return try park(
        waiting, UploadFailure(message: "its worker ended \(waiting.interruptions) times while it was sent"))
    }
    if try isReplaced(entry) { return try supersede(entry) }
    try wait(&waiting, replacing: entry)
    events.append(.takenOver(entry.upload))
  }

  /// Ends the pause of an upload whose last attempt got no answer. One that is something else by now is left alone.
  func hasten(_ ordinal: Int64) throws {
    guard let entry = try entry(ordinal), entry.isUnanswered, entry.notBefore > now else { return }
    var hastened = entry
    hastened.notBefore = now
    try put(hastened, replacing: entry)
  }

  private func wait(_ entry: inout ScheduleEntry, replacing old: ScheduleEntry) throws {
    entry.state = .waiting
    entry.lease = nil
    try put(entry, replacing: old)
  }

  private func park(_ entry: ScheduleEntry, _ failure: UploadFailure) throws {
    var parked = entry
    parked.state = .parked
    parked.lease = nil
    parked.failures += 1
    parked.lastError = failure
    try put(parked, replacing: entry)
    events.append(.parked(entry.upload, failure))
  }

  /// Gives up an upload whose time is over.
  func expire(_ entry: ScheduleEntry) throws {
    try remove(entry)
    state.counts.expired += 1
    events.append(.expired(entry.upload))
  }
}
