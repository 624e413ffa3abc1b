import Documents
import LogStore
import RandomTestSupport
import StoreTestSupport
import Synchronization
import Testing
import WaitingTestSupport

@testable import UploadQueue

/// Random operations on a queue with a worker, a server and a device that fail, against the results that the caller got.
@Suite struct WorkerModelTests {
  /// What a caller knows of an upload.
  private struct Known {
    var text: String
    var orderKey: String?
    var mayVanish: Bool
  }

  @Test func `whatever is called and whatever fails, what was accepted arrives, in order, or is still there`()
    async throws
  {
    var random = SeededGenerator(for: "WorkerModelTests")
    for round in 0..<(12 * depth) { try await self.round(round, &random) }
  }

  private func round(_ round: Int, _ random: inout SeededGenerator) async throws {
    let device = SimulatedDevice()
    let clock = TestClock(seed: random.next())
    var bench = try Bench(device, clock: clock)
    var known: [UploadID: Known] = [:]
    let answers = Mutex(SeededGenerator(seed: random.next()))
    let server = ScriptedServer(answer: { _, _ in
      let choice = answers.withLock { Int.random(in: 0..<20, using: &$0) }
      switch choice {
      case 0..<11: return UploadResponse(status: 200)
      case 11..<14: return UploadResponse(status: 503)
      case 14: return UploadResponse(status: 429, retryAfter: .seconds(5))
      case 15: return UploadResponse(status: 404)
      case 16: return UploadResponse(status: 302)
      default: throw NoNetwork()
      }
    })
    var options = Bench.plain
    options.breakerFirstPause = .seconds(1)
    for step in 0..<40 {
      options.concurrency = Int.random(in: 1...4, using: &random)
      switch Int.random(in: 0..<16, using: &random) {
      case 0..<7:
        let text = "\(step)"
        let orderKey = ["x", "y", nil].randomElement(using: &random)!
        let replaceKey = Int.random(in: 0..<4, using: &random) == 0 ? "r\(Int.random(in: 0..<2, using: &random))" : nil
        let lives = Int.random(in: 0..<8, using: &random) > 0
        if Int.random(in: 0..<10, using: &random) == 0 {
          device.fail(
            [.write, .sync].randomElement(using: &random)!, Int.random(in: 1...3, using: &random), DeviceFault(5))
        }
        let isText = step.isMultiple(of: 2)
        let id = try? await bench.queue.enqueue(
          payload: isText ? .json(UploadJSON("\"\(text)\"")) : .value(.text(text)), kind: "k", orderKey: orderKey,
          replaceKey: replaceKey,
          priority: UploadPriority.allCases.randomElement(using: &random)!, timeToLive: lives ? nil : .seconds(3))
        device.failNoMore()
        if let id { known[id] = Known(text: text, orderKey: orderKey, mayVanish: replaceKey != nil || !lives) }
      case 7..<10:
        options.onParked = nil
        if Bool.random(using: &random) { options.onParked = { _, key in key == "x" ? .hold : .continue } }
        options.batches["k"] = Bool.random(using: &random) ? UploadBatchOptions(maximumCount: 3) : nil
        let worker = UploadWorker(
          bench.queue, options: options, batchTransport: { (batch: UploadBatch) in try await server.send(batch) },
          transport: { (upload: Upload) in try await server.send(upload) })
        try await worker.run(untilEmpty: true)
      case 10:
        let states: [Set<UploadState>] = [[.parked], [.waiting], [.parked, .waiting]]
        _ = try await bench.queue.retryAll(states.randomElement(using: &random)!)
      case 11:
        if let id = known.keys.sorted().randomElement(using: &random) {
          do {
            try await bench.queue.drop(id)
            known[id]?.mayVanish = true
          } catch let error as UploadQueueError { #expect(error == .unknown(id: id)) }
        }
      case 12: clock.advance(by: .seconds(Int.random(in: 1...10, using: &random)))
      case 13: try await (Bool.random(using: &random) ? bench.queue.pause() : bench.queue.resume())
      case 14: try bench.documents.compact()
      default: bench = try Bench(device, clock: clock)
      }
      try checkInvariants(bench.queue)
    }
    // In the end everything arrives.
    try await bench.queue.resume()
    try await bench.queue.retryAll()
    let willing = ScriptedServer()
    try await bench.run(willing)
    #expect(try bench.queue.counts().count == 0)
    let delivered = Set((server.log + willing.log).filter { $0.status == 200 }.map(\.id))
    for (id, upload) in known where !upload.mayVanish {
      #expect(delivered.contains(id), "round \(round): \(upload.text) was accepted and never arrived")
    }
    let all = server.log + willing.log
    let repeated = Dictionary(grouping: all.filter { $0.status == 200 }, by: \.id).filter { $0.value.count > 1 }
    #expect(repeated.isEmpty, "round \(round): nothing is sent after its success was committed")
  }
}
