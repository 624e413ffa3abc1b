import Documents
import Testing

@testable import UploadQueue

/// Queues as a repair leaves them: documents of different commits.
@Suite struct RecountTests {
  /// A queue with an upload in each state, and two keys in two normal forms of Unicode.
  private func bench() async throws -> (bench: Bench, ids: [UploadID]) {
    let bench = try Bench()
    var ids: [UploadID] = []
    for name in ["sending", "parked", "\u{E9}", "e\u{301}", "waiting"] {
      ids.append(try await bench.queue.enqueue(name, kind: "k", replaceKey: name == "waiting" ? nil : name))
    }
    let (sending, parked) = (ids[0], ids[1])
    let lease = ScheduleEntry.Lease(slot: 0, holder: 1)
    try await bench.queue.group.perform { change in
      _ = try change.claim(try change.entry(of: sending), lease)
      let entry = try change.entry(of: parked)
      _ = try change.claim(entry, lease)
      try change.settle(entry.id, lease, .parked(UploadFailure(message: "no"), holds: false))
    }
    try checkInvariants(bench.queue)
    return (bench, ids)
  }

  @Test func `a queue that is as it should be is left as it is`() async throws {
    let (bench, _) = try await bench()
    let sequence = try bench.documents.snapshot().sequence
    #expect(try !bench.queue.recount())
    #expect(try bench.documents.snapshot().sequence == sequence)
    let empty = try Bench()
    #expect(try !empty.queue.recount())
  }

  @Test func `numbers that were lost are counted, and no upload takes the place of another`() async throws {
    let (bench, ids) = try await bench()
    let before = try bench.queue.tables.state(in: bench.documents.snapshot())
    #expect(ids.map(\.tick).max() == before.lastTick)
    try bench.documents.transaction { try $0.upsert(QueueState(), into: bench.queue.tables.states) }
    #expect(try bench.queue.recount())
    let after = try bench.queue.tables.state(in: bench.documents.snapshot())
    #expect(after == before)
    #expect(try !bench.queue.recount())
    let new = try await bench.queue.enqueue("new", kind: "k")
    #expect(new > ids.max()!)
    #expect(Set(try bench.queue.uploads().map(\.id)) == Set(ids + [new]))
    try checkInvariants(bench.queue)
  }

  @Test func `what is there once only is made to fit`() async throws {
    let (bench, ids) = try await bench()
    let tables = bench.queue.tables
    try bench.documents.transaction { transaction in
      // The entry of one upload, the key of another one, and a key that nobody has.
      try transaction.delete(5, from: tables.schedule)
      try transaction.delete("\u{E9}", from: tables.replacements)
      try transaction.upsert(Replacement(id: "gone", ordinal: 9), into: tables.replacements)
    }
    #expect(try bench.queue.recount())
    #expect(try bench.queue.uploads().map(\.id) == Array(ids[..<4]))
    #expect(try tables.uploads.get(ids[4]) == nil)
    #expect(try bench.queue.counts().count == 4)
    #expect(try tables.replacements.query().fetch().map(\.ordinal).sorted() == [1, 2, 3, 4])
    #expect(try !bench.queue.recount())
    // Each key replaces its own.
    _ = try await bench.queue.enqueue("again", kind: "k", replaceKey: "\u{E9}")
    #expect(try bench.queue.upload(ids[2]) == nil)
    #expect(try bench.queue.upload(ids[3])?.state == .waiting)
  }

  @Test func `an upload without a payload stays, and is parked when its turn comes`() async throws {
    let bench = try Bench()
    let id = try await bench.queue.enqueue("a", kind: "k")
    try bench.documents.transaction { try $0.delete(id, from: bench.queue.tables.uploads) }
    #expect(try !bench.queue.recount())
    try await bench.worker(ScriptedServer()).run(untilEmpty: true)
    #expect(try bench.queue.counts().parked == 1)
  }
}
