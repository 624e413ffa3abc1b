import Documents

/// The ``Schedule`` of a queue, and the commit that it shows.
struct ScheduleMirror {
  var schedule: Schedule
  private let tables: QueueTables
  private let rules: ScheduleRules
  private var seen: DocumentSnapshot?
  /// What was noted since the commit that is shown. What came into being and went between two looks is in the difference of
  /// neither, so all of these are looked up.
  private var noted: Set<Int64> = []

  init(_ tables: QueueTables, _ rules: ScheduleRules) {
    self.tables = tables
    self.rules = rules
    schedule = Schedule(rules)
  }

  /// Shows a commit, or goes on showing a later one.
  ///
  /// - Complexity: in what changed since the last one; after a compaction, in what waits. What is parked is read then only where it may
  ///   hold its order key.
  mutating func advance(to snapshot: DocumentSnapshot) throws {
    if let seen, snapshot.sequence <= seen.sequence { return }
    if let old = seen, let change = try tables.schedule.difference(from: old, to: snapshot) {
      switch change {
      case .changed(let upserted, let deleted):
        for ordinal in deleted { schedule.remove(ordinal) }
        for ordinal in noted.union(upserted) { try update(ordinal, tables.schedule.get(ordinal, in: snapshot)) }
      case .everything: try load(snapshot)
      }
    } else if seen == nil {
      try load(snapshot)
    } else {
      for ordinal in noted { try update(ordinal, tables.schedule.get(ordinal, in: snapshot)) }
    }
    noted = []
    seen = snapshot
    schedule.assertInvariants()
  }

  private mutating func load(_ snapshot: DocumentSnapshot) throws {
    schedule = Schedule(rules)
    let states: [UploadState] = rules.mayHold ? [.waiting, .sending, .parked] : [.waiting, .sending]
    let live = tables.schedule.query(.in(\.state, states))
    for entry in try live.results(in: snapshot) { schedule.set(try entry.get()) }
  }

  /// Says what a commit that is being made does to an upload; `nil` if it goes. A commit that fails asks for a ``reset()``.
  mutating func note(_ ordinal: Int64, _ entry: ScheduleEntry?) {
    noted.insert(ordinal)
    update(ordinal, entry)
  }

  /// Says what is true of an upload now; `nil` if it is gone.
  private mutating func update(_ ordinal: Int64, _ entry: ScheduleEntry?) {
    if let entry { schedule.set(entry) } else { schedule.remove(ordinal) }
  }

  /// Forgets everything: what was told did not become true.
  mutating func reset() {
    seen = nil
    noted = []
    schedule = Schedule(rules)
  }
}
