import Foundation
import StoreTestSupport
import Synchronization
import Testing

@testable import UploadQueue

/// What goes next, and what holds it up.
@Suite struct WorkerOrderTests {
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
    #expect(try again.queue.pauses() == [.manual])
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
}
