import Documents
import RandomTestSupport
import Testing

@testable import UploadQueue

@Suite struct ScheduleMirrorTests {
  private static let lease = ScheduleEntry.Lease(slot: 0, holder: 1)

  /// Claims in one commit what its other calls may have enqueued, and records it as a worker does.
  private func claim(_ queue: UploadQueue, _ mirror: inout ScheduleMirror, adding count: Int) throws {
    try queue.store.transaction { transaction in
      let change = try QueueChange(queue.tables, transaction, queue.options, queue.environment)
      for number in 0..<count {
        let request = try UploadRequest(
          .value(.text("\(number)")), kind: "k", orderKey: "o", replaceKey: nil, priority: .normal, notBefore: nil,
          timeToLive: nil, queue.options)
        _ = try change.enqueue(request)
      }
      try mirror.advance(to: transaction.base)
      for ordinal in change.touched { mirror.record(ordinal, try change.entry(ordinal)) }
      if let next = mirror.schedule.next(now: change.time, isOpen: { _ in true }) {
        mirror.record(next.id, next.claimed(by: Self.lease))
        _ = try change.claim(next, Self.lease)
      }
      try change.finish()
    }
  }

  private func settle(_ queue: UploadQueue, _ ordinal: Int64, _ verdict: UploadVerdict) throws {
    try queue.store.transaction { transaction in
      let change = try QueueChange(queue.tables, transaction, queue.options, queue.environment)
      try change.settle(ordinal, Self.lease, verdict)
      try change.finish()
    }
  }

  @Test func `what was enqueued and taken in one commit and arrived before the next look holds up nothing`() throws {
    let queue = try Bench().queue
    var mirror = ScheduleMirror(queue.tables, ScheduleRules(), queue.environment)
    try mirror.advance(to: queue.store.snapshot())
    try claim(queue, &mirror, adding: 2)
    #expect(mirror.schedule.items[1]?.state == .sending)
    try settle(queue, 1, .delivered)
    try mirror.advance(to: queue.store.snapshot())
    #expect(mirror.schedule.items.keys.sorted() == [2])
    #expect(mirror.schedule.next(now: QueueTime(.max), isOpen: { _ in true })?.id == 2)
  }

  @Test func `whenever it looks, it shows what waits and what is being sent`() throws {
    var random = SeededGenerator(for: "ScheduleMirrorTests")
    for round in 0..<(8 * depth) {
      let bench = try Bench()
      let queue = bench.queue
      var mirror = ScheduleMirror(queue.tables, ScheduleRules(), queue.environment)
      for step in 0..<40 {
        switch Int.random(in: 0..<8, using: &random) {
        case 0..<3: try claim(queue, &mirror, adding: Int.random(in: 0...2, using: &random))
        case 3..<6:
          let sending = try queue.tables.schedule.query().fetch().filter { $0.state == .sending }
          guard let entry = sending.randomElement(using: &random) else { continue }
          let failure = UploadFailure(message: "no")
          let verdicts: [UploadVerdict] = [
            .delivered, .again(failure, after: 5, counts: Bool.random(using: &random)), .paused(failure),
            .parked(failure, holds: false), .released,
          ]
          try settle(queue, entry.id, verdicts.randomElement(using: &random)!)
        case 6: bench.clock.advance(by: .microseconds(3))
        default: if Int.random(in: 0..<4, using: &random) == 0 { try bench.documents.compact() }
        }
        if Int.random(in: 0..<3, using: &random) > 0 { continue }
        let snapshot = try queue.store.snapshot()
        try mirror.advance(to: snapshot)
        let live = try queue.tables.schedule.query().fetch().filter { $0.state != .parked }
        let shown = mirror.schedule.items.values.sorted { $0.id < $1.id }
        try #require(shown == live.sorted { $0.id < $1.id }, "round \(round), step \(step)")
      }
    }
  }

  @Test func `what is gone or was changed cannot be taken`() async throws {
    let bench = try Bench()
    let id = try await bench.queue.enqueue("a", kind: "k")
    let entry = try await bench.queue.group.perform { try $0.entry(of: id) }
    try await bench.queue.drop(id)
    let isTaken = try await bench.queue.group.perform { try $0.claim(entry, Self.lease) != nil }
    #expect(!isTaken)
    #expect(try bench.queue.counts().count == 0)
    try checkInvariants(bench.queue)
  }
}
