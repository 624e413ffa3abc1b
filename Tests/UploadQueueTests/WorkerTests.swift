import Documents
import Foundation
import RandomTestSupport
import Storage
import StoreTestSupport
import Synchronization
import Testing

@testable import UploadQueue

@Suite struct WorkerTests {
  // MARK: What is success

  @Test func `only 2xx removes an upload: after any other answer it is still there`() async throws {
    var options = Bench.plain
    options.retry.maximumRetries = 0
    options.breakerFailures = .max
    let bench = try Bench()
    let statuses =
      [0, 100, 101, 199, 200, 201, 204, 299] + [300, 301, 302, 304, 307, 399, 400, 401, 403, 404, 408, 409, 410]
    let all = statuses + [413, 422, 425, 429, 499, 500, 501, 502, 503, 504, 599, 600, 999]
    for status in all { try await bench.queue.enqueue("\(status)", kind: "k") }
    let server = ScriptedServer(answer: { upload, _ in UploadResponse(status: Int(try upload.decode(String.self))!) })
    try await bench.run(server, options)
    let left = try bench.queue.uploads().map { Int(try $0.decode(String.self))! }
    #expect(left == all.filter { !(200...299).contains($0) })
    #expect(try bench.queue.uploads().allSatisfy { $0.state == .parked && $0.lastError?.status != nil })
    #expect(try bench.queue.counts().delivered == 4)
  }

  @Test func `a transport that throws loses nothing`() async throws {
    let bench = try Bench()
    try await bench.queue.enqueue("a", kind: "k")
    try await bench.run(ScriptedServer(answer: { _, _ in throw NoNetwork() }))
    let upload = try #require(try bench.queue.uploads().first)
    #expect(upload.state == .parked && upload.attempts == 3 && upload.lastError?.message == "NoNetwork()")
  }

  @Test func `the caller may say that an answer means success`() async throws {
    var options = Bench.plain
    options.isAlreadyDone = { upload, response in response.status == 409 && upload.kind == "scan" }
    let bench = try Bench()
    try await bench.queue.enqueue("a", kind: "scan")
    try await bench.queue.enqueue("b", kind: "picture")
    try await bench.run(ScriptedServer(status: 409), options)
    #expect(try bench.queue.uploads().map(\.kind) == ["picture"])
    #expect(try bench.queue.counts().delivered == 1)
  }

  // MARK: Trying again

  @Test func `two repetitions by default, under the same id, and then it is parked and the queue goes on`() async throws
  {
    let bench = try Bench()
    let bad = try await bench.queue.enqueue("bad", kind: "k", orderKey: "o")
    let good = try await bench.queue.enqueue("good", kind: "k", orderKey: "o")
    let server = ScriptedServer(answer: { upload, _ in
      UploadResponse(status: try upload.decode(String.self) == "bad" ? 503 : 200)
    })
    try await bench.run(server)
    #expect(server.log.map(\.id) == [bad, bad, bad, good])
    #expect(server.log.map(\.attempt) == [1, 2, 3, 1])
    let parked = try #require(try bench.queue.upload(bad))
    #expect(parked.state == .parked && parked.attempts == 3 && parked.lastError?.status == 503)
    // The pauses of the policy, from half of each on.
    let pauses = bench.clock.pauses.filter { $0 > .milliseconds(100) }
    #expect(pauses.count == 2)
    #expect(pauses[0] >= .milliseconds(499) && pauses[0] <= .seconds(1))
    #expect(pauses[1] >= .milliseconds(999) && pauses[1] <= .seconds(2))
    // By hand it goes again, as often as at first.
    try await bench.queue.retry(bad)
    try await bench.run(server)
    #expect(server.log.count == 7)
    #expect(try await bench.queue.retryParked() == 1)
    try await bench.run(ScriptedServer())
    #expect(try bench.queue.counts().count == 0)
    await #expect(throws: UploadQueueError.unknown(id: bad)) { try await bench.queue.retry(bad) }
  }

  @Test func `Retry-After is waited for`() async throws {
    let bench = try Bench()
    try await bench.queue.enqueue("a", kind: "k")
    let start = bench.clock.now
    let server = ScriptedServer(answer: { _, number in
      number == 1 ? UploadResponse(status: 429, retryAfter: .seconds(120)) : UploadResponse(status: 200)
    })
    try await bench.run(server)
    #expect(server.log.count == 2)
    #expect(bench.clock.now - start >= 120_000_000)
  }

  @Test func `an attempt that takes too long is cancelled and counts as one that may pass`() async throws {
    let clock = TestClock(moves: false)
    let bench = try Bench(clock: clock)
    try await bench.queue.enqueue("a", kind: "k")
    var options = WorkerOptions()
    options.attemptTimeout = .seconds(30)
    options.retry.maximumRetries = 0
    let server = ScriptedServer(answer: { _, _ in
      try await Task.sleep(for: .seconds(3600))
      return UploadResponse(status: 200)
    })
    let worker = bench.worker(server, options)
    async let run: Void = worker.run(untilEmpty: true)
    await clock.untilSleeping()
    clock.advance(by: .seconds(30))
    try await run
    #expect(try bench.queue.uploads().first?.lastError?.message.contains("no answer within") == true)
  }

  @Test func `a file is sent only if it is the one that was enqueued`() async throws {
    let folder = try TemporaryDirectory()
    let bench = try Bench()
    try folder.write(Array("picture".utf8), to: "same.jpg")
    try folder.write(Array("picture".utf8), to: "longer.jpg")
    try folder.write(Array("picture".utf8), to: "other.jpg")
    try folder.write([], to: "gone.jpg")
    for name in ["same", "longer", "other", "gone"] {
      let file = try FileReference(contentsOf: folder.path + "/\(name).jpg")
      try await bench.queue.enqueue(payload: .file(file), kind: name)
    }
    #expect(throws: UploadQueueError.self) { try FileReference(contentsOf: folder.path + "/none.jpg") }
    #expect(throws: UploadQueueError.self) { try FileReference(contentsOf: folder.path + "/") }
    try folder.write(Array("pictures".utf8), to: "longer.jpg")
    try folder.write(Array("pictare".utf8), to: "other.jpg")
    _ = try folder.directory.remove("gone.jpg")
    let server = ScriptedServer(answer: { upload, _ in
      guard case .file(let file) = upload.payload else { throw UploadRefusal("no file") }
      #expect(try file.contents() == Array("picture".utf8))
      #expect(throws: UploadQueueError.isFile(id: upload.id)) { try upload.decode(String.self) }
      return UploadResponse(status: 200)
    })
    try await bench.run(server)
    #expect(server.log.count == 1)
    let left = try bench.queue.uploads()
    #expect(left.map(\.kind) == ["longer", "other", "gone"])
    #expect(left.allSatisfy { $0.state == .parked && $0.attempts == 1 })
  }

  // MARK: Order

  @Test func `what cannot go holds up its own key and no other`() async throws {
    var options = Bench.plain
    options.concurrency = 1
    options.breakerFailures = .max
    let bench = try Bench()
    try await bench.queue.enqueue("a1", kind: "k", orderKey: "a")
    try await bench.queue.enqueue("a2", kind: "k", orderKey: "a")
    try await bench.queue.enqueue("b1", kind: "k", orderKey: "b")
    try await bench.queue.enqueue("c", kind: "k")
    let server = ScriptedServer(answer: { upload, number in UploadResponse(status: number < 3 ? 500 : 200) })
    try await bench.run(server, options)
    // a1 backs off, then b1; c goes, and each key keeps its order.
    #expect(server.texts.prefix(3) == ["a1", "b1", "c"])
    let a = server.texts.filter { $0.hasPrefix("a") }
    #expect(a == ["a1", "a1", "a2"])
  }

  @Test func `priority decides between keys, the order within one, and not-before over both`() async throws {
    var options = Bench.plain
    options.concurrency = 1
    let bench = try Bench()
    let later = Date(timeIntervalSince1970: 1_700_001_000)
    try await bench.queue.enqueue("low", kind: "k", priority: .low)
    try await bench.queue.enqueue("later", kind: "k", priority: .high, notBefore: later)
    try await bench.queue.enqueue("a1", kind: "k", orderKey: "a", priority: .low)
    try await bench.queue.enqueue("a2", kind: "k", orderKey: "a", priority: .high)
    try await bench.queue.enqueue("normal 1", kind: "k")
    try await bench.queue.enqueue("normal 2", kind: "k")
    try await bench.queue.enqueue("high", kind: "k", priority: .high)
    let server = ScriptedServer()
    try await bench.run(server, options)
    #expect(server.texts == ["high", "normal 1", "normal 2", "low", "a1", "a2", "later"])
  }

  @Test func `an order key is one at a time, and no more attempts run than are allowed`() async throws {
    for concurrency in [1, 2, 7] {
      var options = Bench.plain
      options.concurrency = concurrency
      let bench = try Bench()
      for number in 0..<60 {
        try await bench.queue.enqueue("\(number)", kind: "k", orderKey: number % 3 == 0 ? nil : "\(number % 5)")
      }
      let running = Mutex<Set<String>>([])
      let server = ScriptedServer(answer: { upload, _ in
        if let key = upload.orderKey {
          let isAlone = running.withLock { $0.insert(key).inserted }
          #expect(isAlone)
        }
        for _ in 0..<5 { await Task.yield() }
        if let key = upload.orderKey { running.withLock { _ = $0.remove(key) } }
        return UploadResponse(status: 200)
      })
      try await bench.run(server, options)
      #expect(server.mostRunning <= concurrency)
      #expect(concurrency > 2 || server.mostRunning == concurrency)
      let byKey = Dictionary(grouping: server.log.filter { $0.orderKey != nil }) { $0.orderKey! }
      for (_, requests) in byKey {
        let numbers = requests.map { Int($0.text)! }
        #expect(numbers == numbers.sorted())
      }
      #expect(server.log.count == 60)
    }
  }

  @Test func `what expires while it waits is dropped and counted, and not sent`() async throws {
    let bench = try Bench()
    try await bench.queue.enqueue("short", kind: "k", timeToLive: .seconds(1))
    try await bench.queue.enqueue("long", kind: "k", timeToLive: .seconds(1000))
    bench.clock.advance(by: .seconds(10))
    let server = ScriptedServer(answer: { _, _ in UploadResponse(status: 503, retryAfter: .seconds(2000)) })
    try await bench.run(server)
    #expect(server.texts == ["long"])
    #expect(try bench.queue.counts().expired == 2)
    #expect(try bench.queue.counts().count == 0)
  }

  // MARK: Standing still

  @Test func `a paused queue sends nothing until it is resumed, whoever opens it`() async throws {
    let bench = try Bench()
    try await bench.queue.enqueue("a", kind: "k")
    try await bench.queue.pause()
    try await bench.queue.pause(.unreachable)
    let again = try Bench(bench.device)
    let server = ScriptedServer()
    try await again.run(server)
    #expect(server.log.isEmpty)
    try await again.queue.resume(.unreachable)
    #expect(try again.queue.pauses() == [.byHand])
    try await again.run(server)
    #expect(server.log.isEmpty)
    try await bench.queue.resume()
    try await again.run(server)
    #expect(server.texts == ["a"])
  }

  @Test func `a reachability signal pauses and resumes`() async throws {
    let bench = try Bench()
    let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
    var options = Bench.plain
    options.reachability = stream
    let server = ScriptedServer()
    let worker = bench.worker(server, options)
    let run = Task { try await worker.run() }
    var pauses = bench.queue.observedPauses.makeAsyncIterator()
    #expect(try await pauses.next() == [])
    continuation.yield(false)
    #expect(try await pauses.next() == [.unreachable])
    try await bench.queue.enqueue("a", kind: "k")
    #expect(server.log.isEmpty)
    continuation.yield(true)
    var counts = bench.queue.observedCounts.makeAsyncIterator()
    while let now = try await counts.next(), now.delivered == 0 {}
    #expect(server.texts == ["a"])
    await worker.drain(within: .seconds(1))
    try await run.value
  }

  @Test func `a destination that fails is left alone, and others are not`() async throws {
    let bench = try Bench()
    var options = Bench.plain
    options.concurrency = 1
    options.destination = { $0 }
    options.breakerFailures = 2
    options.retry.maximumRetries = 10
    for number in 0..<4 { try await bench.queue.enqueue("dead \(number)", kind: "dead") }
    for number in 0..<4 { try await bench.queue.enqueue("live \(number)", kind: "live", priority: .low) }
    let clock = bench.clock
    let start = clock.now
    let server = ScriptedServer(answer: { upload, _ in
      UploadResponse(status: upload.kind == "dead" && clock.now - start < 200_000_000 ? 503 : 200)
    })
    try await bench.run(server, options)
    #expect(server.texts.prefix(6) == ["dead 0", "dead 1", "live 0", "live 1", "live 2", "live 3"])
    #expect(try bench.queue.counts().delivered == 8)
    let opened = bench.events.all.compactMap { event in
      if case .breakerOpened("dead", let pause) = event { pause } else { nil }
    }
    #expect(opened == [.seconds(30), .seconds(60), .seconds(120)])
    #expect(bench.events.all.contains(.breakerClosed(destination: "dead")))
    #expect(server.log.count { $0.status == 503 } == 4)
  }

  // MARK: Ending

  @Test func `draining waits for what runs and begins nothing more`() async throws {
    let bench = try Bench(clock: TestClock(moves: false))
    for number in 0..<5 { try await bench.queue.enqueue("\(number)", kind: "k") }
    let (started, start) = AsyncStream.makeStream(of: Void.self)
    let (released, release) = AsyncStream.makeStream(of: Void.self)
    let server = ScriptedServer(answer: { _, _ in
      start.yield()
      for await _ in released { break }
      return UploadResponse(status: 200)
    })
    var options = Bench.plain
    options.concurrency = 1
    let worker = bench.worker(server, options)
    let run = Task { try await worker.run() }
    for await _ in started { break }
    async let drained = worker.drain(within: .seconds(10))
    await bench.clock.untilSleeping()
    release.yield()
    #expect(await drained)
    try await run.value
    #expect(server.log.count == 1)
    #expect(try bench.queue.counts().waiting == 4)
    try checkInvariants(bench.queue)
  }

  @Test func `what does not end in time is cancelled, and waits again`() async throws {
    let bench = try Bench(clock: TestClock(moves: false))
    let id = try await bench.queue.enqueue("a", kind: "k")
    let (started, start) = AsyncStream.makeStream(of: Void.self)
    let server = ScriptedServer(answer: { _, _ in
      start.yield()
      try await Task.sleep(for: .seconds(3600))
      return UploadResponse(status: 200)
    })
    let worker = bench.worker(server)
    let run = Task { try await worker.run() }
    for await _ in started { break }
    async let drained = worker.drain(within: .seconds(10))
    await bench.clock.untilSleeping()
    bench.clock.advance(by: .seconds(10))
    #expect(await !drained)
    try await run.value
    #expect(try bench.queue.upload(id)?.state == .waiting)
    #expect(bench.events.all.contains(.released(id)))
    // It is no failure of the upload.
    let entry = try bench.queue.tables.schedule.query().first()
    #expect(entry?.failures == 0 && entry?.attempts == 1)
  }

  @Test func `a worker whose task is cancelled ends, and so does one that is drained before it runs`() async throws {
    let bench = try Bench()
    let worker = bench.worker(ScriptedServer())
    let run = Task { try await worker.run() }
    run.cancel()
    try await run.value
    let other = bench.worker(ScriptedServer())
    #expect(await other.drain(within: .seconds(1)))
    try await other.run()
  }

  @Test func `an attempt that ends takes no later one of the same upload off the list`() async throws {
    let bench = try Bench()
    let id = try await bench.queue.enqueue("a", kind: "k")
    let (released, release) = AsyncStream.makeStream(of: Void.self)
    let server = ScriptedServer(answer: { _, number in
      if number == 2 { for await _ in released { break } }
      return UploadResponse(status: number == 1 ? 503 : 200)
    })
    let worker = bench.worker(server)
    let lease = ScheduleEntry.Lease(slot: 0, holder: 1)
    let claimed = try await bench.queue.group.perform { try $0.claim(try $0.entry(of: id), lease) }
    let (entry, upload) = try #require(claimed)
    // Both are begun before the first one is over, as it may be while its end is being written.
    await worker.start(entry, upload, lease)
    await worker.start(entry, upload, lease)
    #expect(await worker.inFlight == 2)
    while server.log.isEmpty { await Task.yield() }
    while await worker.inFlight == 2 { await Task.yield() }
    for _ in 0..<100 { await Task.yield() }
    #expect(await worker.inFlight == 1)
    release.yield()
    while await worker.inFlight > 0 { await Task.yield() }
    #expect(server.log.count == 2)
  }

  @Test func `an attempt that begins when the time to drain is over is cancelled like the others`() async throws {
    let bench = try Bench(clock: TestClock(moves: false))
    let id = try await bench.queue.enqueue("a", kind: "k")
    let worker = bench.worker(ScriptedServer())
    let run = Task { try await worker.run() }
    var counts = bench.queue.observedCounts.makeAsyncIterator()
    while let now = try await counts.next(), now.delivered == 0 {}
    await worker.drain(within: .seconds(1))
    try await run.value
    // What it was about to begin waits again, and nobody got it.
    let lease = ScheduleEntry.Lease(slot: 0, holder: 1)
    let late = try await bench.queue.enqueue("late", kind: "k")
    let claimed = try await bench.queue.group.perform { try $0.claim(try $0.entry(of: late), lease) }
    let (entry, upload) = try #require(claimed)
    await worker.start(entry, upload, lease)
    while await worker.inFlight > 0 { await Task.yield() }
    #expect(try bench.queue.upload(late)?.state == .waiting)
    #expect(try bench.queue.upload(id) == nil)
  }

  // MARK: Leases

  @Test func `the lease of a worker that is no more is taken over, that of a live one never`() async throws {
    let device = SimulatedDevice()
    let bench = try Bench(device)
    let queue = bench.queue
    let dead = try await queue.enqueue("dead", kind: "k")
    let live = try await queue.enqueue("live", kind: "k")
    let gone = try #require(try WorkerSlot.lock(queue.tables, 0))
    let holder = try #require(try WorkerSlot.lock(queue.tables, 1))
    try await queue.group.perform { change in
      let entries = try [dead, live].map { try change.entry(of: $0) }
      _ = try change.claim(entries[0], ScheduleEntry.Lease(slot: 0, holder: 1))
      _ = try change.claim(entries[1], ScheduleEntry.Lease(slot: 1, holder: 2))
    }
    gone.release()
    let worker = bench.worker(ScriptedServer())
    let run = Task { try await worker.run() }
    var counts = queue.observedCounts.makeAsyncIterator()
    while let now = try await counts.next(), now.delivered == 0 {}
    await worker.drain(within: .seconds(1))
    try await run.value
    #expect(bench.events.all.contains(.takenOver(dead)))
    #expect(try queue.upload(live)?.state == .sending)
    // Now it ends as well, and its lock is the next worker's or is free.
    holder.release()
    let server = ScriptedServer()
    try await bench.run(server)
    #expect(server.texts == ["live"])
  }

  @Test func `an upload that ends its workers is parked at last`() async throws {
    let bench = try Bench()
    let id = try await bench.queue.enqueue("poison", kind: "k")
    for round in 0..<4 {
      let lease = ScheduleEntry.Lease(slot: 3, holder: Int64(round))
      try await bench.queue.group.perform { change in
        _ = try change.claim(try change.entry(of: id), lease)
      }
      try await bench.queue.group.perform { change in
        try change.takeOver(try change.entry(of: id).id, lease, limit: 3)
      }
      #expect(try bench.queue.upload(id)?.state == (round < 3 ? .waiting : .parked))
    }
    #expect(try bench.queue.upload(id)?.lastError?.message.contains("4 times") == true)
    try checkInvariants(bench.queue)
  }

  @Test func `an answer to a worker that lost its lease changes nothing`() async throws {
    let bench = try Bench()
    let id = try await bench.queue.enqueue("a", kind: "k")
    let old = ScheduleEntry.Lease(slot: 0, holder: 1)
    let new = ScheduleEntry.Lease(slot: 0, holder: 2)
    try await bench.queue.group.perform { change in _ = try change.claim(try change.entry(of: id), new) }
    try await bench.queue.group.perform { change in
      let ordinal = try change.entry(of: id).id
      try change.settle(ordinal, old, .delivered)
      try change.settle(ordinal, old, .parked(UploadFailure(message: "no")))
      try change.takeOver(ordinal, old, limit: 3)
    }
    #expect(try bench.queue.upload(id)?.state == .sending)
    await #expect(throws: UploadQueueError.isBeingSent(id: id)) { try await bench.queue.drop(id) }
    #expect(try await bench.queue.clear() == 0)
  }

  @Test func `there are so many workers and no more`() throws {
    let bench = try Bench()
    var slots: [WorkerSlot] = []
    for _ in 0..<WorkerSlot.count { slots.append(try WorkerSlot.take(bench.queue.tables, bench.clock.environment)) }
    #expect(Set(slots.map(\.lease.slot)).count == WorkerSlot.count)
    #expect(throws: UploadQueueError.tooManyWorkers(queue: "uploads", limit: WorkerSlot.count)) {
      try WorkerSlot.take(bench.queue.tables, bench.clock.environment)
    }
    slots[5].release()
    #expect(try WorkerSlot.take(bench.queue.tables, bench.clock.environment).lease.slot == 5)
  }

  // MARK: A store that fails

  @Test func `an upload whose success cannot be written is not sent again while its worker lives`() async throws {
    let bench = try Bench()
    try await bench.queue.enqueue("a", kind: "k")
    let device = bench.device
    let server = ScriptedServer(answer: { _, _ in
      device.refuse(.write, 28)
      return UploadResponse(status: 200)
    })
    let worker = bench.worker(server)
    let run = Task { try await worker.run(untilEmpty: true) }
    while bench.events.all.count(where: { if case .storeFailed = $0 { true } else { false } }) < 3 {
      await Task.yield()
    }
    device.failNoMore()
    try await run.value
    #expect(server.log.count == 1)
    #expect(try bench.queue.counts().delivered == 1)
    try checkInvariants(bench.queue)
  }
}
