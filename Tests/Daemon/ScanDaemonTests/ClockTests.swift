import Foundation
import ScanInputs
import Synchronization
import Testing
import UploadQueue
import WaitingTestSupport

@testable import ScanDaemon

/// A daemon whose clock is wrong, or is set while it runs.
@Suite struct ClockTests {
  private static let year: Int64 = 31_556_952_000_000

  /// A wall clock that a test sets, and one that only goes forward.
  private final class Clocks: Sendable {
    private let offset = Atomic<Int64>(0)
    private let passed = Atomic<Int64>(0)

    func set(ahead microseconds: Int64) { offset.store(microseconds, ordering: .relaxed) }
    func pass(seconds: Int64) { passed.add(seconds * 1_000_000, ordering: .relaxed) }

    var now: Int64 {
      QueueEnvironment.live.now() + passed.load(ordering: .relaxed) + offset.load(ordering: .relaxed)
    }

    var environment: QueueEnvironment {
      QueueEnvironment(
        now: { self.now },
        uptime: { QueueEnvironment.live.uptime() + self.passed.load(ordering: .relaxed) },
        random: { 1 << 63 }, sleep: { try await Task.sleep(for: $0) })
    }
  }

  private let clocks = Clocks()
  private let root = TestRoot()
  private let receiver = Receiver()

  private func daemon(_ change: (inout DaemonOptions) -> Void = { _ in }) throws -> Daemon {
    try root.daemon(receiver.environment(clocks.environment), change)
  }

  private func message(_ daemon: Daemon, _ code: ProblemCode) throws -> String? {
    try daemon.status().value["problems"]?.elements?.first { $0["code"]?.text == code.rawValue }?["message"]?.text
  }

  private func age(_ daemon: Daemon) throws -> Double? {
    switch try daemon.status().value["catalogue"]?["ageSeconds"] {
    case .double(let age)?: age
    case .integer(let age)?: Double(age)
    default: nil
    }
  }

  @Test func `a clock that is set back is a problem for an hour`() throws {
    let watch = ClockWatch(clocks.environment)
    #expect(watch.check(newest: []) == nil)
    clocks.set(ahead: 5_000_000)
    #expect(watch.check(newest: []) == nil)
    clocks.set(ahead: 0)
    #expect(watch.check(newest: []) == nil, "a small correction")
    clocks.set(ahead: -2 * Self.year - 86_400_000_000)
    let words = try #require(watch.check(newest: []))
    #expect(words.hasPrefix("the clock was set back by 2 years "))
    clocks.pass(seconds: 3500)
    #expect(watch.check(newest: []) == words)
    clocks.pass(seconds: 101)
    #expect(watch.check(newest: []) == nil)
  }

  @Test func `it ends when the clock is set forward again`() {
    let watch = ClockWatch(clocks.environment)
    _ = watch.check(newest: [])
    clocks.set(ahead: -Self.year)
    #expect(watch.check(newest: []) != nil)
    clocks.set(ahead: 0)
    #expect(watch.check(newest: []) == nil)
  }

  @Test func `lengths are told in two units`() {
    #expect(ClockWatch.words(59_000_000) == "59 seconds")
    #expect(ClockWatch.words(3_661_000_000) == "1 hour 1 minute")
    #expect(ClockWatch.words(43 * Self.year + 15 * 86_400_000_000) == "43 years 15 days")
  }

  @Test func `times from the future are a problem, and give no negative age`() throws {
    try root.fill("ana")
    clocks.set(ahead: -Self.year)
    let daemon = try daemon()
    let words = try #require(try message(daemon, .clockSetBack))
    #expect(words.contains("the clock was set back by at least"))
    #expect(words.contains("the last commit of the catalogue is of"))
    let first = try #require(try age(daemon))
    #expect(first >= 0)
    // It grows, although the catalogue is of the future.
    clocks.pass(seconds: 1000)
    #expect(try #require(try age(daemon)) >= 1000)
    clocks.set(ahead: 0)
    #expect(try message(daemon, .clockSetBack) == nil)
    #expect(try #require(try age(daemon)) >= 1000)
  }

  @Test func `a scan that was recorded while the clock was ahead arrives when it is right, in order`() async throws {
    try root.fill("ana")
    clocks.set(ahead: 43 * Self.year)
    let codes = (0..<4).map { "\($0)" }
    do {
      let daemon = try daemon { $0.hook("shop") }
      for code in codes.prefix(2) { #expect(await daemon.scan(Reading(input: "a", code: code)).recording == .durable) }
    }
    clocks.set(ahead: 0)
    let daemon = try daemon { $0.hook("shop") }
    for code in codes.suffix(2) { #expect(await daemon.scan(Reading(input: "a", code: code)).recording == .durable) }
    try await withServices(daemon) {
      try await eventually("they arrive") { receiver.codes == codes }
    }
  }

  @Test func `uploads that wait for a time in the future are a problem`() async throws {
    try root.fill("ana")
    clocks.set(ahead: 43 * Self.year)
    let daemon = try daemon { $0.hook("shop") }
    let time = Date(microseconds: clocks.now + 3_600_000_000)
    try await daemon.queue().enqueue("later", kind: "shop", notBefore: time)
    clocks.set(ahead: 0)
    try await withServices(daemon) {
      try await eventually("it is told") { try message(daemon, .uploadsForLater) != nil }
      #expect(try #require(try message(daemon, .uploadsForLater)).hasPrefix("1 upload waits for a time in the future"))
      let waiting = try #require(try daemon.queue().uploads().first)
      try await daemon.queue().drop(waiting.id)
      try await eventually("it is over") { try message(daemon, .uploadsForLater) == nil }
    }
  }
}
