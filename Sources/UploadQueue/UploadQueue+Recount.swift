import Documents

extension UploadQueue {
  /// Makes what the queue says of itself true of what is in it, in one commit: after a repair the documents of a queue may be
  /// of different commits, and some of them lost.
  ///
  /// Numbers are counted anew, and so are the bytes that the caps are about. No ordinal and no id is given twice: a lower one
  /// would take the place of an upload that is there. Each replace key names the last upload that has it. A payload whose
  /// upload was lost is removed, as nothing says any more what it was; an upload whose payload was lost stays, and is parked
  /// when its turn comes. A queue that is as it should be is left as it is.
  ///
  /// - Returns: whether anything was wrong.
  /// - Throws: `StoreError`, `DocumentStoreError`. Nothing changed then.
  /// - Complexity: reads the queue once, payloads included; keeps some words for each upload.
  public func recount() throws -> Bool {
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

/// What one commit has of a queue.
private struct Recount {
  /// Only what can be counted: what became of uploads that left, nobody knows but the numbers themselves.
  private var counts = QueueCounts()
  private var ordinals: ClosedRange<Int64>?
  private var lastTick: UInt64 = 0
  /// The last upload with each replace key, by its bytes: a String's `==` takes two normal forms of Unicode for one.
  private(set) var replacements: [[UInt8]: Replacement] = [:]
  /// Payloads whose uploads are not there.
  private(set) var orphans: [UploadID] = []
  /// The form that the payloads need.
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

  /// - Returns: whether the state was not so.
  func correct(_ state: inout QueueState) -> Bool {
    let before = state
    for place in UploadState.allCases { state.counts[place] = counts[place] }
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
