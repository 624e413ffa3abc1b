import Foundation
import Storage
import StoreTestSupport
import Synchronization
import Testing
import WaitingTestSupport

@testable import UploadQueue
import Platform

/// What becomes of an upload by its answer.
@Suite struct WorkerTests {
  // MARK: What is success

  @Test func `only 2xx removes an upload: after any other answer it is still there`() async throws {
    var options = Bench.plain
    options.retry.maximumRetries = 0
    options.breakerFailures = .max
    // One that pauses its destination holds up no other.
    options.destination = { $0 }
    let bench = try Bench()
    let statuses =
      [0, 100, 101, 199, 200, 201, 204, 299] + [300, 301, 302, 304, 307, 399, 400, 401, 403, 404, 408, 409, 410]
    let all = statuses + [413, 422, 425, 429, 499, 500, 501, 502, 503, 504, 599, 600, 999]
    for status in all { try await bench.queue.enqueue("\(status)", kind: "\(status)") }
    let server = ScriptedServer(answer: { upload, _ in UploadResponse(status: Int(try upload.decode(String.self))!) })
    try await bench.run(server, options)
    let left = try bench.queue.uploads().map { Int(try $0.decode(String.self))! }
    #expect(left == all.filter { !(200...299).contains($0) })
    #expect(try bench.queue.uploads().allSatisfy { $0.lastError?.status != nil })
    #expect(try bench.queue.uploads(.parked).allSatisfy { $0.attempts == 1 })
    let waiting = try bench.queue.uploads(.waiting).map { Int(try $0.decode(String.self))! }
    #expect(waiting == [300, 301, 302, 304, 307, 399, 401, 403, 404, 410], "what is about the receiver parks nothing")
    #expect(try bench.queue.counts().delivered == 4)
  }

  @Test func `a success that was committed is never sent again, by this worker or the next`() async throws {
    let bench = try Bench()
    for number in 0..<10 { try await bench.queue.enqueue("\(number)", kind: "k", orderKey: "\(number % 3)") }
    let server = ScriptedServer(answer: { _, number in UploadResponse(status: number % 4 == 3 ? 503 : 201) })
    try await bench.run(server)
    try await bench.run(server)
    try await Bench(bench.device, clock: bench.clock).run(server)
    try await bench.queue.retryAll()
    try await bench.run(server)
    let successes = Dictionary(grouping: server.log.filter { $0.status == 201 }, by: \.id)
    #expect(successes.count == 10 && successes.values.allSatisfy { $0.count == 1 })
    for id in successes.keys { #expect(server.log.last { $0.id == id }?.status == 201) }
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
    #expect(try await bench.queue.retryAll() == 1)
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

  @Test func `what reads a file holds up no task`() async throws {
    final class State: Sendable {
      let reads = Atomic(0)
      let isOver = Atomic(false)
    }
    let state = State()
    // More than there are threads for tasks. They end when a task did something after as many as there are have begun.
    // If the reads took the tasks' threads, that would never be; five minutes are for tests that keep these threads
    // busy.
    let threads = ProcessInfo.processInfo.activeProcessorCount
    let task = Task {
      while state.reads.load(ordering: .relaxed) < threads { await Task.yield() }
      state.isOver.store(true, ordering: .relaxed)
    }
    let inTime = try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<2 * threads {
        group.addTask {
          try await BlockingThread.run {
            state.reads.add(1, ordering: .relaxed)
            let end = ContinuousClock.now + .seconds(300)
            while !state.isOver.load(ordering: .relaxed), ContinuousClock.now < end {
              Thread.sleep(forTimeInterval: 0.001)
            }
            return state.isOver.load(ordering: .relaxed)
          }
        }
      }
      return try await group.reduce(true) { $0 && $1 }
    }
    #expect(inTime)
    await task.value
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
}
