import Foundation
import Synchronization
import Testing
import WaitingTestSupport

@testable import UploadQueue

/// What somebody lets go by hand. The clock stands still: nothing goes because its time came.
@Suite(.timeLimit(.minutes(10))) struct RetryTests {
  private let clock = TestClock(moves: false)

  /// Runs a worker while `body` runs.
  private func withWorker(
    _ bench: Bench, _ server: ScriptedServer, _ options: WorkerOptions = Bench.plain,
    _ body: (UploadWorker) async throws -> Void
  ) async throws {
    let worker = bench.worker(server, options)
    async let run: Void = worker.run()
    try await body(worker)
    await worker.drain(within: .seconds(1))
    try await run
    try checkInvariants(bench.queue)
  }

  private func until(_ bench: Bench, _ condition: (QueueCounts) -> Bool) async throws {
    var counts = bench.queue.observedCounts.makeAsyncIterator()
    while let now = try await counts.next(), !condition(now) {}
  }

  /// Answers with this status, and asks to wait an hour, until it is switched on.
  private func server(_ status: Int, _ isWilling: Switch) -> ScriptedServer {
    ScriptedServer(answer: { _, _ in
      isWilling.isOn ? UploadResponse(status: 200) : UploadResponse(status: status, retryAfter: .seconds(3600))
    })
  }

  @Test func `what waits because it failed goes at once, and what waits for its time does not`() async throws {
    let bench = try Bench(clock: clock)
    let isWilling = Switch()
    let server = server(429, isWilling)
    let failed = try await bench.queue.enqueue("failed", kind: "k", orderKey: "o")
    try await bench.queue.enqueue("behind", kind: "k", orderKey: "o")
    let noon = Date(microseconds: clock.now + 3_600_000_000)
    let later = try await bench.queue.enqueue("later", kind: "k", notBefore: noon)
    try await withWorker(bench, server) { _ in
      while try bench.queue.upload(failed)?.lastError == nil { await Task.yield() }
      #expect(try bench.queue.upload(failed)?.notBefore == noon)
      isWilling.isOn = true
      try await bench.queue.retry(later)
      #expect(try bench.queue.upload(later)?.notBefore == noon)
      try await bench.queue.retry(failed)
      try await until(bench) { $0.delivered == 2 }
    }
    #expect(server.texts == ["failed", "failed", "behind"])
    #expect(try await bench.queue.retryAll([.parked, .waiting]) == 0)
    #expect(try bench.queue.upload(later)?.notBefore == noon)
  }

  @Test func `all that failed go in one commit, in the states that are asked for`() async throws {
    let bench = try Bench(clock: clock)
    let isWilling = Switch()
    let server = ScriptedServer(answer: { upload, _ in
      if isWilling.isOn { return UploadResponse(status: 200) }
      return upload.kind == "bad"
        ? UploadResponse(status: 400) : UploadResponse(status: 429, retryAfter: .seconds(3600))
    })
    for _ in 0..<2 { try await bench.queue.enqueue("bad", kind: "bad") }
    for _ in 0..<3 { try await bench.queue.enqueue("busy", kind: "busy") }
    var strict = Bench.plain
    strict.retryPolicies["bad"] = UploadRetryPolicy()
    strict.retryPolicies["bad"]?.maximumRetries = 0
    try await withWorker(bench, server, strict) { _ in
      while try bench.queue.uploads().contains(where: { $0.lastError == nil }) { await Task.yield() }
    }
    let commits = bench.events.commits.count
    #expect(try await bench.queue.retryAll([.waiting, .sending]) == 3)
    #expect(try bench.queue.counts().parked == 2)
    #expect(try await bench.queue.retryAll([.waiting]) == 0, "they did not fail since")
    #expect(try await bench.queue.retryAll() == 2)
    #expect(bench.events.commits.count == commits + 3)
    try checkInvariants(bench.queue)
    isWilling.isOn = true
    try await withWorker(bench, server) { _ in try await until(bench) { $0.delivered == 5 } }
    // As often as at first.
    #expect(server.log.count == 10)
  }

  @Test func `a destination that is left alone is tried at once`() async throws {
    let bench = try Bench(clock: clock)
    let isWilling = Switch()
    let server = server(503, isWilling)
    var options = Bench.plain
    options.breakerFailures = 2
    options.destination = { $0 }
    for kind in ["a", "a", "b", "b"] { try await bench.queue.enqueue("\(kind) failed", kind: kind) }
    try await withWorker(bench, server, options) { worker in
      while await worker.openBreakers.count < 2 { await Task.yield() }
      let fresh = try await bench.queue.enqueue("a fresh", kind: "a")
      try await bench.queue.enqueue("b fresh", kind: "b")
      while try bench.queue.uploads().contains(where: { $0.state == .sending }) { await Task.yield() }
      isWilling.isOn = true
      // It has not failed: it waits for its destination only, as does the other one for another.
      try await bench.queue.retry(fresh)
      try await until(bench) { $0.delivered == 1 }
      #expect(await Array(worker.openBreakers.keys) == ["b"])
      #expect(server.texts.last == "a fresh")
      #expect(bench.events.all.contains(.breakerClosed(destination: "a")))
      #expect(try await bench.queue.retryAll([.waiting]) == 4)
      try await until(bench) { $0.delivered == 6 }
      #expect(await worker.openBreakers.isEmpty)
    }
  }

  @Test func `where nothing failed that still waits, the destination is tried all the same`() async throws {
    let bench = try Bench(clock: clock)
    let isWilling = Switch()
    let server = server(503, isWilling)
    var options = Bench.plain
    options.breakerFailures = 1
    options.retry.maximumRetries = 0
    try await bench.queue.enqueue("parked", kind: "k")
    try await withWorker(bench, server, options) { worker in
      try await until(bench) { $0.parked == 1 }
      for number in 0..<3 { try await bench.queue.enqueue("\(number)", kind: "k") }
      isWilling.isOn = true
      #expect(try await bench.queue.retryAll([.waiting]) == 0)
      try await until(bench) { $0.delivered == 3 }
    }
    #expect(try bench.queue.counts().parked == 1)
  }

  /// Something that a test turns on.
  private final class Switch: Sendable {
    private let state = Atomic(false)
    var isOn: Bool {
      get { state.load(ordering: .acquiring) }
      set { state.store(newValue, ordering: .releasing) }
    }
  }
}
