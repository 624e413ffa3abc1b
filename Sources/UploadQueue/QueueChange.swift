import Documents

/// Changes of a queue inside one transaction of its store. A change that throws has changed nothing.
final class QueueChange {
  let tables: QueueTables
  let transaction: DocumentTransaction
  let options: QueueOptions
  let environment: QueueEnvironment
  let now: Int64
  var state: QueueState
  /// The entries that were written or deleted.
  private(set) var touched: [Int64] = []
  /// What observers are told when the transaction is a commit.
  var events: [QueueEvent] = []
  private let before: QueueState

  init(
    _ tables: QueueTables, _ transaction: DocumentTransaction, _ options: QueueOptions, _ environment: QueueEnvironment
  ) throws {
    self.tables = tables
    self.transaction = transaction
    self.options = options
    self.environment = environment
    now = environment.now()
    state = try tables.state(in: transaction)
    before = state
  }

  /// Hands over the numbers. Nothing may be changed afterwards.
  func finish() throws {
    // Nothing of another form is left.
    if state.counts.count == 0 { state.format = QueueState.plainFormat }
    if state != before { try transaction.upsert(state, into: tables.states) }
  }

  /// Runs `body`, and takes back what it changed, in the queue and in other documents, if it throws.
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

  /// Writes what an entry has become.
  func put(_ new: ScheduleEntry, replacing old: ScheduleEntry?) throws {
    try transaction.upsert(new, into: tables.schedule)
    if let old { state.counts[old.state] -= 1 }
    state.counts[new.state] += 1
    touched.append(new.id)
  }

  /// Takes an upload out of the queue.
  func remove(_ entry: ScheduleEntry) throws {
    if let key = entry.replaceKey, try transaction.get(key, from: tables.replacements)?.ordinal == entry.id {
      try transaction.delete(key, from: tables.replacements)
    }
    try transaction.delete(entry.upload, from: tables.uploads)
    try transaction.delete(entry.id, from: tables.schedule)
    state.counts[entry.state] -= 1
    state.counts.byteCount -= entry.byteCount
    touched.append(entry.id)
    if entry.id == state.oldestOrdinal { try passGaps(atMost: 64) }
  }

  /// Moves the beginning of the queue over what is gone.
  private func passGaps(atMost limit: Int) throws {
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
  /// - Complexity: some lookups; where the oldest must go, a look at each of them; behind a repair once for each ordinal that it
  ///   left taken.
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
    // A repair may have kept an older state than the uploads: none of these is written over.
    while try entry(state.nextOrdinal) != nil { state.nextOrdinal += 1 }
    let ordinal = state.nextOrdinal
    let id = state.nextID(now: now, random: environment.random())
    // The payload first: it is all that could be refused.
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

  /// Finds what must leave so that one more upload has room. Returns whether there is room then.
  private func makeRoom(_ byteCount: Int, _ leaving: inout [ScheduleEntry]) throws -> Bool {
    var count = state.counts.count + 1 - leaving.count
    var bytes = state.counts.byteCount + byteCount - leaving.reduce(0) { $0 + $1.byteCount }
    func fits() -> Bool { count <= options.maximumCount && bytes <= options.maximumByteCount }
    if fits() { return true }
    guard options.dropPolicy == .dropOldest, options.maximumCount > 0, byteCount <= options.maximumByteCount else {
      return false
    }
    try passGaps(atMost: .max)
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

  // MARK: By hand

  /// Lets go now what is parked, or waits since an attempt failed, as if it had never failed. It keeps its place in the order.
  ///
  /// What waits and has not failed waits for its turn, for its destination, or for a time that whoever enqueued it chose: nothing
  /// of that is changed.
  ///
  /// - Returns: whether there was anything to let go.
  @discardableResult
  func retry(_ entry: ScheduleEntry) throws -> Bool {
    switch entry.state {
    case .sending: return false
    case .waiting: if entry.failures == 0 { return false }
    case .parked:
      if try isReplaced(entry) {
        try supersede(entry)
        return true
      }
    }
    var free = entry.letGo(now: now)
    free.retried = now
    try put(free, replacing: entry)
    return true
  }

  /// Tells workers not to spare the destination of an upload any more, if that is all that it waits for.
  func retryDestination(_ entry: ScheduleEntry) throws {
    guard entry.state == .waiting, entry.notBefore <= now else { return }
    var entry = entry
    let old = entry
    entry.retried = now
    try put(entry, replacing: old)
  }

  /// Removes an upload that nobody is sending.
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
