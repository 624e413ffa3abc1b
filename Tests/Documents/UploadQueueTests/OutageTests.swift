import Synchronization
import Testing
import WaitingTestSupport

@testable import UploadQueue

/// An outage parks nothing, however few uploads there are.
@Suite struct OutageTests {
  /// The policy of a daemon's webhook.
  private static var patient: WorkerOptions {
    var options = Bench.plain
    options.retry.countsOutages = false
    options.retry.maximumRetries = 5
    options.retry.firstPause = .milliseconds(250)
    options.retry.longestPause = .seconds(60)
    options.breakerFirstPause = .seconds(2)
    options.breakerLongestPause = .seconds(60)
    return options
  }

  @Test(arguments: [500, 501, 505, 507, 508, 511, 599, 502, 503, 408, 429], [1, 3])
  func `one to three scans in an outage of hours are not parked, and arrive in order`(
    status: Int, count: Int
  ) async throws {
    let bench = try Bench()
    let texts = (0..<count).map { "\($0)" }
    for text in texts { try await bench.queue.enqueue(text, kind: "k", orderKey: "o") }
    let end = bench.clock.now + 6 * 3_600_000_000
    let isOver = Mutex(false)
    let server = ScriptedServer(answer: { [clock = bench.clock] upload, _ in
      // Not between two uploads of one sequence, after which the order could not be kept.
      let isFirst = try upload.decode(String.self) == "0"
      return isOver.withLock { isOver in
        if isFirst, clock.now >= end { isOver = true }
        return UploadResponse(status: isOver ? 200 : status)
      }
    })
    try await bench.run(server, Self.patient)
    #expect(try bench.queue.counts().delivered == count && bench.queue.counts().parked == 0)
    #expect(!bench.events.all.contains { if case .parked = $0 { true } else { false } })
    #expect(Array(server.texts.suffix(count)) == texts)
  }

  @Test func `an upload at fault is parked when a later one has arrived, and not before`() async throws {
    let bench = try Bench()
    for text in ["bad", "good", "better"] { try await bench.queue.enqueue(text, kind: "k", orderKey: "o") }
    let server = ScriptedServer(answer: { upload, _ in
      UploadResponse(status: (try? upload.decode(String.self)) == "bad" ? 500 : 200)
    })
    try await bench.run(server, Self.patient)
    #expect(try bench.queue.counts().parked == 1 && bench.queue.counts().delivered == 2)
    // The clock goes on while the worker waits for a processor, so there may be a few attempts more.
    let failures = server.texts.prefix { $0 == "bad" }.count
    #expect((6..<12).contains(failures), "\(server.texts)")
    #expect(server.texts.dropFirst(failures).first == "good")
  }

  @Test func `one that fails alone is parked after a day, and waits again when the next one fails too`() async throws {
    let bench = try Bench()
    let first = try await bench.queue.enqueue("first", kind: "k", orderKey: "o")
    let isWell = Atomic(false)
    let server = ScriptedServer(answer: { _, _ in UploadResponse(status: isWell.load(ordering: .relaxed) ? 200 : 500) })
    let start = bench.clock.now
    try await bench.run(server, Self.patient)
    #expect(try bench.queue.upload(first)?.state == .parked)
    #expect(bench.clock.now - start >= 86_400_000_000)
    // Another worker, as after a restart.
    try await bench.queue.enqueue("second", kind: "k", orderKey: "o")
    let worker = bench.worker(server, Self.patient)
    let run = Task { try await worker.run(untilEmpty: true) }
    while try bench.queue.upload(first)?.state == .parked { await Task.yield() }
    isWell.store(true, ordering: .relaxed)
    try await run.value
    #expect(try bench.queue.counts().delivered == 2 && bench.queue.counts().parked == 0)
    try checkInvariants(bench.queue)
  }

  @Test func `one that was parked alone stays parked when another one arrives`() async throws {
    let bench = try Bench()
    let bad = try await bench.queue.enqueue("bad", kind: "k", orderKey: "o")
    let server = ScriptedServer(answer: { upload, _ in
      UploadResponse(status: (try? upload.decode(String.self)) == "bad" ? 500 : 200)
    })
    try await bench.run(server, Self.patient)
    let entry = try await bench.queue.group.perform { try $0.entry(of: bad) }
    #expect(entry.isSuspect == true)
    try await bench.queue.enqueue("good", kind: "k", orderKey: "o")
    try await bench.run(server, Self.patient)
    let after = try await bench.queue.group.perform { try $0.entry(of: bad) }
    #expect(after.state == .parked && after.isSuspect == nil)
  }

  @Test func `a web page is no answer, and an outage of it parks nothing`() async throws {
    let bench = try Bench()
    let id = try await bench.queue.enqueue("a", kind: "k", orderKey: "o")
    let count = Atomic(0)
    let messages = Mutex<[String]>([])
    let server = ScriptedServer(answer: { _, _ in
      var response = UploadResponse(status: 200)
      response.isPage = count.add(1, ordering: .relaxed).newValue < 40
      return response
    })
    var options = Self.patient
    options.onAttempt = { attempt in
      if case .failed(let failure) = attempt.result { messages.withLock { $0.append(failure.message) } }
    }
    try await bench.run(server, options)
    #expect(try bench.queue.upload(id) == nil && bench.queue.counts().delivered == 1)
    #expect(messages.withLock { $0.allSatisfy { $0.contains("a login page or a proxy's page") } })
  }

  @Test func `every status means what Operations says`() async throws {
    let pausing: Set<Int> = [401, 403, 404, 405, 407, 410, 415, 421]
    for status in 200...599 {
      let bench = try Bench()
      let id = try await bench.queue.enqueue("a", kind: "k", orderKey: "o")
      let count = Atomic(0)
      let server = ScriptedServer(answer: { _, _ in
        UploadResponse(status: count.add(1, ordering: .relaxed).newValue <= 20 ? status : 200)
      })
      let worker = bench.worker(server, Self.patient)
      try await worker.run(untilEmpty: true, waitsForPaused: true)
      let attempts = server.log.count
      let isPaused = bench.events.all.contains { if case .destinationPaused = $0 { true } else { false } }
      let state = try bench.queue.upload(id)?.state
      switch status {
      case 200...299: #expect(attempts == 1 && state == nil, "\(status)")
      case _ where pausing.contains(status) || status < 400:
        #expect(isPaused && attempts == 21 && state == nil, "\(status)")
      case 408, 425, 429: #expect(!isPaused && attempts == 21 && state == nil, "\(status)")
      case 400...499: #expect(!isPaused && attempts == 6 && state == .parked, "\(status)")
      default: #expect(!isPaused && attempts == 21 && state == nil, "\(status)")
      }
    }
  }
}
