import DocumentFormat
import Documents
import Testing

@testable import UploadQueue

/// What the digest of a queue tells apart, and what it does not.
@Suite struct QueueDigestTests {
  @Test func `uploads and what is parked count, attempts and times do not`() async throws {
    let bench = try Bench()
    func digest() throws -> QueueDigest { try QueueDigest(bench.documents) }
    #expect(try digest() == QueueDigest())
    let first = try await bench.queue.enqueue("a", kind: "k", orderKey: "o")
    let one = try digest()
    #expect(one.count == 1 && one != QueueDigest())
    try await bench.queue.enqueue("b", kind: "k")
    let two = try digest()
    #expect(two != one)

    // One attempt fails and is to be repeated: nothing else waits.
    bench.clock.advance(by: .seconds(3600))
    let worker = UploadWorker(bench.queue) { _ in UploadResponse(status: 422) }
    try await worker.run(untilEmpty: true)
    let parked = try digest()
    #expect(parked.count == 2 && parked != two)
    #expect(try await bench.queue.retryAll() == 2)
    #expect(try digest() == two, "attempts and their errors count for nothing")
    try await bench.queue.drop(first)
    #expect(try digest() != one && digest().count == 1)
    #expect(try await bench.queue.clear() == 1)
    #expect(try digest() == QueueDigest())
  }

  @Test func `queues of other names are told apart`() async throws {
    let bench = try Bench()
    let other = try UploadQueue(in: bench.documents, name: "other", environment: bench.clock.environment)
    try await bench.queue.enqueue("a", kind: "k")
    let one = try QueueDigest(bench.documents)
    try await other.enqueue("a", kind: "k")
    #expect(try QueueDigest(bench.documents).count == 2)
    #expect(try await bench.queue.clear() == 1)
    let moved = try QueueDigest(bench.documents)
    #expect(moved.count == 1 && moved != one)
  }
}
