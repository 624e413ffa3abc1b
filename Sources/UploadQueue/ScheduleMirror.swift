import Documents

/// The ``Schedule`` of a queue, and the commit that it shows.
struct ScheduleMirror {
  var schedule: Schedule
  private let tables: QueueTables
  private let destination: @Sendable (String) -> String
  private var seen: DocumentSnapshot?

  init(_ tables: QueueTables, destination: @escaping @Sendable (String) -> String) {
    self.tables = tables
    self.destination = destination
    schedule = Schedule(destination: destination)
  }

  /// Shows a commit, or goes on showing a later one.
  ///
  /// - Complexity: in what changed since the last one; after a compaction, in what waits. What is parked is not read.
  mutating func advance(to snapshot: DocumentSnapshot) throws {
    if let seen, snapshot.sequence <= seen.sequence { return }
    if let old = seen, let change = try tables.schedule.difference(from: old, to: snapshot) {
      switch change {
      case .changed(let upserted, let deleted):
        for ordinal in deleted { schedule.remove(ordinal) }
        for ordinal in upserted { try update(ordinal, tables.schedule.get(ordinal, in: snapshot)) }
      case .everything: try load(snapshot)
      }
    } else if seen == nil {
      try load(snapshot)
    }
    seen = snapshot
  }

  private mutating func load(_ snapshot: DocumentSnapshot) throws {
    schedule = Schedule(destination: destination)
    let live = tables.schedule.query(.in(\.state, [.waiting, .sending]))
    for entry in try live.results(in: snapshot) { schedule.set(try entry.get()) }
  }

  /// Says what is true of an upload now; `nil` if it is gone.
  mutating func update(_ ordinal: Int64, _ entry: ScheduleEntry?) {
    if let entry { schedule.set(entry) } else { schedule.remove(ordinal) }
  }

  /// Forgets everything: what was told did not become true.
  mutating func reset() {
    seen = nil
    schedule = Schedule(destination: destination)
  }
}
