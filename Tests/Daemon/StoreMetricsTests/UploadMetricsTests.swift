import Documents
import LogStore
import MetricsTestKit
import StoreTestSupport
import Testing
import StoreMetrics
import UploadQueue

@Suite struct UploadMetricsTests {
  private let metrics = TestMetrics()

  private func queue(_ dimensions: [(String, String)] = [], capacity: Int = 1000) throws -> UploadQueue {
    var options = QueueOptions()
    options.maximumCount = capacity
    options.trace = UploadMetrics.tracer(factory: metrics, dimensions: dimensions)
    let location = StoreLocation.test(
      SimulatedDevice().directory, name: "documents", environment: FixedEnvironment().environment())
    let store = try DocumentStore.open(location)
    var environment = QueueEnvironment.live
    environment.sleep = { _ in try await Task.sleep(for: .milliseconds(1)) }
    return try UploadQueue(in: store, options: options, environment: environment)
  }

  private func total(_ event: String) throws -> Int64 {
    try metrics.expectCounter("uploads_events_total", [("event", event)]).totalValue
  }

  @Test func `what becomes of uploads is counted`() async throws {
    let queue = try queue(capacity: 4)
    for kind in ["done", "never", "done", "old"] {
      try await queue.enqueue(kind, kind: kind, replaceKey: kind == "old" ? "the same" : nil)
    }
    await #expect(throws: UploadQueueError.self) { try await queue.enqueue("beyond", kind: "done") }
    try await queue.enqueue("old", kind: "old", replaceKey: "the same")
    var options = WorkerOptions()
    options.retry.maximumRetries = 0
    try await UploadWorker(queue, options: options) { upload in
      UploadResponse(status: upload.kind == "never" ? 400 : 200)
    }.run(untilEmpty: true)

    #expect(try total("enqueued") == 5)
    #expect(try total("superseded") == 1)
    #expect(try total("refused") == 1)
    #expect(try total("claimed") == 4)
    #expect(try total("delivered") == 3)
    #expect(try total("parked") == 1)
    for event in ["dropped", "expired", "backed_off", "released", "taken_back", "taken_over"] {
      #expect(try total(event) == 0)
    }
    let commits = try metrics.expectTimer("uploads_commit_seconds").values.count
    let calls = try metrics.expectCounter("uploads_commit_calls_total").totalValue
    #expect(commits > 5 && calls >= commits)
  }

  @Test func `a destination that is left alone shows until it answers`() async throws {
    let queue = try queue([("user", "ann")])
    for number in 0..<3 { try await queue.enqueue(number, kind: "scan", orderKey: "one") }
    var options = WorkerOptions()
    options.destination = { _ in "stock" }
    options.breakerFailures = 2
    options.breakerFirstPause = .milliseconds(1)
    options.retry.maximumRetries = 5
    options.retry.firstPause = .milliseconds(1)
    let attempts = Attempts()
    try await UploadWorker(queue, options: options) { _ in
      UploadResponse(status: await attempts.next() <= 3 ? 503 : 200)
    }.run(untilEmpty: true)

    let gauge = try metrics.expectGauge("uploads_breaker_open", [("user", "ann"), ("destination", "stock")])
    #expect(gauge.values.first == 1 && gauge.values.last == 0)
    let repeated = try metrics.expectCounter("uploads_events_total", [("user", "ann"), ("event", "backed_off")])
    #expect(repeated.totalValue == 3)
  }

  private actor Attempts {
    private var count = 0
    func next() -> Int {
      count += 1
      return count
    }
  }

  @Test func `gauges say what a queue holds`() async throws {
    let queue = try queue()
    try await queue.enqueue("one", kind: "scan")
    let following = Task { [metrics] in
      try await UploadMetrics.follow(queue, factory: metrics, dimensions: [("user", "ann")])
    }
    defer { following.cancel() }
    func last(_ label: String) -> Double? { try? metrics.expectGauge(label, [("user", "ann")]).lastValue }
    while last("uploads_payload_bytes") == nil { await Task.yield() }
    let bytes = try #require(last("uploads_payload_bytes"))
    #expect(last("uploads_waiting") == 1 && last("uploads_sending") == 0 && last("uploads_parked") == 0 && bytes > 0)

    try await queue.enqueue("two", kind: "scan")
    var options = WorkerOptions()
    options.retry.maximumRetries = 0
    try await UploadWorker(queue, options: options) { _ in UploadResponse(status: 422) }.run(untilEmpty: true)
    while last("uploads_parked") != 2 || last("uploads_payload_bytes") != 2 * bytes { await Task.yield() }
    #expect(last("uploads_waiting") == 0 && last("uploads_sending") == 0)
  }
}
