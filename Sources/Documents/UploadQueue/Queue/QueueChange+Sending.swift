import Documents
import LogStore

/// The consequence of an attempt for its upload.
enum UploadVerdict: Sendable, Equatable {
  /// It was delivered.
  case delivered
  /// It failed temporarily and is retried after this many microseconds.
  case again(UploadFailure, after: Int64, counts: Bool)
  /// It waits again and nothing counts, because the answer paused its destination.
  case paused(UploadFailure)
  /// It failed permanently, or was not attempted because its file has changed or the transport refuses to send it.
  ///
  /// - Parameter isSuspect: Whether it failed alone for so long that it cannot be an outage.
  case parked(UploadFailure, holds: Bool, isSuspect: Bool = false)
  /// The result is unknown: the attempt was cancelled.
  case released
}

extension QueueChange {
  /// Claims an upload for a worker.
  ///
  /// - Parameters:
  ///   - takesFile: Whether to claim an upload with files. If false, such an upload is not changed.
  ///   - holds: Whether the upload holds its order key if it must be parked.
  /// - Returns: The claimed upload. `nil` if it is gone or its entry has changed, in which case nothing is written; or
  ///   if its payload is missing or unreadable, in which case it is parked so that it does not block others.
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

  /// Writes the result of an attempt. Does nothing if the upload now has another lease, or none.
  func settle(_ ordinal: Int64, _ lease: ScheduleEntry.Lease, _ verdict: UploadVerdict) throws {
    guard let entry = try entry(ordinal), entry.lease == lease else { return }
    switch verdict {
    case .delivered:
      try remove(entry)
      state.counts.delivered += 1
      events.append(.delivered(entry.upload))
    case .again(let failure, let pause, let counts):
      // An upload whose time is over is removed when the next ones are chosen.
      if try isReplaced(entry) { return try supersede(entry) }
      var waiting = entry
      waiting.failures += 1
      if counts { waiting.ownFailures = (entry.ownFailures ?? 0) + 1 }
      waiting.lastError = failure
      waiting.failedFor = (entry.failedFor ?? 0).adding(pause)
      waiting.begin(pause: pause, now: now)
      try wait(&waiting, replacing: entry)
      events.append(.backedOff(entry.upload, failure, notBefore: waiting.notBefore))
    case .paused(let failure):
      if try isReplaced(entry) { return try supersede(entry) }
      var waiting = entry
      waiting.lastError = failure
      try wait(&waiting, replacing: entry)
      events.append(.backedOff(entry.upload, failure, notBefore: waiting.notBefore))
    case .parked(let failure, let holds, let isSuspect):
      if try isReplaced(entry) { return try supersede(entry) }
      try park(entry, failure, holds: holds, isSuspect: isSuspect)
    case .released:
      if try isReplaced(entry) { return try supersede(entry) }
      var waiting = entry
      try wait(&waiting, replacing: entry)
      events.append(.released(entry.upload))
    }
  }

  /// Takes an upload over from a worker that has ended.
  ///
  /// - Parameter limit: The number of times that this may happen before the upload is parked, because it may be what
  ///   crashes the workers.
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

  /// Makes an upload wait again that was parked during an outage of its destination, as if it had not failed. Does
  /// nothing if it is waiting or gone.
  ///
  /// - Returns: Whether it is done; false if the upload is still being sent, because it may be parked soon.
  func takeBack(_ id: UploadID) throws -> Bool {
    guard let upload = try transaction.get(id, from: tables.uploads), let entry = try entry(upload.ordinal) else {
      return true
    }
    if entry.state == .sending { return false }
    guard entry.state == .parked else { return true }
    if try isReplaced(entry) {
      try supersede(entry)
    } else {
      try put(entry.madeReady(now: now), replacing: entry)
      events.append(.requeued(id))
    }
    return true
  }

  /// Counts an upload's attempts against it, up to `limit`, and makes it ready now. Does nothing if it is no longer
  /// waiting.
  func blame(_ ordinal: Int64, limit: Int) throws {
    guard let entry = try entry(ordinal), entry.state == .waiting else { return }
    var blamed = entry
    blamed.ownFailures = max(entry.ownFailures ?? 0, min(entry.attempts, limit))
    blamed.begin(pause: 0, now: now)
    try put(blamed, replacing: entry)
  }

  /// Releases the order key that a parked upload holds.
  func releaseKey(_ ordinal: Int64) throws {
    guard let entry = try entry(ordinal), entry.holdsKey == true else { return }
    var released = entry
    released.holdsKey = nil
    try put(released, replacing: entry)
  }

  /// Ends the back-off of an upload whose last attempt got no answer. Does nothing if its state has changed.
  func hasten(_ ordinal: Int64) throws {
    guard let entry = try entry(ordinal), entry.isUnanswered, entry.wait != nil else { return }
    var hastened = entry
    hastened.begin(pause: 0, now: now)
    try put(hastened, replacing: entry)
  }

  private func wait(_ entry: inout ScheduleEntry, replacing old: ScheduleEntry) throws {
    entry.state = .waiting
    entry.lease = nil
    try put(entry, replacing: old)
  }

  /// Records that an upload is parked for good, because its destination has accepted another one since.
  func confirmParking(_ id: UploadID) throws {
    guard let upload = try transaction.get(id, from: tables.uploads), let entry = try entry(upload.ordinal),
      entry.isSuspect == true
    else { return }
    var confirmed = entry
    confirmed.isSuspect = nil
    try put(confirmed, replacing: entry)
  }

  private func park(_ entry: ScheduleEntry, _ failure: UploadFailure, holds: Bool, isSuspect: Bool = false) throws {
    var parked = entry
    parked.isSuspect = isSuspect ? true : nil
    parked.state = .parked
    parked.lease = nil
    parked.parked = now
    parked.holdsKey = holds && entry.orderKey != nil ? true : nil
    parked.failures += 1
    parked.lastError = failure
    try put(parked, replacing: entry)
    events.append(.parked(entry.upload, failure))
  }

  /// Removes an expired upload.
  func expire(_ entry: ScheduleEntry) throws {
    try remove(entry)
    state.counts.expired += 1
    events.append(.expired(entry.upload))
  }
}
