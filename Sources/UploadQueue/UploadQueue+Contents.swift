import Documents

extension UploadQueue {
  // MARK: Looking

  /// The numbers of the queue now.
  ///
  /// - Throws: `UploadQueueError.format`; `StoreError` where the queue cannot be read, as all that looks here.
  /// - Complexity: one lookup.
  public func counts() throws -> QueueCounts { try tables.state(in: store.snapshot()).counts }

  /// Why the queue is paused; empty if it is not.
  public func pauses() throws -> Set<PauseReason> { try tables.state(in: store.snapshot()).pauses }

  /// The upload with this id; `nil` if it arrived, was dropped, or never was.
  public func upload(_ id: UploadID) throws -> Upload? {
    let snapshot = try store.snapshot()
    _ = try tables.state(in: snapshot)
    guard let stored = try tables.uploads.get(id, in: snapshot),
      let entry = try tables.schedule.get(stored.ordinal, in: snapshot)
    else { return nil }
    return Upload(entry, stored.payload)
  }

  /// Shows `body` the uploads in the order in which they were enqueued, all of one commit, until it returns false.
  ///
  /// - Parameters:
  ///   - state: only those in this state.
  ///   - body: is shown one, and says whether to go on.
  /// - Complexity: reads what it shows; keeps the entries of all of it in memory, but one payload at a time.
  public func forEach(_ state: UploadState? = nil, _ body: (Upload) throws -> Bool) throws {
    let snapshot = try store.snapshot()
    _ = try tables.state(in: snapshot)
    let query = state.map { tables.schedule.query(.in(\.state, [$0])) } ?? tables.schedule.query()
    let entries = try query.results(in: snapshot).map { try $0.get() }.sorted { $0.id < $1.id }
    for entry in entries {
      guard let upload = try tables.upload(entry, in: snapshot) else { continue }
      if try !body(upload) { return }
    }
  }

  /// The uploads in the order in which they were enqueued, up to `limit` of them.
  public func uploads(_ state: UploadState? = nil, limit: Int = .max) throws -> [Upload] {
    var uploads: [Upload] = []
    try forEach(state) { upload in
      if uploads.count < limit { uploads.append(upload) }
      return uploads.count < limit
    }
    return uploads
  }

  // MARK: Deciding

  /// Lets an upload go now, in its old place, that is parked, or waits because an attempt failed; it is as if it had never failed.
  ///
  /// Workers of any process that spare its destination try that at once. A time before which it was enqueued not to go stays, and
  /// so does what is being sent.
  ///
  /// - Returns: whether it was parked, or waited because an attempt had failed.
  /// - Throws: `UploadQueueError.unknown`.
  @discardableResult
  public func retry(_ id: UploadID) async throws -> Bool {
    try await group.perform { change in
      let entry = try change.entry(of: id)
      if try change.retry(entry) { return true }
      try change.retryDestination(entry)
      return false
    }
  }

  /// Lets all uploads in these states go now, as ``retry(_:)`` does, in one commit.
  ///
  /// - Returns: how many were parked, or waited because an attempt had failed.
  @discardableResult
  public func retryAll(_ states: Set<UploadState> = [.parked]) async throws -> Int {
    try await group.perform { change in
      var count = 0
      // One upload of a kind is enough to tell workers of its destination.
      var kinds: Set<String> = []
      var others: [String: ScheduleEntry] = [:]
      for entry in try self.entries(change, states.subtracting([.sending])) {
        if try change.retry(entry) {
          count += 1
          kinds.insert(entry.kind)
        } else if entry.notBefore <= change.now {
          others[entry.kind] = others[entry.kind] ?? entry
        }
      }
      for (kind, entry) in others where !kinds.contains(kind) { try change.retryDestination(entry) }
      return count
    }
  }

  /// Removes an upload.
  ///
  /// - Throws: `UploadQueueError.unknown`, `.isBeingSent`.
  public func drop(_ id: UploadID) async throws { try await group.perform { try $0.drop($0.entry(of: id)) } }

  /// Removes all uploads in these states, in one commit; what is being sent stays. Returns how many there were.
  @discardableResult
  public func clear(_ states: Set<UploadState> = [.waiting, .parked]) async throws -> Int {
    try await group.perform { change in
      let entries = try self.entries(change, states.subtracting([.sending]))
      for entry in entries { try change.drop(entry) }
      return entries.count
    }
  }

  /// The entries in these states, with what the transaction changed of them.
  private func entries(_ change: QueueChange, _ states: Set<UploadState>) throws -> [ScheduleEntry] {
    let snapshot = change.transaction.base
    let found = try tables.schedule.query(.in(\.state, states)).results(in: snapshot).map { try $0.get().id }
    // Calls that share the commit may have changed others.
    return try Set(found + change.touched).sorted().compactMap { ordinal in
      try change.entry(ordinal).flatMap { states.contains($0.state) ? $0 : nil }
    }
  }

  /// Stops all workers of this queue, in all processes, from beginning attempts; those that run go on. It stays so until
  /// ``resume(_:)``, also when the process ends. Durable when it returns.
  public func pause(_ reason: PauseReason = .byHand) async throws {
    try await group.perform { change in
      switch reason {
      case .byHand: change.state.isPaused = true
      case .unreachable: change.state.isUnreachable = true
      }
    }
  }

  /// Takes back ``pause(_:)``.
  ///
  /// - Parameter reason: which one; all of them without it.
  public func resume(_ reason: PauseReason? = nil) async throws {
    try await group.perform { change in
      if reason != .unreachable { change.state.isPaused = false }
      if reason != .byHand { change.state.isUnreachable = false }
    }
  }
}
