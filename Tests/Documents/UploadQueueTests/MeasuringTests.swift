import Documents
import Foundation
import LogStore
import StoreTestSupport
import Testing

@testable import UploadQueue

/// Whether the figures are wanted: they take a while, and say something on a quiet machine only.
private let isAsked = ProcessInfo.processInfo.environment["SHELFMARK_MEASURE"] != nil

/// How fast a queue is on the disk of the temporary directory. `SHELFMARK_MEASURE=1 swift test -c release --filter
/// Measuring`
@Suite(.serialized, .enabled(if: isAsked)) struct MeasuringTests {
  private struct Scan: Codable {
    var code = "4006381333931"
    var input = "counter 1"
    var time = 1_700_000_000.25
    var number: Int
  }

  @Test(arguments: [1, 8, 32, 256])
  func `enqueues a second`(_ tasks: Int) async throws {
    let folder = try TemporaryDirectory()
    let events = Bench.Events()
    var options = QueueOptions()
    options.trace = { event in if case .committed = event { events.add(event) } }
    let store = try DocumentStore.open(StoreLocation.test(folder.directory, name: "documents"))
    let queue = try UploadQueue(in: store, options: options)
    let each = max(20, 8000 / tasks / (tasks == 1 ? 40 : 1))
    let start = ContinuousClock.now
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<tasks {
        group.addTask {
          for number in 0..<each { try await queue.enqueue(Scan(number: number), kind: "scan", orderKey: "\(task)") }
        }
      }
      try await group.waitForAll()
    }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    let rate = Int(Double(tasks * each) / seconds)
    print("\(tasks) callers: \(rate) enqueues/s, \(events.commits.count) commits for \(tasks * each)")
    #expect(try queue.counts().count == tasks * each)
  }

  /// What the queue costs, without a network: one key, batches of so many.
  @Test(arguments: [1, 100, 1000])
  func `uploads of one key sent a second, in batches`(_ maximum: Int) async throws {
    let folder = try TemporaryDirectory()
    let store = try DocumentStore.open(StoreLocation.test(folder.directory, name: "documents"))
    let queue = try UploadQueue(in: store)
    let count = maximum == 1 ? 1000 : 50_000
    for start in stride(from: 0, to: count, by: 1000) {
      try store.transaction { transaction in
        for number in start..<(start + 1000) {
          try queue.enqueue(Scan(number: number), kind: "scan", orderKey: "o", in: transaction)
        }
      }
    }
    var options = WorkerOptions()
    options.batches["scan"] = UploadBatchOptions(maximumCount: maximum)
    let start = ContinuousClock.now
    let worker = UploadWorker(
      queue, options: options, batchTransport: { _ in UploadResponse(status: 200) },
      transport: { _ in UploadResponse(status: 200) })
    try await worker.run(untilEmpty: true)
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    print("batches of \(maximum): \(Int(Double(count) / seconds)) sent/s (\(count) in \(seconds) s)")
    #expect(try queue.counts().delivered == count)
  }

  @Test(arguments: [0, 100_000])
  func `uploads sent a second, with so many parked`(_ parked: Int) async throws {
    let folder = try TemporaryDirectory()
    let store = try DocumentStore.open(StoreLocation.test(folder.directory, name: "documents"))
    let queue = try UploadQueue(in: store)
    for start in stride(from: 0, to: parked, by: 10_000) {
      try store.transaction { transaction in
        for number in start..<(start + 10_000) { try queue.enqueue(Scan(number: number), kind: "bad", in: transaction) }
      }
    }
    try await queue.group.perform { change in
      for ordinal in 1..<(Int64(parked) + 1) {
        guard let entry = try change.entry(ordinal) else { continue }
        let lease = ScheduleEntry.Lease(slot: 0, holder: 0)
        _ = try change.claim(entry, lease)
        try change.settle(ordinal, lease, .parked(UploadFailure(message: "no"), holds: false))
      }
    }
    let count = 1000
    try store.transaction { transaction in
      for number in 0..<count { try queue.enqueue(Scan(number: number), kind: "scan", in: transaction) }
    }
    for concurrency in [2, 32] {
      var options = WorkerOptions()
      options.concurrency = concurrency
      let start = ContinuousClock.now
      try await UploadWorker(queue, options: options) { _ in UploadResponse(status: 200) }.run(untilEmpty: true)
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      let sent = try queue.counts().delivered
      print("\(parked) parked, \(concurrency) at once: \(Int(Double(sent) / seconds)) sent/s (\(sent) in \(seconds) s)")
      try store.transaction { transaction in
        for number in 0..<count { try queue.enqueue(Scan(number: number), kind: "scan", in: transaction) }
      }
      try await queue.group.perform {
        $0.state.counts.enqueued -= $0.state.counts.delivered; $0.state.counts.delivered = 0
      }
    }
  }
}
