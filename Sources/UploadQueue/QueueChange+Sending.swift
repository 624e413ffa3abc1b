import Documents
import LogStore

/// What became of an attempt.
enum UploadVerdict: Sendable, Equatable {
  /// It arrived.
  case delivered
  /// It failed, and may pass after this many microseconds.
  case again(UploadFailure, after: Int64, counts: Bool)
  /// It waits again, and nothing counts: the answer paused its destination.
  case paused(UploadFailure)
  /// It failed for good, or was not even tried, because its file is another one or the transport will not send it.
  case parked(UploadFailure, holds: Bool)
  /// Nobody knows: the attempt was cancelled.
  case released
}

extension QueueChange {
  /// Gives an upload to a worker.
  ///
  /// - Parameters:
  ///   - takesFile: whether it may be a file; if it must not and is one, it is left as it is.
  ///   - holds: whether it holds its order key if it has to be parked.
  /// - Returns: the upload; `nil` if it is gone or no longer as it was, which changes nothing, or if its payload is gone or
  ///   cannot be read, which parks it: it must not hold up the others.
  func claim(
    _ entry: ScheduleEntry, _ lease: ScheduleEntry.Lease, takesFile: Bool = true, holds: Bool = false
  ) throws -> (ScheduleEntry, Upload)? {
    guard try self.entry(entry.id) == entry else { return nil }
    let stored: StoredUpload?
    do { stored = try transaction.get(entry.upload, from: tables.uploads) } catch let error as DocumentStoreError {
      try park(entry, UploadFailure(message: "the payload cannot be read: \(error)"), holds: holds)
      return nil
    } catch let error as StoreError {
      guard case .damaged = error else { throw error }
      try park(entry, UploadFailure(message: "the payload cannot be read: \(error)"), holds: holds)
      return nil
    }
    guard let stored else {
      try park(entry, UploadFailure(message: "the payload is missing"), holds: holds)
      return nil
    }
    if !takesFile, !stored.payload.files.isEmpty { return nil }
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
    case .again(let failure, let pause, let counts):
      if try isReplaced(entry) { return try supersede(entry) }
      if let expires = entry.expires, expires <= now { return try expire(entry) }
      var waiting = entry
      waiting.failures += 1
      if counts { waiting.ownFailures = (entry.ownFailures ?? 0) + 1 }
      waiting.lastError = failure
      waiting.notBefore = now.adding(pause)
      try wait(&waiting, replacing: entry)
      events.append(.backedOff(entry.upload, failure, notBefore: waiting.notBefore))
    case .paused(let failure):
      if try isReplaced(entry) { return try supersede(entry) }
      if let expires = entry.expires, expires <= now { return try expire(entry) }
      var waiting = entry
      waiting.lastError = failure
      try wait(&waiting, replacing: entry)
      events.append(.backedOff(entry.upload, failure, notBefore: waiting.notBefore))
    case .parked(let failure, let holds):
      if try isReplaced(entry) { return try supersede(entry) }
      try park(entry, failure, holds: holds)
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
  func takeOver(
    _ ordinal: Int64, _ lease: ScheduleEntry.Lease, limit: Int, holds: (ScheduleEntry) -> Bool = { _ in false }
  ) throws {
    guard let entry = try entry(ordinal), entry.lease == lease else { return }
    var waiting = entry
    waiting.interruptions += 1
    if waiting.interruptions > limit {
      return try park(
        waiting, UploadFailure(message: "its worker ended \(waiting.interruptions) times while it was sent"),
        holds: holds(entry))
    }
    if try isReplaced(entry) { return try supersede(entry) }
    try wait(&waiting, replacing: entry)
    events.append(.takenOver(entry.upload))
  }

  /// Lets an upload go again that was parked while its destination was out of order, as if it had not failed. One that waits, or
  /// is gone, is left alone.
  ///
  /// - Returns: false for one that is still being sent, which may be parked soon.
  func takeBack(_ id: UploadID) throws -> Bool {
    guard let upload = try transaction.get(id, from: tables.uploads), let entry = try entry(upload.ordinal) else {
      return true
    }
    if entry.state == .sending { return false }
    guard entry.state == .parked else { return true }
    if try isReplaced(entry) {
      try supersede(entry)
    } else {
      try put(entry.letGo(now: now), replacing: entry)
      events.append(.takenBack(id))
    }
    return true
  }

  /// Counts the attempts of an upload against it, up to `limit`, and has it go now. One that is no longer waiting is left alone.
  func accuse(_ ordinal: Int64, limit: Int) throws {
    guard let entry = try entry(ordinal), entry.state == .waiting else { return }
    var accused = entry
    accused.ownFailures = max(entry.ownFailures ?? 0, min(entry.attempts, limit))
    accused.notBefore = min(entry.notBefore, now)
    try put(accused, replacing: entry)
  }

  /// Lets the order key go on that a parked upload holds.
  func releaseKey(_ ordinal: Int64) throws {
    guard let entry = try entry(ordinal), entry.holdsKey == true else { return }
    var released = entry
    released.holdsKey = nil
    try put(released, replacing: entry)
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

  private func park(_ entry: ScheduleEntry, _ failure: UploadFailure, holds: Bool) throws {
    var parked = entry
    parked.state = .parked
    parked.lease = nil
    parked.parked = now
    parked.holdsKey = holds && entry.orderKey != nil ? true : nil
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
