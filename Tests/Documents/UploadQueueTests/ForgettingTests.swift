import Essentials
import Testing

@testable import UploadQueue

@Suite struct ForgettingTests {
  @Test(arguments: [true, false])
  func `old uploads go, whether they wait or are parked, and what is being sent stays`(expires: Bool) async throws {
    let bench = try Bench()
    let start = Date(microseconds: bench.clock.now)
    _ = try await bench.queue.enqueue("old", kind: "k", orderKey: "a")
    let parked = try await bench.queue.enqueue("parked", kind: "k", orderKey: "b", replaceKey: "r")
    let sent = try await bench.queue.enqueue("sent", kind: "k", orderKey: "c")
    try await bench.queue.group.perform { change in
      let lease = ScheduleEntry.Lease(slot: 0, holder: 1)
      _ = try change.claim(change.entry(of: parked), lease)
      try change.settle(change.entry(of: parked).id, lease, .parked(UploadFailure(message: "no"), holds: true))
      _ = try change.claim(change.entry(of: sent), lease)
    }
    bench.clock.advance(by: .seconds(10))
    let limit = Date(microseconds: bench.clock.now)
    let young = try await bench.queue.enqueue("young", kind: "k", orderKey: "a")
    #expect(try bench.queue.forgettable(enqueuedBefore: start) == ForgottenUploads())
    let found = try bench.queue.forgettable(enqueuedBefore: limit)
    #expect(found.count == 2 && found.beingSent == 1)
    #expect(try await bench.queue.forget(enqueuedBefore: limit, expires: expires) == found)
    #expect(try Set(bench.queue.uploads().map(\.id)) == [sent, young])
    let counts = try bench.queue.counts()
    #expect(counts.expired == (expires ? 2 : 0) && counts.removed == (expires ? 0 : 2) && counts.parked == 0)
    #expect(try bench.queue.heldKeys().isEmpty)
    #expect(try await bench.queue.forget(enqueuedBefore: nil).count == 1)
    #expect(try bench.queue.uploads().map(\.id) == [sent])
  }

  @Test func `where nothing is old there is no commit`() async throws {
    let bench = try Bench()
    _ = try await bench.queue.enqueue("a", kind: "k")
    let sequence = try bench.documents.snapshot().sequence
    #expect(try await bench.queue.forget(enqueuedBefore: Date(microseconds: 0)).count == 0)
    #expect(try bench.documents.snapshot().sequence == sequence)
  }
}
