import DocumentFormat
import Foundation
import ScanInputs
import Synchronization
import Testing
import UploadQueue
import WaitingTestSupport

@testable import ScanDaemon

/// Receivers that refuse, and what the daemon says and does then.
@Suite(.timeLimit(.minutes(10))) struct WebhookFailureTests {
  let root = TestRoot()

  init() throws { try root.fill("ana") }

  /// A receiver that answers as a test says, and writes down what it took, and when.
  private final class Shop: Sendable {
    private let state = Mutex<[(code: String, time: Int64)]>([])
    private let answer = Mutex<@Sendable (String) -> UploadResponse>({ _ in UploadResponse(status: 204) })
    private let now: @Sendable () -> Int64

    init(now: @escaping @Sendable () -> Int64 = { 0 }) { self.now = now }

    var log: [(code: String, time: Int64)] { state.withLock { $0 } }
    var codes: [String] { log.map(\.code) }
    func answers(_ answer: @escaping @Sendable (String) -> UploadResponse) { self.answer.withLock { $0 = answer } }

    func send(_ upload: Upload) -> UploadResponse {
      let response = answer.withLock { $0 }(upload.code)
      if (200...299).contains(response.status) { state.withLock { $0.append((upload.code, now())) } }
      return response
    }

    func environment(_ time: QueueEnvironment = .live) -> DaemonEnvironment {
      var environment = DaemonEnvironment()
      environment.time = time
      environment.webhook = { [self] _ in WebhookTransport { self.send($0) } }
      return environment
    }
  }

  @Test(arguments: [nil, 1.0])
  func `three codes that the receiver refuses with 500 hold up no other of their input for half a minute`(
    longestPause: Double?
  ) async throws {
    let clock = TestClock()
    let shop = Shop { clock.now }
    shop.answers { UploadResponse(status: $0.hasPrefix("bad") ? 500 : 204) }
    let daemon = try root.daemon(shop.environment(clock.environment)) { options in
      options.hook("shop")
      if let longestPause { options.webhooks[0].retry.longestPause = .seconds(longestPause) }
    }
    var sent: [String: Int64] = [:]
    try await withServices(daemon) {
      /// Returns when nothing can go before the clock moves.
      func settle() async throws {
        try await eventually("nothing can go now") {
          // The scans after a failing one may be tried at any moment: nothing is written any more when that is over.
          let commits = try root.documentCommitCount()
          try await Task.sleep(for: .milliseconds(20))
          if try root.documentCommitCount() != commits { return false }
          let uploads = try daemon.queue().uploads().filter { $0.state != .parked }
          guard let first = uploads.first else { return true }
          return first.state == .waiting && first.lastError != nil
            && first.notBefore?.timeIntervalSince1970 ?? 0 > Double(clock.now) / 1e6
        }
      }
      for second in 0..<240 {
        if second < 120, second % 5 == 0 {
          if second == 10 {
            for number in 0..<3 { _ = await daemon.scan(Reading(input: "a", code: "bad \(number)")) }
          }
          let code = "good \(second)"
          sent[code] = clock.now
          #expect(await daemon.scan(Reading(input: "a", code: code)).recording == .durable)
        }
        for _ in 0..<2 {
          try await settle()
          clock.advance(by: .milliseconds(500))
        }
      }
      try await eventually("the parked ones are reported") {
        try daemon.problemNames().filter { $0 != "webhook_failing shop" }.contains("uploads_parked shop")
      }
      #expect(try daemon.queue().counts().parked == 3)
      // Somebody decides, in whatever process: it is no problem any more.
      _ = try await daemon.queue().clear([.parked])
      try await eventually("no problem is left") {
        clock.advance(by: .seconds(5))
        return try !daemon.problemNames().contains { $0.hasSuffix("shop") }
      }
    }
    for (code, time) in sent {
      let arrival = try #require(shop.log.first { $0.code == code }, "\(code) did not arrive")
      #expect(arrival.time - time <= 30_000_000, "\(code) took \((arrival.time - time) / 1_000_000) s")
    }
    #expect(shop.codes == shop.codes.sorted { Int($0.dropFirst(5)) ?? 0 < Int($1.dropFirst(5)) ?? 0 })
  }

  @Test(arguments: [401, 404, 302])
  func `an answer about the receiver pauses the webhook, which is a problem until it takes scans again`(status: Int)
    async throws
  {
    let shop = Shop()
    shop.answers { _ in UploadResponse(status: status) }
    let daemon = try root.daemon(shop.environment()) { options in
      options.hook("shop")
      options.webhooks[0].retry.longestPause = .milliseconds(2)
    }
    try await withServices(daemon) {
      for number in 0..<5 { _ = await daemon.scan(Reading(input: "a", code: "\(number)")) }
      try await eventually("it is reported") { try daemon.problemNames().contains("target_paused shop") }
      let problem = try daemon.status().value["problems"]?.elements?.first { $0["code"]?.text == "target_paused" }
      #expect(problem?["message"]?.text?.contains("\(status)") == true)
      let before = try daemon.queue().uploads().first?.attempts ?? 0
      try await eventually("it is probed again and again") {
        try daemon.queue().uploads().first?.attempts ?? 0 > before + 8
      }
      #expect(try daemon.queue().counts().parked == 0)
      shop.answers { _ in UploadResponse(status: 200) }
      try await eventually("they arrive") { shop.codes == (0..<5).map { "\($0)" } }
      try await eventually("it is no problem any more") { try !daemon.problemNames().contains { $0.hasSuffix("shop") } }
    }
  }

  @Test func `with hold an input waits for a decision, also after a restart, and its key is a problem`() async throws {
    let shop = Shop()
    shop.answers { UploadResponse(status: $0 == "bad" ? 422 : 204) }
    func daemon() throws -> Daemon {
      try root.daemon(shop.environment()) { options in
        options.hook("shop")
        options.webhooks[0].onParked = .hold
        options.webhooks[0].retry.maximumRetries = 1
        options.webhooks[0].retry.firstPause = .milliseconds(1)
      }
    }
    let first = try daemon()
    try await withServices(first) {
      for code in ["1", "bad", "2"] { _ = await first.scan(Reading(input: "a", code: code)) }
      _ = await first.scan(Reading(input: "b", code: "other"))
      try await eventually("the key is held") { try first.problemNames().contains("keys_held shop") }
      try await eventually("the other input goes on") { shop.codes.sorted() == ["1", "other"] }
    }
    let second = try daemon()
    try await withServices(second) {
      try await eventually("it is reported again") {
        try Set(second.problemNames()).isSuperset(of: ["keys_held shop", "uploads_parked shop"])
      }
      _ = await second.scan(Reading(input: "a", code: "3"))
      let key = try #require(try second.status().value["queue"]?["heldKeys"]?.elements?.first)
      #expect(key["orderKey"]?.text == "shop/a" && key["kind"]?.text == "shop" && key["parked"]?.integer == 1)
      #expect(try second.queue().counts().waiting == 2)
      let parked = try #require(try second.queue().uploads(.parked).first)
      try await second.queue().drop(parked.id)
      try await eventually("the input goes on") { shop.codes.sorted() == ["1", "2", "3", "other"] }
      #expect(shop.codes.filter { $0 != "other" } == ["1", "2", "3"])
      try await eventually("it is no problem any more") { try !second.problemNames().contains { $0.hasSuffix("shop") } }
    }
  }

  @Test func `a success rule decides whether a scan arrived`() async throws {
    let shop = Shop()
    shop.answers { code in
      let body = #"{"status":{"code":\#(code == "bad" ? 500 : 200)}}"#
      return UploadResponse(status: 200, body: .complete(Array(body.utf8)))
    }
    let rule = try UploadSuccessRule("status.code == 200")
    let daemon = try root.daemon(shop.environment()) { options in
      options.hook("shop")
      options.webhooks[0].success = rule
      options.webhooks[0].retry.firstPause = .milliseconds(1)
    }
    try await withServices(daemon) {
      for code in ["bad", "good"] { _ = await daemon.scan(Reading(input: "a", code: code)) }
      try await eventually("the good one arrives") { shop.codes.last == "good" }
      try await eventually("only the bad one is left") { try daemon.queue().uploads().map(\.code) == ["bad"] }
      #expect(try daemon.queue().uploads().first?.state == .parked)
    }
  }

  @Test func `scans of an input go together, in order, and one that is refused parks alone`() async throws {
    let batches = Mutex<[[String]]>([])
    let isOpen = Switch()
    var environment = DaemonEnvironment()
    environment.webhook = { _ in
      WebhookTransport(
        send: { _ in UploadResponse(status: 500) },
        sendBatch: { batch in
          let codes = batch.uploads.map(\.code)
          guard isOpen.isOn else { throw Unreachable() }
          if codes.contains("bad") { return UploadResponse(status: 422) }
          batches.withLock { $0.append(codes) }
          return UploadResponse(status: 204)
        })
    }
    let daemon = try root.daemon(environment) { options in
      options.hook("shop")
      options.webhooks[0].batch = UploadBatchOptions(maximumCount: 100)
      options.webhooks[0].retry.firstPause = .milliseconds(1)
      options.webhooks[0].retry.longestPause = .milliseconds(20)
    }
    try await withServices(daemon) {
      for number in 0..<60 {
        _ = await daemon.scan(Reading(input: "a", code: number == 30 ? "bad" : "\(number)"))
      }
      isOpen.isOn = true
      try await eventually("they arrive") { batches.withLock { $0.joined().count } == 59 }
      try await eventually("it is reported") { try daemon.problemNames().contains("uploads_parked shop") }
    }
    #expect(Array(batches.withLock { $0 }.joined()) == (0..<60).filter { $0 != 30 }.map { "\($0)" })
    #expect(batches.withLock { $0.count } < 20)
    #expect(try root.codes() == ["bad"])
  }
}
