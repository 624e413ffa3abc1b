import Documents

/// Changes of a queue inside one transaction of its store. A method that throws has changed nothing.
final class QueueChange {
  let tables: QueueTables
  let transaction: DocumentTransaction
  let options: QueueOptions
  let environment: QueueEnvironment
  let time: QueueTime
  var state: QueueState
  /// The ordinals of entries that were written or deleted.
  private(set) var touched: [Int64] = []
  /// The events to trace once the transaction is committed.
  var events: [QueueEvent] = []
  private let before: QueueState

  /// The time in microseconds since 1970.
  var now: Int64 { time.wall }

  init(
    _ tables: QueueTables, _ transaction: DocumentTransaction, _ options: QueueOptions, _ environment: QueueEnvironment
  ) throws {
    self.tables = tables
    self.transaction = transaction
    self.options = options
    self.environment = environment
    time = environment.time
    state = try tables.state(in: transaction)
    before = state
  }

  /// Writes the queue's state. The change must not be used afterwards.
  func finish() throws {
    // An empty queue contains nothing that needs a higher format version.
    if state.counts.count == 0 { state.format = QueueState.plainFormat }
    if state != before { try transaction.upsert(state, into: tables.states) }
  }

  /// Runs `body`. If it throws, its changes to the queue and to other documents are rolled back.
  func attempt<Result>(_ body: () throws -> Result) throws -> Result {
    let (state, touchedCount, eventCount) = (state, touched.count, events.count)
    do { return try transaction.attempt(body) } catch {
      self.state = state
      touched.removeLast(touched.count - touchedCount)
      events.removeLast(events.count - eventCount)
      throw error
    }
  }

  // MARK: Entries

  func entry(_ ordinal: Int64) throws -> ScheduleEntry? { try transaction.get(ordinal, from: tables.schedule) }

  /// The entry of an upload.
  ///
  /// - Throws: `UploadQueueError.unknown`.
  func entry(of id: UploadID) throws -> ScheduleEntry {
    guard let upload = try transaction.get(id, from: tables.uploads), let entry = try entry(upload.ordinal) else {
      throw UploadQueueError.unknown(id: id)
    }
    return entry
  }

  /// Writes an entry and updates the counts.
  func put(_ new: ScheduleEntry, replacing old: ScheduleEntry?) throws {
    try transaction.upsert(new, into: tables.schedule)
    if let old { state.counts[old.state] -= 1 }
    state.counts[new.state] += 1
    touched.append(new.id)
  }

  /// Removes an upload from the queue.
  func remove(_ entry: ScheduleEntry) throws {
    if let key = entry.replaceKey, try transaction.get(key, from: tables.replacements)?.ordinal == entry.id {
      try transaction.delete(key, from: tables.replacements)
    }
    try transaction.delete(entry.upload, from: tables.uploads)
    try transaction.delete(entry.id, from: tables.schedule)
    state.counts[entry.state] -= 1
    state.counts.byteCount -= entry.byteCount
    touched.append(entry.id)
    if entry.id == state.oldestOrdinal { try skipGaps(atMost: 64) }
  }

  /// Advances the oldest ordinal past ordinals that are no longer used.
  private func skipGaps(atMost limit: Int) throws {
    var left = limit
    while left > 0, state.oldestOrdinal < state.nextOrdinal, try entry(state.oldestOrdinal) == nil {
      state.oldestOrdinal += 1
      left -= 1
    }
  }

  // MARK: Enqueuing

  /// Adds an upload at the end.
  ///
  /// - Throws: `UploadQueueError.full`, with the refusal counted.
  /// - Complexity: A few lookups; one more for each ordinal examined if the oldest uploads are dropped; after a repair,
  ///   one more for each ordinal that is already used.
  func enqueue(_ request: UploadRequest) throws -> UploadID {
    var leaving: [ScheduleEntry] = []
    if let key = request.replaceKey, let last = try transaction.get(key, from: tables.replacements),
      let entry = try entry(last.ordinal), entry.state != .sending
    {
      leaving.append(entry)
    }
    let superseded = leaving.count
    guard try makeRoom(request.byteCount, &leaving) else {
      state.counts.refused += 1
      events.append(.refused)
      throw UploadQueueError.full(queue: tables.name, count: state.counts.count, byteCount: state.counts.byteCount)
    }
    // A repair may have restored a state older than the uploads. Do not overwrite existing ones.
    while try entry(state.nextOrdinal) != nil { state.nextOrdinal += 1 }
    let ordinal = state.nextOrdinal
    let id = state.nextID(now: now, random: environment.random())
    // Write the payload first: it is the only part that can be refused.
    try transaction.insert(StoredUpload(id, ordinal: ordinal, request.payload), into: tables.uploads)
    for (index, entry) in leaving.enumerated() {
      try remove(entry)
      if index < superseded { state.counts.superseded += 1 } else { state.counts.dropped += 1 }
      events.append(index < superseded ? .superseded(entry.upload) : .dropped(entry.upload))
    }
    state.admit(request.payload)
    state.nextOrdinal += 1
    let entry = ScheduleEntry(
      id: ordinal, upload: id, kind: request.kind, priority: request.priority, orderKey: request.orderKey,
      replaceKey: request.replaceKey, created: now, notBefore: request.notBefore ?? now,
      expires: request.timeToLive.map(now.adding), byteCount: request.byteCount)
    try put(entry, replacing: nil)
    if let key = request.replaceKey {
      try transaction.upsert(Replacement(id: key, ordinal: ordinal), into: tables.replacements)
    }
    state.counts.byteCount += request.byteCount
    state.counts.enqueued += 1
    events.append(.enqueued(id))
    return id
  }

  /// Finds uploads to drop so that one more upload fits. Returns whether it fits then.
  private func makeRoom(_ byteCount: Int, _ leaving: inout [ScheduleEntry]) throws -> Bool {
    var count = state.counts.count + 1 - leaving.count
    var bytes = state.counts.byteCount + byteCount - leaving.reduce(0) { $0 + $1.byteCount }
    func fits() -> Bool { count <= options.maximumCount && bytes <= options.maximumByteCount }
    if fits() { return true }
    guard options.dropPolicy == .dropOldest, options.maximumCount > 0, byteCount <= options.maximumByteCount else {
      return false
    }
    try skipGaps(atMost: .max)
    var ordinal = state.oldestOrdinal
    while !fits(), ordinal < state.nextOrdinal {
      if let entry = try entry(ordinal), entry.state != .sending, !leaving.contains(where: { $0.id == ordinal }) {
        leaving.append(entry)
        count -= 1
        bytes -= entry.byteCount
      }
      ordinal += 1
    }
    return fits()
  }

  // MARK: Manual changes

  /// Makes a parked upload, or one that waits after a failed attempt, ready now, as if it had never failed. It keeps
  /// its position in the queue.
  ///
  /// An upload that waits without having failed is not changed: it waits for its turn, for its destination, or for a
  /// time that the application chose. One that was written while the clock was ahead gets the present time.
  ///
  /// - Returns: Whether the upload was parked, or waiting after a failed attempt, or written while the clock was ahead.
  @discardableResult
  func retry(_ entry: ScheduleEntry) throws -> Bool {
    switch entry.state {
    case .sending: return false
    case .waiting: if entry.failures == 0, !entry.isAhead(of: now) { return false }
    case .parked:
      if try isReplaced(entry) {
        try supersede(entry)
        return true
      }
    }
    var free = entry.madeReady(now: now)
    free.retried = now
    try put(free, replacing: entry)
    return true
  }

  /// Makes workers close the breaker of an upload's destination, if the upload waits for nothing else.
  func retryDestination(_ entry: ScheduleEntry) throws {
    guard entry.state == .waiting, !entry.isForLater(than: now) else { return }
    var entry = entry
    let old = entry
    entry.retried = now
    try put(entry, replacing: old)
  }

  /// Removes an upload that is not being sent.
  ///
  /// - Throws: `UploadQueueError.isBeingSent`.
  func drop(_ entry: ScheduleEntry) throws {
    if entry.state == .sending { throw UploadQueueError.isBeingSent(id: entry.upload) }
    try remove(entry)
    state.counts.removed += 1
  }

  /// Whether a later upload has the same replace key.
  func isReplaced(_ entry: ScheduleEntry) throws -> Bool {
    guard let key = entry.replaceKey, let last = try transaction.get(key, from: tables.replacements) else {
      return false
    }
    return last.ordinal > entry.id
  }

  func supersede(_ entry: ScheduleEntry) throws {
    try remove(entry)
    state.counts.superseded += 1
    events.append(.superseded(entry.upload))
  }
}
