import Essentials
import Synchronization
import Testing
import WaitingTestSupport

@testable import UploadQueue

/// A clock that somebody sets, while pauses are measured by another one that only goes forward.
@Suite struct ClockTests {
  /// 43 years, by which the clock is ahead.
  private static let ahead: Int64 = 43 * 31_556_952_000_000

  /// A wall clock that is `offset` ahead of a test's clock.
  private final class WallClock: Sendable {
    let clock = TestClock()
    private let offset = Atomic<Int64>(0)

    func set(ahead microseconds: Int64) { offset.store(microseconds, ordering: .relaxed) }
    var now: Int64 { clock.now + offset.load(ordering: .relaxed) }

    var environment: QueueEnvironment {
      QueueEnvironment(
        now: { self.now }, uptime: { self.clock.now }, random: { self.clock.random() },
        sleep: { try await self.clock.sleep($0) })
    }

    func bench() throws -> Bench { try Bench(clock: clock, environment: environment) }

    /// How much time passes on the clock that only goes forward.
    func seconds(of body: () async throws -> Void) async rethrows -> Int64 {
      let start = clock.now
      try await body()
      return (clock.now - start) / 1_000_000
    }
  }

  private let wall = WallClock()

  @Test func `what was enqueued while the clock was ahead goes at once when it is right, in order`() async throws {
    let bench = try wall.bench()
    wall.set(ahead: Self.ahead)
    let first = try await bench.queue.enqueue("first", kind: "k", orderKey: "o")
    try await bench.queue.enqueue("second", kind: "k", orderKey: "o")
    #expect(try bench.queue.upload(first)?.notBefore == nil)
    wall.set(ahead: 0)
    try await bench.queue.enqueue("third", kind: "k", orderKey: "o")
    let server = ScriptedServer()
    #expect(try await wall.seconds { try await bench.run(server) } == 0)
    #expect(server.texts == ["first", "second", "third"])
  }

  @Test(arguments: [43, -43]) func `a pause that began by another clock lasts no longer than it is`(
    years: Int64
  ) async throws {
    let bench = try wall.bench()
    wall.set(ahead: years * 31_556_952_000_000)
    try await bench.queue.enqueue("a", kind: "k", orderKey: "o")
    try await bench.queue.enqueue("b", kind: "k", orderKey: "o")
    let failing = ScriptedServer(answer: { [wall] _, _ in
      // The worker that wrote the pause ends.
      wall.set(ahead: 0)
      return UploadResponse(status: 503, retryAfter: .seconds(40))
    })
    let worker = bench.worker(failing)
    let run = Task { try await worker.run() }
    while try bench.queue.uploads().first?.lastError == nil { await Task.yield() }
    await worker.drain(within: .seconds(1))
    try await run.value
    let server = ScriptedServer()
    #expect(try await wall.seconds { try await bench.run(server) } <= 41)
    #expect(server.texts == ["a", "b"])
  }

  @Test func `a pause of a former version, which has no length, lasts as long as the longest at most`() async throws {
    let bench = try wall.bench()
    let id = try await bench.queue.enqueue("a", kind: "k")
    let future = wall.now + Self.ahead
    try await bench.queue.group.perform { change in
      let entry = try change.entry(of: id)
      var old = entry
      (old.attempts, old.failures, old.notBefore) = (1, 1, future)
      try change.put(old, replacing: entry)
    }
    let server = ScriptedServer()
    #expect(try await wall.seconds { try await bench.run(server) } <= 300)
    #expect(server.texts == ["a"])
  }

  @Test func `an open breaker lets a probe pass after its pause, wherever the clock is set`() async throws {
    let bench = try wall.bench()
    wall.set(ahead: Self.ahead)
    for number in 0..<8 { try await bench.queue.enqueue("\(number)", kind: "k") }
    var options = Bench.plain
    options.breakerFailures = 2
    options.retry.countsOutages = false
    let count = Atomic(0)
    let server = ScriptedServer(answer: { [wall] _, _ in
      let number = count.add(1, ordering: .relaxed).newValue
      // Set right while the breaker is open, and forth and back again.
      if number == 3 { wall.set(ahead: 0) }
      if number == 5 { wall.set(ahead: Self.ahead) }
      if number == 6 { wall.set(ahead: -Self.ahead) }
      return UploadResponse(status: number < 8 ? 503 : 200)
    })
    #expect(try await wall.seconds { try await bench.run(server, options) } < 3000)
    #expect(try bench.queue.counts().delivered == 8)
  }

  @Test func `a time that was asked for stays, however the clock is set and whatever is retried`() async throws {
    let bench = try wall.bench()
    wall.set(ahead: Self.ahead)
    let time = Date(microseconds: wall.now + 60_000_000)
    let later = try await bench.queue.enqueue("later", kind: "k", notBefore: time)
    try await bench.queue.enqueue("now", kind: "k")
    wall.set(ahead: 0)
    #expect(try await bench.queue.retry(later) == false)
    #expect(try await bench.queue.retryAll([.waiting]) == 1)
    #expect(try bench.queue.upload(later)?.notBefore == time)
    let server = ScriptedServer()
    let worker = bench.worker(server)
    try await worker.run(untilEmpty: true, waitsForLater: false)
    #expect(server.texts == ["now"])
    let reported = try #require(worker.uploadsForLater)
    #expect(reported.count == 1 && reported.until == time)
    // It goes when its time has come, also if somebody sets the clock to it.
    let waiting = bench.worker(server)
    let run = Task { try await waiting.run(untilEmpty: true) }
    wall.set(ahead: Self.ahead + 60_000_000)
    try await run.value
    #expect(server.texts == ["now", "later"])
  }

  @Test func `a time that was asked for outlives an attempt by a clock that was ahead`() async throws {
    let bench = try wall.bench()
    let time = Date(microseconds: wall.now + 86_400_000_000)
    let id = try await bench.queue.enqueue("tomorrow", kind: "k", notBefore: time)
    wall.set(ahead: Self.ahead)
    let worker = bench.worker(
      ScriptedServer(answer: { [wall] _, _ in
        wall.set(ahead: 0)
        return UploadResponse(status: 503)
      }))
    let run = Task { try await worker.run() }
    while try bench.queue.uploads().first?.lastError == nil { await Task.yield() }
    await worker.drain(within: .seconds(1))
    try await run.value
    let server = ScriptedServer()
    try await bench.worker(server).run(untilEmpty: true, waitsForLater: false)
    #expect(server.texts.isEmpty)
    #expect(try bench.queue.upload(id)?.notBefore == time)
  }

  @Test func `a retry by hand frees what was written by a clock that was ahead, and says so once`() async throws {
    let bench = try wall.bench()
    wall.set(ahead: Self.ahead)
    for number in 0..<3 { try await bench.queue.enqueue("\(number)", kind: "k") }
    wall.set(ahead: 0)
    #expect(try await bench.queue.retryAll([.waiting]) == 3)
    #expect(try await bench.queue.retryAll([.waiting]) == 0)
    #expect(try bench.queue.uploads().allSatisfy { $0.notBefore.map { $0 <= Date(microseconds: wall.now) } ?? true })
  }

  @Test func `a time to live is a length: it neither ends early nor lasts for decades`() async throws {
    let bench = try wall.bench()
    wall.set(ahead: Self.ahead)
    try await bench.queue.enqueue("short", kind: "k", timeToLive: .seconds(60))
    wall.set(ahead: 0)
    let busy = ScriptedServer(answer: { _, _ in UploadResponse(status: 429) })
    #expect(try await wall.seconds { try await bench.run(busy) } <= 600)
    #expect(try bench.queue.counts().expired == 1)

    // While a worker runs, a clock that jumps ahead ends nothing.
    var schedule = DueQueue(ScheduleRules())
    let entry = ScheduleEntry(
      id: 1, upload: UploadID(tick: 1, random: 0), kind: "k", priority: .normal, orderKey: nil, replaceKey: nil,
      created: 0, notBefore: 0, expires: 3_600_000_000, byteCount: 1)
    schedule.set(entry, now: QueueTime(0))
    #expect(schedule.expired(now: QueueTime(wall: Self.ahead, steady: 3_599_999_999)).isEmpty)
    #expect(schedule.expired(now: QueueTime(wall: -Self.ahead, steady: 3_600_000_000)) == [1])
  }
}
