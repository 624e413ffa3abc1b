import Documents
import Foundation
import MetricsTestKit
import Synchronization
import Testing
import UploadQueue
import WaitingTestSupport

@testable import ScanDaemon

@Suite(.timeLimit(.minutes(10))) struct QueueSurveyTests {
  let root = TestRoot()
  let receiver = Receiver()

  init() throws { try root.fill("ana") }

  /// Adds uploads as another process does.
  private func enqueue(
    _ count: Int = 1, of user: String, kind: String = "shop", notBefore: Date? = nil
  ) async throws -> UploadQueue {
    let store = try DocumentStore.inspect(root.directory.makeStore("documents", of: user))
    let queue = try UploadQueue(in: store)
    for number in 0..<count {
      try await queue.enqueue(
        payload: .json(UploadJSON(#"{"code":"\#(user) \#(number)"}"#)), kind: kind, orderKey: "k", notBefore: notBefore)
    }
    return queue
  }

  @Test func `each user is looked at a few times, however many there are`() async throws {
    let count = 120
    for number in 0..<count { _ = try await enqueue(of: "user \(number)") }
    let daemon = try root.daemon(receiver.environment()) { $0.hook("shop") }
    try await withServices(daemon) {
      try await eventually("all arrive") { receiver.log.count == count }
      try await eventually("all are empty") { daemon.survey.summaries.allSatisfy { $0.counts.count == 0 } }
      // One that finds the upload, one after it was sent, and one if that was just before the next survey.
      #expect(daemon.survey.lookCount <= 3 * (count + 2), "\(daemon.survey.lookCount) looks")
    }
    #expect(Set(receiver.codes).count == count, "each arrives once")
  }

  @Test func `users with many uploads do not keep the others from their turn, and each keeps its order`() async throws {
    for number in 0..<40 { _ = try await enqueue(number < 4 ? 30 : 2, of: "user \(number)") }
    let daemon = try root.daemon(receiver.environment()) { $0.hook("shop") }
    try await withServices(daemon) { try await eventually("all arrive") { receiver.log.count == 4 * 30 + 36 * 2 } }
    for number in 0..<40 {
      let codes = receiver.codes.filter { $0.hasPrefix("user \(number) ") }
      #expect(codes == (0..<(number < 4 ? 30 : 2)).map { "user \(number) \($0)" })
    }
  }

  @Test func `one worker is enough for all users, besides that of the signed-in one`() async throws {
    for number in 0..<3 { _ = try await enqueue(of: "user \(number)") }
    let daemon = try root.daemon(receiver.environment()) { options in
      options.hook("shop")
      options.maximumUploadWorkers = 1
      options.maximumOpenDocuments = 4
    }
    try await withServices(daemon) { try await eventually("all arrive") { receiver.log.count == 3 } }
  }

  @Test func `uploads that are sent later take no worker from the others`() async throws {
    // More of them than workers.
    for number in 0..<(UploadService.maximumWorkers + 4) {
      _ = try await enqueue(of: "later \(number)", notBefore: Date(timeIntervalSinceNow: 3600))
    }
    _ = try await enqueue(of: "zoe")
    let daemon = try root.daemon(receiver.environment()) { $0.hook("shop") }
    try await withServices(daemon) {
      try await eventually("it arrives") { receiver.codes == ["zoe 0"] }
      try await eventually("all wait") {
        daemon.survey.summaries.reduce(0) { $0 + $1.counts.waiting } == UploadService.maximumWorkers + 4
      }
    }
  }

  @Test func `an upload that is sent later goes when its time has come`() async throws {
    _ = try await enqueue(of: "bob", notBefore: Date(timeIntervalSinceNow: 2))
    let daemon = try root.daemon(receiver.environment()) { $0.hook("shop") }
    try await withServices(daemon) { try await eventually("it arrives") { receiver.codes == ["bob 0"] } }
  }

  @Test func `a file that has not changed is not opened again, and one that has is`() async throws {
    let queue = try await enqueue(2, of: "bob")
    try await queue.pause()
    let daemon = try root.daemon(receiver.environment()) { $0.hook("shop") }
    let survey = daemon.survey
    func run() async throws -> [String?] {
      let found = Mutex<[String?]>([])
      try await survey.run(isOver: { false }) { users in found.withLock { $0 += users } }
      return found.withLock { $0 }
    }
    func age() throws {
      let path = root.path + "/users/bob/documents.log"
      try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -60)], ofItemAtPath: path)
    }
    try age()
    #expect(try await run() == [])
    let looks = survey.lookCount
    #expect(survey.summaries.map(\.isPaused) == [true])
    #expect(try await run() == [])
    #expect(survey.lookCount == looks, "nothing was written")
    try await queue.resume()
    #expect(try await run() == ["bob"])
    #expect(survey.lookCount == looks + 1)
    // A file that was just written may change again within the resolution of its time.
    _ = try await run()
    #expect(survey.lookCount == looks + 2)
    _ = try root.directory.remove("bob")
    #expect(try await run() == [] && survey.summaries.isEmpty)
  }

  @Test func `what waits is summed up by webhook, with the oldest`() async throws {
    let before = QueueEnvironment.live.now()
    _ = try await enqueue(3, of: "bob", kind: "shop")
    _ = try await enqueue(2, of: "bob", kind: "stock")
    let queue = try await enqueue(1, of: "zoe", kind: "shop")
    let summary = try queue.summary()
    #expect(summary.waiting.map(\.kind) == ["shop"] && summary.waiting.map(\.count) == [1] && summary.hasWork)
    let daemon = try root.daemon(receiver.environment()) { $0.hook("shop", "stock") }
    try await daemon.survey.run(isOver: { false }) { _ in }
    let waiting = daemon.survey.summaries.flatMap(\.waiting)
    #expect(waiting.filter { $0.kind == "shop" }.reduce(0) { $0 + $1.count } == 4)
    #expect(waiting.filter { $0.kind == "stock" }.map(\.count) == [2])
    #expect(waiting.allSatisfy { $0.oldest >= before && $0.oldest <= QueueEnvironment.live.now() })
  }

  @Test(arguments: [0, -7200])
  func `the metrics have what waits for each webhook, and no negative age`(clockIsSetBy seconds: Int64) async throws {
    _ = try await enqueue(3, of: "bob")
    let metrics = TestMetrics()
    receiver.answer(0)
    var environment = receiver.environment()
    environment.metrics = metrics
    environment.time.now = { QueueEnvironment.live.now() + seconds * 1_000_000 }
    let daemon = try root.daemon(environment) { $0.hook("shop", "stock") }
    func value(_ name: String, _ webhook: String) -> Double? {
      try? metrics.expectGauge(name, [("webhook", webhook)]).lastValue
    }
    try await withServices(daemon) {
      try await eventually("it is measured") { value("shelfmark_uploads_waiting", "shop") == 3 }
      let oldest = try #require(value("shelfmark_uploads_oldest_seconds", "shop"))
      #expect(seconds < 0 ? oldest == 0 : oldest > 0 && oldest < 600)
      #expect(value("shelfmark_uploads_waiting", "stock") == 0)
      #expect(value("shelfmark_uploads_oldest_seconds", "stock") == 0)
    }
  }

  @Test func `a worker knows what waits without reading it again`() async throws {
    let queue = try await enqueue(3, of: "bob")
    let worker = UploadWorker(queue) { _ in UploadResponse(status: 200) }
    #expect(try worker.waitingUploads() == queue.summary().waiting)
    try await worker.run(untilEmpty: true)
    #expect(try worker.waitingUploads().isEmpty)
    let ending = await worker.ending
    #expect(ending?.sequence == (try queue.summary().sequence) && ending?.pause == nil)
  }
}
