import Documents

extension UploadQueue {
  // MARK: Inspecting

  /// The number of uploads in each state, and the totals, in the latest commit.
  ///
  /// - Throws: `UploadQueueError.format`; `StoreError` if the queue cannot be read. The same applies to all methods of
  ///   this section.
  /// - Complexity: One lookup.
  public func counts() throws -> QueueCounts { try tables.state(in: store.snapshot()).counts }

  /// The reasons why the queue is paused; empty if it is not paused.
  public func pauses() throws -> Set<PauseReason> { try tables.state(in: store.snapshot()).pauses }

  /// The upload with this ID; `nil` if it was delivered or dropped, or never existed.
  public func upload(_ id: UploadID) throws -> Upload? {
    let snapshot = try store.snapshot()
    _ = try tables.state(in: snapshot)
    guard let stored = try tables.uploads.get(id, in: snapshot),
      let entry = try tables.schedule.get(stored.ordinal, in: snapshot)
    else { return nil }
    return Upload(entry, stored.payload)
  }

  /// Calls `body` with each upload, in the order of enqueuing, until it returns `false`. All uploads are read from the
  /// same commit.
  ///
  /// - Parameters:
  ///   - state: The state of the uploads to read; `nil` for all uploads.
  ///   - body: A closure that takes an upload and returns whether to continue.
  /// - Complexity: Reads each upload once, and the selected entries once for every 10,000 uploads. Keeps at most 10,000
  ///   entries in memory, and one payload at a time.
  public func forEach(_ state: UploadState? = nil, _ body: (Upload) throws -> Bool) throws {
    var pages = try pages(state)
    while let upload = try pages.next(1).first {
      if try !body(upload) { return }
    }
  }

  /// Returns a paged reader of the uploads, in the order of enqueuing, all from the last commit.
  ///
  /// - Parameters:
  ///   - state: The state of the uploads to read; `nil` for all uploads.
  ///   - entryCount: The maximum number of entries in memory, about 300 bytes each.
  package func pages(_ state: UploadState? = nil, entryCount: Int = 10_000) throws -> UploadPages {
    try UploadPages(tables, state, entryCount: entryCount)
  }

  /// The uploads in the order of enqueuing, up to `limit` of them.
  public func uploads(_ state: UploadState? = nil, limit: Int = .max) throws -> [Upload] {
    var uploads: [Upload] = []
    try forEach(state) { upload in
      if uploads.count < limit { uploads.append(upload) }
      return uploads.count < limit
    }
    return uploads
  }

  // MARK: Retrying, dropping and pausing

  /// Makes a parked upload, or one that waits after a failed attempt, ready to be sent now, in its old position, as if
  /// it had never failed.
  ///
  /// Workers in every process that pause its destination try it at once. A `notBefore` time given when enqueuing still
  /// applies. An upload that is being sent is not changed.
  ///
  /// - Returns: Whether the upload was parked, or waiting after a failed attempt, or written while the clock was ahead.
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

  /// Makes all uploads in these states ready to be sent now, like ``retry(_:)``, in one commit.
  ///
  /// - Returns: The number of uploads that were parked, or waiting after a failed attempt, or written while the clock
  ///   was ahead.
  @discardableResult
  public func retryAll(_ states: Set<UploadState> = [.parked]) async throws -> Int {
    try await group.perform { change in
      var count = 0
      // One upload of a kind is enough to make workers try its destination.
      var kinds: Set<String> = []
      var others: [String: ScheduleEntry] = [:]
      for entry in try self.entries(change, states.subtracting([.sending])) {
        if try change.retry(entry) {
          count += 1
          kinds.insert(entry.kind)
        } else if !entry.isForLater(than: change.now) {
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

  /// Removes all uploads in these states, except those being sent, in one commit. Returns how many were removed.
  @discardableResult
  public func clear(_ states: Set<UploadState> = [.waiting, .parked]) async throws -> Int {
    try await group.perform { change in
      let entries = try self.entries(change, states.subtracting([.sending]))
      for entry in entries { try change.drop(entry) }
      return entries.count
    }
  }

  /// The entries in these states, including changes made in this transaction.
  func entries(_ change: QueueChange, _ states: Set<UploadState>) throws -> [ScheduleEntry] {
    let snapshot = change.transaction.base
    let found = try tables.schedule.query(.in(\.state, states)).results(in: snapshot).map { try $0.get().id }
    // Calls that share the commit may have changed other entries.
    return try Set(found + change.touched).sorted().compactMap { ordinal in
      try change.entry(ordinal).flatMap { states.contains($0.state) ? $0 : nil }
    }
  }

  /// Pauses the queue: no worker in any process begins an attempt, but running attempts finish. The pause lasts until
  /// ``resume(_:)``, even if the process ends. Durable when it returns.
  public func pause(_ reason: PauseReason = .manual) async throws {
    try await group.perform { change in
      switch reason {
      case .manual: change.state.isPaused = true
      case .unreachable: change.state.isUnreachable = true
      }
    }
  }

  /// Undoes ``pause(_:)``.
  ///
  /// - Parameter reason: The reason to remove; `nil` for all.
  public func resume(_ reason: PauseReason? = nil) async throws {
    try await group.perform { change in
      if reason != .unreachable { change.state.isPaused = false }
      if reason != .manual { change.state.isUnreachable = false }
    }
  }
}
