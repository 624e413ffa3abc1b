import Documents
import Testing

@testable import UploadQueue

/// What a queue does where its state is not what it wrote last.
@Suite struct QueueStateTests {
  @Test func `a queue in the form of a later version is neither read nor written`() async throws {
    let bench = try Bench()
    let id = try await bench.queue.enqueue("a", kind: "k")
    let tables = bench.queue.tables
    var later = try tables.state(in: bench.documents.snapshot())
    later.format = QueueState.currentFormat + 1
    try bench.documents.transaction { try $0.upsert(later, into: tables.states) }
    let error = UploadQueueError.format(queue: "uploads", found: later.format)
    await #expect(throws: error) { try await bench.queue.enqueue("b", kind: "k") }
    #expect(throws: error) {
      try bench.documents.transaction { _ = try bench.queue.enqueue("b", kind: "k", in: $0) }
    }
    #expect(throws: error) { try bench.queue.counts() }
    #expect(throws: error) { try bench.queue.upload(id) }
    #expect(throws: error) { try bench.queue.uploads() }
    await #expect(throws: error) { try await bench.queue.retryAll() }
    let server = ScriptedServer()
    let worker = bench.worker(server)
    await #expect(throws: error) { try await worker.run(untilEmpty: true) }
    #expect(server.log.isEmpty)
    later.format = 1
    try bench.documents.transaction { try $0.upsert(later, into: tables.states) }
    #expect(try bench.queue.uploads().map(\.id) == [id])
  }

  @Test(arguments: [true, false])
  func `an upload is written over by none, also where a repair kept an older state`(isLost: Bool) async throws {
    let bench = try Bench()
    let tables = bench.queue.tables
    let first = try await bench.queue.enqueue("first", kind: "k")
    let older = try tables.state(in: bench.documents.snapshot())
    let second = try await bench.queue.enqueue("second", kind: "k", orderKey: "o")
    try bench.documents.transaction { transaction in
      if isLost {
        try transaction.delete(QueueState.theID, from: tables.states)
      } else {
        try transaction.upsert(older, into: tables.states)
      }
    }
    let third = try await bench.queue.enqueue("third", kind: "k", orderKey: "o")
    #expect(try bench.queue.uploads().map(\.id) == [first, second, third])
    #expect(try bench.queue.uploads().map { try $0.decode(String.self) } == ["first", "second", "third"])
    let server = ScriptedServer()
    try await bench.worker(server).run(untilEmpty: true)
    #expect(server.log.map(\.id) == [first, second, third])
  }
}
