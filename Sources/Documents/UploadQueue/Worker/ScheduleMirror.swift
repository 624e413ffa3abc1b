import Documents

/// An in-memory ``DueQueue`` of a queue, kept up to date from one commit to the next.
///
/// Invariant: `schedule` has the uploads of the snapshot `seen`, and those changed since then that are in `recorded`.
struct ScheduleMirror {
  var schedule: DueQueue
  private let tables: QueueTables
  private let rules: ScheduleRules
  private let environment: QueueEnvironment
  private var seen: DocumentSnapshot?
  /// The ordinals recorded since the last snapshot. An upload that was added and removed between two snapshots is in
  /// neither difference, so each of these is looked up.
  private var recorded: Set<Int64> = []

  init(_ tables: QueueTables, _ rules: ScheduleRules, _ environment: QueueEnvironment) {
    self.tables = tables
    self.rules = rules
    self.environment = environment
    schedule = DueQueue(rules)
  }

  /// Advances to a snapshot; does nothing if the snapshot is older.
  ///
  /// - Complexity: O(*n*) in the changes since the last snapshot; after a compaction, in the waiting uploads. Parked
  ///   uploads are read then only if they may hold their order keys.
  mutating func advance(to snapshot: DocumentSnapshot) throws {
    if let seen, !snapshot.isLater(than: seen) { return }
    if let old = seen, old.replacementCount != snapshot.replacementCount {
      // The file was replaced by an older one, such as a backup.
      try load(snapshot)
    } else if let old = seen, let change = try tables.schedule.difference(from: old, to: snapshot) {
      switch change {
      case .changed(let upserted, let deleted):
        for ordinal in deleted { schedule.remove(ordinal) }
        for ordinal in recorded.union(upserted) { try update(ordinal, tables.schedule.get(ordinal, in: snapshot)) }
      case .everything: try load(snapshot)
      }
    } else if seen == nil {
      try load(snapshot)
    } else {
      for ordinal in recorded { try update(ordinal, tables.schedule.get(ordinal, in: snapshot)) }
    }
    recorded = []
    seen = snapshot
    schedule.assertInvariants()
  }

  private mutating func load(_ snapshot: DocumentSnapshot) throws {
    schedule = DueQueue(after: schedule)
    let states: [UploadState] = rules.mayHold ? [.waiting, .sending, .parked] : [.waiting, .sending]
    let live = tables.schedule.query(.in(\.state, states))
    let now = environment.time
    for entry in try live.results(in: snapshot) { schedule.set(try entry.get(), now: now) }
  }

  /// Applies the change that a pending commit makes to an upload; `nil` if the upload is removed. If the commit fails,
  /// call ``reset()``.
  mutating func record(_ ordinal: Int64, _ entry: ScheduleEntry?) {
    recorded.insert(ordinal)
    update(ordinal, entry)
  }

  /// Sets the current entry of an upload; `nil` if the upload is gone.
  private mutating func update(_ ordinal: Int64, _ entry: ScheduleEntry?) {
    if let entry { schedule.set(entry, now: environment.time) } else { schedule.remove(ordinal) }
  }

  /// Discards everything, because a recorded commit failed.
  mutating func reset() {
    seen = nil
    recorded = []
    schedule = DueQueue(after: schedule)
  }
}
