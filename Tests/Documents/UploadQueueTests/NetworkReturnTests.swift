import Foundation
import StoreTestSupport
import Synchronization
import Testing
import WaitingTestSupport

@testable import UploadQueue

/// What a worker does when the network is back.
@Suite(.timeLimit(.minutes(10))) struct NetworkReturnTests {
  private let clock = TestClock(moves: false)

  private var options: WorkerOptions {
    var options = Bench.plain
    options.retry.maximumRetries = 1000
    options.retry.firstPause = .seconds(300)
    options.breakerFailures = .max
    return options
  }

  /// Runs a worker beside `body`.
  private func running(_ worker: UploadWorker, _ body: () async throws -> Void) async throws {
    let task = Task { try await worker.run() }
    do { try await body() } catch {
      task.cancel()
      throw error
    }
    await worker.drain(within: .zero)
    try await task.value
  }

  @Test func `what got no answer goes at once, and what was answered or is to wait does not`() async throws {
    let bench = try Bench(clock: clock)
    let isBack = Mutex(false)
    let server = ScriptedServer(answer: { upload, _ in
      if try upload.decode(String.self) == "busy" { return UploadResponse(status: 503, retryAfter: .seconds(100)) }
      if !isBack.withLock({ $0 }) { throw NoNetwork() }
      return UploadResponse(status: 200)
    })
    try await bench.queue.enqueue("a", kind: "k", orderKey: "1")
    try await bench.queue.enqueue("behind a", kind: "k", orderKey: "1")
    try await bench.queue.enqueue("b", kind: "k")
    try await bench.queue.enqueue("busy", kind: "k")
    let later = Date(timeIntervalSince1970: Double(clock.now) / 1e6 + 3600)
    try await bench.queue.enqueue("later", kind: "k", notBefore: later)
    let worker = bench.worker(server, options)
    try await running(worker) {
      try await eventually("three attempts failed") {
        try bench.queue.uploads().count { $0.lastError != nil && $0.state == .waiting } == 3
      }
      isBack.withLock { $0 = true }
      #expect(server.log.count == 3)
      // Nobody moves the clock.
      await worker.networkReturned()
      try await eventually("they arrive") { try bench.queue.counts().delivered == 3 }
      #expect(try bench.queue.uploads().map { try $0.decode(String.self) } == ["busy", "later"])
      #expect(server.log.filter { $0.status == 200 }.map(\.text).sorted() == ["a", "b", "behind a"])
      #expect(server.log.count { $0.text == "busy" } == 1)
      // With nothing to hasten there is no commit. Those before are told of when a later one has ended.
      try await bench.queue.enqueue("later still", kind: "k", notBefore: later)
      let commits = bench.events.commits.count
      await worker.networkReturned()
      #expect(bench.events.commits.count == commits)
    }
    try checkInvariants(bench.queue)
  }

  @Test func `an open breaker lets one pass, and the others behind it if that one does`() async throws {
    let bench = try Bench(clock: clock)
    let isBack = Mutex(false)
    let server = ScriptedServer(answer: { _, _ in
      if !isBack.withLock({ $0 }) { throw NoNetwork() }
      return UploadResponse(status: 200)
    })
    var options = options
    options.breakerFailures = 2
    options.breakerFirstPause = .seconds(500)
    for number in 0..<5 { try await bench.queue.enqueue("\(number)", kind: "k") }
    let worker = bench.worker(server, options)
    try await running(worker) {
      try await eventually("it is open") {
        let isOpen = await !worker.openBreakers.isEmpty
        return try isOpen && bench.queue.counts().sending == 0
      }
      let attempts = server.log.count
      await worker.networkReturned()
      try await eventually("one tried, in vain") {
        let isIdle = await worker.inFlight == 0
        return isIdle && server.log.count == attempts + 1
      }
      let until = await worker.openBreakers[""]
      #expect(until == clock.now + 500_000_000, "it begins with the first pause again")
      isBack.withLock { $0 = true }
      await worker.networkReturned()
      try await eventually("all arrive") { try bench.queue.counts().delivered == 5 }
      #expect(await worker.openBreakers.isEmpty)
    }
    try checkInvariants(bench.queue)
  }

  @Test func `a worker that does not run is not disturbed`() async throws {
    let bench = try Bench(clock: clock)
    try await bench.queue.enqueue("a", kind: "k")
    let worker = bench.worker(ScriptedServer(), options)
    await worker.networkReturned()
    #expect(try bench.queue.counts().waiting == 1)
  }

  @Test func `what is hastened at once has a bound, and the oldest go first`() {
    var schedule = DueQueue(ScheduleRules())
    for number in 0..<Int64(100) {
      var entry = ScheduleEntry(
        id: number, upload: UploadID(tick: UInt64(number), random: 0), kind: "k", priority: .normal, orderKey: nil,
        replaceKey: nil, created: 0, notBefore: 1000 - number, expires: nil, byteCount: 1)
      entry.failures = 1
      entry.pause = 1000
      entry.lastError = UploadFailure(status: number == 3 ? 503 : nil, message: "no network")
      schedule.set(entry, now: QueueTime(0))
      // Told once more, it stands there twice.
      entry.attempts = 2
      schedule.set(entry, now: QueueTime(0))
    }
    #expect(schedule.unanswered(now: QueueTime(0), limit: 5) == [0, 1, 2, 4, 5])
    #expect(schedule.unanswered(now: QueueTime(990), limit: 50) == [0, 1, 2, 4, 5, 6, 7, 8, 9])
    schedule.remove(0)
    #expect(schedule.unanswered(now: QueueTime(998), limit: 5) == [1])
  }
}
