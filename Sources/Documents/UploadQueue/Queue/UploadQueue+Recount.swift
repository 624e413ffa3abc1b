import Documents

extension UploadQueue {
  /// Repairs the queue's stored totals so that they match its contents, in one commit. After a repair of the store, the
  /// documents of a queue may come from different commits, and some may be lost.
  ///
  /// Counts and byte totals, which the limits use, are recalculated. Ordinals and IDs only increase, because a lower
  /// one would overwrite an existing upload. Each replace key is set to the last upload that has it. A payload whose
  /// entry was lost is removed, because nothing else describes it. An entry whose payload was lost stays, and is parked
  /// when a worker reaches it. A consistent queue is not changed.
  ///
  /// - Returns: Whether anything was wrong.
  /// - Throws: `StoreError`, `DocumentStoreError`. Nothing has changed then.
  /// - Complexity: Reads the queue once, including payloads. Keeps a few words in memory for each upload.
  package func recount() throws -> Bool {
    try store.transaction { transaction in
      let change = try QueueChange(tables, transaction, options, environment)
      let count = try Recount(tables, transaction.base)
      var isChanged = count.correct(&change.state)
      for id in count.orphans { isChanged = try transaction.delete(id, from: tables.uploads) || isChanged }
      for replacement in count.replacements.values {
        if try transaction.get(replacement.id, from: tables.replacements)?.ordinal == replacement.ordinal { continue }
        try transaction.upsert(replacement, into: tables.replacements)
        isChanged = true
      }
      for key in count.staleKeys { isChanged = try transaction.delete(key, from: tables.replacements) || isChanged }
      try change.finish()
      return isChanged
    }
  }
}

/// The contents of a queue in one commit.
private struct Recount {
  /// Only the counts that can be recalculated. The totals of uploads that left the queue are stored nowhere else.
  private var counts = QueueCounts()
  private var ordinals: ClosedRange<Int64>?
  private var lastTick: UInt64 = 0
  /// The last upload with each replace key, by its UTF-8 bytes, because `String.==` treats canonically equivalent
  /// strings as equal.
  private(set) var replacements: [[UInt8]: Replacement] = [:]
  /// The IDs of payloads that have no entry.
  private(set) var orphans: [UploadID] = []
  /// The format version that the payloads need.
  private var format = QueueState.plainFormat
  /// Replace keys that no upload has.
  private(set) var staleKeys: [String] = []

  init(_ tables: QueueTables, _ snapshot: DocumentSnapshot) throws {
    var uploads: [Int64: UploadID] = [:]
    for result in try tables.schedule.query().results(in: snapshot) {
      let entry = try result.get()
      uploads[entry.id] = entry.upload
      counts[entry.state] += 1
      counts.byteCount += entry.byteCount
      lastTick = max(lastTick, entry.upload.tick)
      ordinals = min(ordinals?.lowerBound ?? entry.id, entry.id)...max(ordinals?.upperBound ?? entry.id, entry.id)
      if let key = entry.replaceKey, replacements[Array(key.utf8)].map({ $0.ordinal < entry.id }) ?? true {
        replacements[Array(key.utf8)] = Replacement(id: key, ordinal: entry.id)
      }
    }
    for result in try tables.uploads.query().results(in: snapshot) {
      let stored = try result.get()
      format = max(format, QueueState.format(for: stored.payload))
      if uploads[stored.ordinal] != stored.id { orphans.append(stored.id) }
    }
    for result in try tables.replacements.query().results(in: snapshot) {
      let key = try result.get().id
      if replacements[Array(key.utf8)] == nil { staleKeys.append(key) }
    }
  }

  /// Corrects `state` and returns whether it was wrong.
  func correct(_ state: inout QueueState) -> Bool {
    let before = state
    for uploadState in UploadState.allCases { state.counts[uploadState] = counts[uploadState] }
    state.counts.byteCount = counts.byteCount
    let now = state.counts
    state.counts.enqueued = max(
      now.enqueued, now.count + now.delivered + now.superseded + now.dropped + now.expired + now.removed)
    if let ordinals {
      state.nextOrdinal = max(state.nextOrdinal, ordinals.upperBound.adding(1))
      state.oldestOrdinal = min(state.oldestOrdinal, ordinals.lowerBound)
    }
    state.lastTick = max(state.lastTick, lastTick)
    state.format = max(state.format, format)
    return state != before
  }
}
