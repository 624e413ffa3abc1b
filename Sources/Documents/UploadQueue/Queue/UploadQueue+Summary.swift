import Documents

/// The uploads of one kind that wait or are being sent.
package struct WaitingUploads: Sendable, Equatable {
  /// The kind.
  package let kind: String
  /// The number of uploads.
  package internal(set) var count: Int
  /// When the one that has waited longest was enqueued, in microseconds since 1970.
  package internal(set) var oldest: Int64

  /// Groups entries by their kind, in bytewise order of the kinds.
  static func grouping(_ entries: some Sequence<ScheduleEntry>) -> [WaitingUploads] {
    var found: [String: WaitingUploads] = [:]
    for entry in entries {
      found[entry.kind, default: WaitingUploads(kind: entry.kind, count: 0, oldest: entry.created)].count += 1
      if let oldest = found[entry.kind]?.oldest, entry.created < oldest { found[entry.kind]?.oldest = entry.created }
    }
    return found.values.sorted { $0.kind < $1.kind }
  }
}

/// The contents of a queue at one commit: what waits and what is parked, by kind.
package struct QueueSummary: Sendable, Equatable {
  /// The sequence number of the commit.
  package let sequence: UInt64
  /// The counts.
  package let counts: QueueCounts
  /// Whether the queue is paused, for any reason.
  package let isPaused: Bool
  /// The uploads that wait or are being sent.
  package let waiting: [WaitingUploads]
  /// The parked uploads.
  package let parked: [ParkedUploads]
  /// The order keys that parked uploads hold.
  package let held: [HeldKey]

  /// Whether any upload waits or is being sent, and the queue is not paused.
  package var hasWork: Bool { counts.waiting + counts.sending > 0 && !isPaused }
}

extension UploadQueue {
  /// Reads the contents of the queue.
  ///
  /// - Parameters:
  ///   - earlier: An earlier summary. The parked uploads are not read again if nothing was parked, retried or removed
  ///     since.
  ///   - waiting: The uploads that wait, if the caller knows them; `nil` to read them.
  /// - Throws: `UploadQueueError.format`; `StoreError` if the queue cannot be read.
  /// - Complexity: O(*n*) in the number of uploads that are read.
  package func summary(after earlier: QueueSummary? = nil, waiting: [WaitingUploads]? = nil) throws -> QueueSummary {
    let snapshot = try store.snapshot()
    let state = try tables.state(in: snapshot)
    let counts = state.counts
    if let earlier, earlier.sequence == snapshot.sequence { return earlier }
    let decisions: (parked: [ParkedUploads], held: [HeldKey])
    if let earlier, !earlier.counts.mayDiffer(from: counts) {
      decisions = (earlier.parked, earlier.held)
    } else {
      let entries = counts.parked > 0 ? try parkedEntries(in: snapshot) : []
      decisions = (Self.parkedUploads(entries), Self.heldKeys(entries))
    }
    return QueueSummary(
      sequence: snapshot.sequence, counts: counts, isPaused: !state.pauses.isEmpty,
      waiting: try waiting ?? (counts.waiting + counts.sending > 0 ? waitingUploads(in: snapshot) : []),
      parked: decisions.parked, held: decisions.held)
  }

  private func waitingUploads(in snapshot: DocumentSnapshot) throws -> [WaitingUploads] {
    let entries = try tables.schedule.query(.in(\.state, [.waiting, .sending])).results(in: snapshot)
    return WaitingUploads.grouping(try entries.map { try $0.get() })
  }
}

extension QueueCounts {
  /// Whether something may have been parked, retried or removed between these counts and later ones.
  fileprivate func mayDiffer(from later: QueueCounts) -> Bool {
    parked != later.parked || removed != later.removed || superseded != later.superseded || dropped != later.dropped
      || (later.parked > 0 && delivered != later.delivered)
  }
}
