import StoreTestSupport
import Synchronization
import Testing
import WaitingTestSupport

@testable import UploadQueue

/// Whose fault a failure is: the upload's or its destination's.
@Suite(.timeLimit(.minutes(10))) struct DestinationTests {
  /// As the daemon's are: an outage parks nothing.
  private var options: WorkerOptions {
    var options = Bench.plain
    options.concurrency = 4
    options.retry.countsOutages = false
    options.retry.maximumRetries = 5
    options.retry.firstPause = .milliseconds(250)
    options.retry.longestPause = .seconds(60)
    options.breakerFirstPause = .seconds(2)
    options.breakerLongestPause = .seconds(60)
    return options
  }

  /// When each text arrived first, in microseconds since the start.
  private final class Arrivals: Sendable {
    private let times = Mutex<[String: Int64]>([:])
    subscript(text: String) -> Int64? { times.withLock { $0[text] } }
    var count: Int { times.withLock { $0.count } }
    func record(_ text: String, _ time: Int64) { times.withLock { $0[text] = $0[text] ?? time } }
  }

  /// The receiver answers 500 to three codes and 204 to everything else. Good codes come every five seconds, then none
  /// for two minutes: each arrives within half a minute, whatever the keys are.
  @Test(arguments: [1, 3, 4], [60.0, 1.0])
  func `three codes that fail hold up no other for half a minute`(keys: Int, longestPause: Double) async throws {
    let clock = TestClock(moves: false)
    let bench = try Bench(clock: clock)
    let start = clock.now
    let arrivals = Arrivals()
    let server = ScriptedServer(answer: { upload, _ in
      let text = try upload.decode(String.self)
      if text.hasPrefix("bad") { return UploadResponse(status: 500) }
      arrivals.record(text, clock.now - start)
      return UploadResponse(status: 204)
    })
    var options = options
    options.retry.longestPause = .seconds(longestPause)
    options.breakerFirstPause = .seconds(min(2, longestPause))
    options.breakerLongestPause = .seconds(longestPause)
    let worker = bench.worker(server, options)
    let run = Task { try await worker.run() }
    var sent: [String: Int64] = [:]
    for second in 0..<240 {
      if second < 120, second % 5 == 0 {
        // The bad ones come together, before a good one, which is the worst for it.
        if second == 10 {
          for number in 0..<3 {
            try await bench.queue.enqueue("bad \(number)", kind: "k", orderKey: "\(number % keys)")
          }
        }
        let text = "good \(second)"
        try await bench.queue.enqueue(text, kind: "k", orderKey: "\(second / 5 % keys)")
        sent[text] = clock.now - start
      }
      for _ in 0..<4 {
        try await settle(bench, worker)
        clock.advance(by: .milliseconds(250))
      }
    }
    for (text, time) in sent {
      let arrival = try #require(arrivals[text], "\(text) did not arrive")
      #expect(arrival - time <= 30_000_000, "\(text) took \((arrival - time) / 1_000_000) s")
    }
    #expect(arrivals.count == sent.count)
    let left = try bench.queue.uploads()
    #expect(left.count == 3 && left.allSatisfy { $0.state == .parked && $0.lastError?.status == 500 })
    #expect(left.allSatisfy { $0.attempts >= 6 })
    #expect(await worker.openBreakers.isEmpty)
    await worker.drain(within: .zero)
    try await run.value
    try checkInvariants(bench.queue)
  }

  /// Returns when the worker has nothing to do at this time. What woke it may not have reached it yet: so it has to be
  /// idle again and again, and once more after a real pause.
  private func settle(_ bench: Bench, _ worker: UploadWorker) async throws {
    for pause in [0, 1] {
      try await Task.sleep(for: .milliseconds(pause))
      var quiet = 0
      while quiet < 8 {
        await Task.yield()
        let (isIdle, inFlight) = await (worker.isIdle, worker.inFlight)
        let isBusy = try !isIdle || inFlight > 0 || bench.queue.counts().sending > 0
        quiet = isBusy ? 0 : quiet + 1
      }
    }
  }

  /// An outage that ends when its time is over and an upload is tried that is the next one of its key: not between two
  /// attempts of one sequence, after which the order could not be kept.
  private final class Outage: Sendable {
    private let isOver = Mutex(false)
    private let clock: TestClock
    private let end: Int64

    init(_ clock: TestClock, _ duration: Duration) {
      self.clock = clock
      end = clock.now + Int64(duration / .microseconds(1))
    }

    func lasts(_ upload: Upload, firsts: Set<String>) throws -> Bool {
      let text = try upload.decode(String.self)
      return isOver.withLock { isOver in
        if clock.now >= end, firsts.contains(text) { isOver = true }
        return !isOver
      }
    }
  }

  @Test func `an outage of hours parks nothing and keeps the order, whatever the server answers`() async throws {
    for status in [0, 500, 503, 429, 404, 401] {
      let bench = try Bench()
      let outage = Outage(bench.clock, .seconds(2 * 3600))
      let server = ScriptedServer(answer: { upload, _ in
        if try !outage.lasts(upload, firsts: ["0", "1"]) { return UploadResponse(status: 200) }
        if status == 0 { throw NoNetwork() }
        return UploadResponse(status: status)
      })
      for number in 0..<30 { try await bench.queue.enqueue("\(number)", kind: "k", orderKey: "\(number % 2)") }
      let worker = bench.worker(server, options)
      try await worker.run(untilEmpty: true, waitsForPaused: true)
      #expect(try bench.queue.counts().delivered == 30, "\(status)")
      let arrived = server.log.filter { $0.status == 200 }
      for key in ["0", "1"] {
        let numbers = arrived.filter { $0.orderKey == key }.compactMap { Int($0.text) }
        #expect(numbers == numbers.sorted() && numbers.count == 15, "\(status): \(numbers)")
      }
      try checkInvariants(bench.queue)
    }
  }

  @Test func `an outage in one key parks nothing, also not what looked bad at first`()
    async throws
  {
    let bench = try Bench()
    let outage = Outage(bench.clock, .seconds(7200))
    let server = ScriptedServer(answer: { upload, _ in
      UploadResponse(status: try outage.lasts(upload, firsts: ["0"]) ? 500 : 200)
    })
    for number in 0..<20 { try await bench.queue.enqueue("\(number)", kind: "k", orderKey: "o") }
    try await bench.run(server, options)
    #expect(!bench.events.all.contains { if case .parked = $0 { true } else { false } })
    #expect(server.log.filter { $0.status == 200 }.map(\.text) == (0..<20).map { "\($0)" })
    #expect(server.log.contains { $0.text == "1" && $0.status == 500 }, "others of the key are tried after a probe")
    #expect(try bench.queue.counts().count == 0)
  }

  @Test(arguments: [500, 502, 503], [1, 6, 12])
  func `uploads that fail in a row under one key are parked once a later one arrives`(status: Int, bad: Int)
    async throws
  {
    for isBatched in [false, true] {
      let bench = try Bench()
      // Nothing passes for five minutes, so that the breaker is open.
      let outage = Outage(bench.clock, .seconds(300))
      let server = ScriptedServer(answer: { upload, _ in
        let fails = try outage.lasts(upload, firsts: ["good"]) || upload.decode(String.self).hasPrefix("bad")
        return UploadResponse(status: fails ? status : 204)
      })
      var options = options
      if isBatched { options.batch = UploadBatchOptions(maximumCount: 8, linger: .zero) }
      let worker = UploadWorker(
        bench.queue, options: options,
        batchTransport: { batch in
          // All of them arrive, or none.
          let isBad = try batch.uploads.contains { try $0.decode(String.self).hasPrefix("bad") }
          if try outage.lasts(batch.uploads[0], firsts: ["good"]) || isBad { return UploadResponse(status: status) }
          for upload in batch.uploads { _ = try await server.send(upload) }
          return UploadResponse(status: 204)
        }, transport: { try await server.send($0) })
      let good = (0..<10).map { "good \($0)" }
      for text in ["good"] + (0..<bad).map({ "bad \($0)" }) + good {
        try await bench.queue.enqueue(text, kind: "k", orderKey: "o")
      }
      try await worker.run(untilEmpty: true)
      #expect(server.log.filter { $0.status == 204 }.map(\.text) == ["good"] + good, "\(status), \(bad), \(isBatched)")
      #expect(try bench.queue.uploads().allSatisfy { $0.state == .parked && $0.lastError?.status == status })
      #expect(try bench.queue.counts().parked == bad)
      #expect(await worker.openBreakers.isEmpty)
      try checkInvariants(bench.queue)
    }
  }

  @Test(arguments: [6, 12])
  func `that also holds if each failure takes longer than any pause`(bad: Int) async throws {
    let bench = try Bench()
    let clock = bench.clock
    let server = ScriptedServer(answer: { upload, _ in
      guard try upload.decode(String.self).hasPrefix("bad") else { return UploadResponse(status: 204) }
      clock.advance(by: .seconds(61))
      return UploadResponse(status: 500)
    })
    let texts = (0..<bad).map { "bad \($0)" } + (0..<10).map { "good \($0)" }
    for text in texts { try await bench.queue.enqueue(text, kind: "k", orderKey: "o") }
    try await bench.run(server, options)
    #expect(server.log.filter { $0.status == 204 }.map(\.text) == Array(texts.dropFirst(bad)))
    #expect(try bench.queue.counts().parked == bad)
    #expect(server.log.count < 50 * bad)
  }

  @Test func `an upload that fails is not passed over by others of a key that is held`() async throws {
    let bench = try Bench()
    let server = ScriptedServer(answer: { upload, _ in
      UploadResponse(status: try upload.decode(String.self) == "bad" ? 502 : 204)
    })
    for text in ["bad", "good"] { try await bench.queue.enqueue(text, kind: "k", orderKey: "o") }
    var options = options
    options.onParked = { _, _ in .hold }
    let worker = bench.worker(server, options)
    let run = Task { try await worker.run() }
    while server.log.count < 20 { await Task.yield() }
    await worker.drain(within: .seconds(1))
    try await run.value
    #expect(!server.texts.contains("good"))
    try checkInvariants(bench.queue)
  }

  @Test func `an upload that gets no answer counts against itself once others pass meanwhile`() async throws {
    let bench = try Bench()
    let server = ScriptedServer(answer: { upload, _ in
      if try upload.decode(String.self) == "poison" { throw NoNetwork() }
      return UploadResponse(status: 200)
    })
    try await bench.queue.enqueue("poison", kind: "k", orderKey: "p")
    try await bench.queue.enqueue("behind", kind: "k", orderKey: "p")
    let worker = bench.worker(server, options)
    let run = Task { try await worker.run() }
    while server.log.count < 20 { await Task.yield() }
    #expect(try bench.queue.counts().parked == 0, "nothing says that the destination is there")
    var number = 0
    while try bench.queue.counts().parked == 0 {
      try await bench.queue.enqueue("\(number)", kind: "k")
      number += 1
      for _ in 0..<20 { await Task.yield() }
    }
    while try bench.queue.counts().waiting > 0 { await Task.yield() }
    await worker.drain(within: .seconds(1))
    try await run.value
    #expect(server.texts.contains("behind"))
    #expect(try bench.queue.uploads().map { try $0.decode(String.self) } == ["poison"])
  }

  @Test func `probes take another order key each time, and first what has not failed itself`() {
    var schedule = DueQueue(ScheduleRules())
    for ordinal in 1...6 {
      var entry = ScheduleEntry(
        id: Int64(ordinal), upload: UploadID(tick: UInt64(ordinal), random: 0), kind: "k", priority: .normal,
        orderKey: ["a", "b", "c"][(ordinal - 1) / 2], replaceKey: nil, created: 0, notBefore: 0, expires: nil,
        byteCount: 1)
      // Of the first two keys the first upload has failed.
      if [1, 3].contains(ordinal) { entry.failures = 1 }
      schedule.set(entry, now: QueueTime(0))
    }
    var history = ProbeHistory()
    func probe() -> String? {
      let next = schedule.next(now: QueueTime(1), isOpen: { _ in true }, probes: { _ in history })
      if let next { history.add(next.lane) }
      return next?.orderKey
    }
    // Another one each time, that has not failed if there is one, and of those that failed the one that is longest ago.
    #expect((0..<5).map { _ in probe() } == ["c", "a", "c", "b", "c"])
    for ordinal: Int64 in [5, 6] { schedule.remove(ordinal) }
    #expect((0..<4).map { _ in probe() } == ["a", "b", "a", "b"])
    for ordinal: Int64 in [3, 4] { schedule.remove(ordinal) }
    #expect((0..<2).map { _ in probe() } == ["a", "a"], "better than none")
  }

  // MARK: Answers about the receiver

  /// `nil` is a transport that can send nothing.
  @Test(arguments: [301, 302, 401, 403, 404, 405, 407, 410, 415, 421, nil] as [Int?])
  func `an answer about the receiver pauses it and parks nothing`(status: Int?) async throws {
    let bench = try Bench()
    let clock = bench.clock
    let end = clock.now + 3600 * 1_000_000
    let server = ScriptedServer(answer: { _, _ in
      if clock.now >= end { return UploadResponse(status: 200) }
      guard let status else { throw UploadPause("no way to send") }
      return UploadResponse(status: status)
    })
    for number in 0..<6 { try await bench.queue.enqueue("\(number)", kind: "k") }
    // Without retries, which do not count here.
    var options = Bench.plain
    options.concurrency = 1
    options.retry.maximumRetries = 0
    options.breakerFirstPause = .seconds(2)
    let worker = bench.worker(server, options)
    try await worker.run(untilEmpty: true)
    #expect(server.log.count == 1, "it returns instead of waiting, and tries no other")
    #expect(await worker.pausedDestinations[""]?.answer.status == status)
    #expect(try bench.queue.counts().waiting == 6)
    #expect(try bench.queue.uploads().first?.lastError?.status == status)
    try await bench.worker(server, options).run(untilEmpty: true, waitsForPaused: true)
    #expect(try bench.queue.counts().delivered == 6)
    let pauses = bench.events.all.compactMap { event in
      if case .destinationPaused("", _, let pause) = event { pause } else { nil }
    }
    let expected: [Duration] = [2, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map { .seconds($0) }
    #expect(Array(pauses.prefix(expected.count)) == expected)
    try checkInvariants(bench.queue)
  }

  @Test(arguments: [400, 409, 413, 422])
  func `an answer about the upload parks it after its retries, and pauses nothing`(status: Int) async throws {
    let bench = try Bench()
    let server = ScriptedServer(answer: { upload, _ in
      UploadResponse(status: try upload.decode(String.self) == "bad" ? status : 200)
    })
    for text in ["bad", "good"] { try await bench.queue.enqueue(text, kind: "k", orderKey: "o") }
    var options = options
    options.breakerFailures = 1
    try await bench.run(server, options)
    #expect(server.texts == ["bad", "bad", "bad", "bad", "bad", "bad", "good"])
    #expect(try bench.queue.uploads().map(\.state) == [.parked])
    #expect(!bench.events.all.contains { if case .breakerOpened = $0 { true } else { false } })
  }

  // MARK: Held keys

  @Test func `with hold a key waits until somebody decides, through restarts, and others go on`() async throws {
    let device = SimulatedDevice()
    let bench = try Bench(device)
    let server = ScriptedServer(answer: { upload, _ in
      UploadResponse(status: try upload.decode(String.self).hasPrefix("bad") ? 422 : 200)
    })
    for text in ["bad 1", "a", "bad 2", "b"] { try await bench.queue.enqueue(text, kind: "k", orderKey: "held") }
    for text in ["bad 3", "c"] { try await bench.queue.enqueue(text, kind: "k", orderKey: "free") }
    try await bench.queue.enqueue("bad 4", kind: "k")
    var options = options
    options.onParked = { _, key in key == "held" ? .hold : .continue }
    try await bench.run(server, options)
    #expect(server.log.filter { $0.status == 200 }.map(\.text) == ["c"])
    let key = try #require(try bench.queue.heldKeys().first)
    #expect(try bench.queue.heldKeys().count == 1 && key.orderKey == "held" && key.parked == 1)
    #expect(key.failure?.status == 422 && key.since != nil)
    #expect(try bench.queue.upload(key.upload)?.holdsKey == true)
    // A worker of another process reads it from the store.
    var again = try Bench(device)
    try await again.run(server, options)
    try again.documents.compact()
    again = try Bench(device)
    try await again.run(server, options)
    #expect(try again.queue.counts().waiting == 3 && again.queue.heldKeys().map(\.orderKey) == ["held"])
    // Dropped, the next one goes, and holds the key again.
    try await again.queue.drop(key.upload)
    #expect(try again.queue.heldKeys().isEmpty)
    try await again.run(server, options)
    #expect(server.texts.contains("a") && !server.texts.contains("b"))
    #expect(try again.queue.heldKeys().map(\.parked) == [1])
    // Retried, it goes before what waits, and arrives now.
    #expect(try await again.queue.retryAll() == 3)
    #expect(try again.queue.heldKeys().isEmpty)
    let willing = ScriptedServer()
    try await again.run(willing, options)
    #expect(willing.log.filter { $0.orderKey == "held" }.map(\.text) == ["bad 2", "b"])
    #expect(try again.queue.counts().count == 0)
  }

  @Test func `a decision reaches a worker that runs, and options that hold no more let go`() async throws {
    let bench = try Bench()
    let isGood = Mutex(false)
    let server = ScriptedServer(answer: { upload, _ in
      let text = try upload.decode(String.self)
      return UploadResponse(status: text == "bad" && !isGood.withLock { $0 } ? 422 : 200)
    })
    for text in ["bad", "a"] { try await bench.queue.enqueue(text, kind: "k", orderKey: "o") }
    var options = options
    options.onParked = { _, _ in .hold }
    let worker = bench.worker(server, options)
    let run = Task { try await worker.run() }
    while try bench.queue.heldKeys().isEmpty { await Task.yield() }
    for text in ["b", "c"] { try await bench.queue.enqueue(text, kind: "k", orderKey: "o") }
    for _ in 0..<100 { await Task.yield() }
    isGood.withLock { $0 = true }
    try await bench.queue.retryAll()
    while try bench.queue.counts().count > 0 { await Task.yield() }
    await worker.drain(within: .seconds(1))
    try await run.value
    #expect(server.log.filter { $0.status == 200 }.map(\.text) == ["bad", "a", "b", "c"])
    // The same again, with another option later.
    isGood.withLock { $0 = false }
    for text in ["bad", "d"] { try await bench.queue.enqueue(text, kind: "k", orderKey: "o") }
    try await bench.run(server, options)
    #expect(try bench.queue.heldKeys().count == 1)
    options.onParked = nil
    try await bench.run(server, options)
    #expect(server.texts.last == "d")
    #expect(try bench.queue.heldKeys().isEmpty && bench.queue.counts().parked == 1)
  }

  // MARK: Success rules

  @Test func `a success rule decides what a 2xx means`() async throws {
    let rule = try UploadSuccessRule("status.code == 200")
    @Sendable func answer(_ body: UploadResponseBody?, _ status: Int = 200) -> UploadResponse {
      UploadResponse(status: status, body: body)
    }
    @Sendable func json(_ text: String) -> UploadResponseBody { .complete(Array(text.utf8)) }
    #expect(try rule.holds(for: answer(json(#"{"status":{"code":200}}"#))))
    for text in [#"{"status":{"code":500}}"#, "{}", "[]", "null", #"{"status":{"code":"200"}}"#] {
      #expect(try !rule.holds(for: answer(json(text))), "\(text)")
    }
    let unreadable: [UploadResponseBody?] = [
      nil, json(""), json("<html>"), json(#"{"status":{"code":200}"#), .complete([0xFF]), .incomplete("is cut off"),
    ]
    for body in unreadable { #expect(throws: UnreadableResponse.self) { try rule.holds(for: answer(body)) } }
    #expect(throws: (any Error).self) { try UploadSuccessRule("status.code ==") }

    let bench = try Bench()
    for text in [#"{"status":{"code":200}}"#, #"{"status":{"code":500}}"#, "<html>"] {
      try await bench.queue.enqueue(text, kind: "k")
    }
    let server = ScriptedServer(answer: { upload, number in
      // What cannot be read is sent again, and read then.
      let text = number > 3 ? #"{"status":{"code":200}}"# : try upload.decode(String.self)
      if try upload.decode(String.self).contains("500") { return answer(json(#"{"status":{"code":500}}"#)) }
      return answer(json(text))
    })
    var options = options
    options.success = { _, response in try rule.holds(for: response) }
    try await bench.run(server, options)
    #expect(try bench.queue.counts().delivered == 2 && bench.queue.counts().parked == 1)
    let parked = try #require(try bench.queue.uploads().first)
    #expect(parked.attempts == 6 && parked.lastError?.message.contains("fails the success rule") == true)
    #expect(server.log.count { $0.text == "<html>" } == 2)
    // Without a rule the status alone counts.
    try await bench.queue.retryAll()
    try await bench.run(server)
    #expect(try bench.queue.counts().count == 0)
  }
}
