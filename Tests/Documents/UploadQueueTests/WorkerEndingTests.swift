import StoreTestSupport
import Testing
import WaitingTestSupport

@testable import UploadQueue

/// Workers that end, and stores that fail.
@Suite struct WorkerEndingTests {
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

  @Test(arguments: [true, false])
  func `a store that is damaged is waited for by nobody`(isDrainedFirst: Bool) async throws {
    let bench = try Bench(clock: TestClock(moves: false))
    for text in ["answered", "not answered"] { try await bench.queue.enqueue(text, kind: "k") }
    let (started, start) = AsyncStream.makeStream(of: Void.self)
    let (released, release) = AsyncStream.makeStream(of: Void.self)
    let server = ScriptedServer(answer: { upload, _ in
      start.yield()
      if try upload.decode(String.self) == "not answered" { try await Task.sleep(for: .seconds(3600)) }
      for await _ in released { break }
      return UploadResponse(status: 200)
    })
    let worker = bench.worker(server)
    let run = Task { try await worker.run() }
    var starts = started.makeAsyncIterator()
    for _ in 0..<2 { await starts.next() }
    #expect(await worker.lastingFailure == nil)
    bench.device.place(Array("no store, but as long as one has to be".utf8), as: "documents.log")
    // The clock stands still: only the damage ends it.
    if isDrainedFirst {
      async let drained = worker.drain(within: .seconds(3600))
      await bench.clock.untilSleeping()
      release.yield()
      #expect(await !drained)
    } else {
      release.yield()
      while await worker.lastingFailure == nil { await Task.yield() }
      #expect(await !worker.drain(within: .seconds(3600)))
    }
    #expect(await worker.lastingFailure != nil)
    try await run.value
    #expect(await worker.inFlight == 0)
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
    let group = ClaimedGroup(uploads: [try #require(claimed)], isBatch: false)
    // Both are begun before the first one is over, as it may be while its end is being written.
    await worker.start(group, lease)
    await worker.start(group, lease)
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
    let group = ClaimedGroup(uploads: [try #require(claimed)], isBatch: false)
    await worker.start(group, lease)
    while await worker.inFlight > 0 { await Task.yield() }
    #expect(try bench.queue.upload(late)?.state == .waiting)
    #expect(try bench.queue.upload(id) == nil)
  }

  @Test func `a queue is empty when nothing is in it, whatever its numbers say`() async throws {
    let bench = try Bench()
    let id = try await bench.queue.enqueue("a", kind: "k")
    // As a repair leaves it that found an older document of the numbers.
    try await bench.queue.group.perform { $0.state.counts.waiting += 1 }
    try await bench.worker(ScriptedServer()).run(untilEmpty: true)
    #expect(try bench.queue.upload(id) == nil)
    #expect(try bench.queue.counts().waiting == 1)
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
      try change.settle(ordinal, old, .parked(UploadFailure(message: "no"), holds: false))
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
