import DocumentFormat
import Foundation
import ScanInputs
import Testing
import WaitingTestSupport

@testable import ScanDaemon

@Suite(.timeLimit(.minutes(10))) struct MissTests {
  let root = TestRoot()

  init() throws { try root.fill("ana") }

  @Test func `misses are counted, the last one first, and can be cleared`() async throws {
    let clock = TestClock()
    var environment = DaemonEnvironment()
    environment.time = clock.environment
    let daemon = try root.daemon(environment) { $0.doubleScanWindow = .zero }
    for code in ["x", "y", "x", "z", "x"] {
      #expect(await daemon.scan(Reading(input: "in \(code)", code: code)).recording == .notNeeded)
      clock.advance(by: .seconds(1))
    }
    await daemon.recorder.flush()
    let misses = try daemon.misses(limit: 10)
    #expect(misses.map(\.id) == ["x", "z", "y"] && misses.map(\.count) == [3, 1, 1])
    #expect(misses[0].last - misses[0].first == 4 && misses[0].input == "in x")
    let json = try misses[0].json.value
    #expect(json["code"]?.text == "x" && json["last"]?.text == "2096-10-02T07:06:44.123Z")
    #expect(try daemon.misses(limit: 1).map(\.id) == ["x"])
    #expect(try daemon.misses(limit: -1).isEmpty)
    #expect(try await daemon.clearMisses() == 3)
    #expect(try daemon.misses(limit: 10).isEmpty)
  }

  @Test func `those that were missed longest ago make room`() async throws {
    let clock = TestClock()
    var environment = DaemonEnvironment()
    environment.time = clock.environment
    let daemon = try root.daemon(environment) { options in
      options.maximumMisses = 5
      options.hook("shop")
    }
    for number in 0..<12 {
      _ = await daemon.scan(Reading(input: "a", code: "miss \(number)"))
      clock.advance(by: .seconds(1))
    }
    // Old entries are removed after the answers.
    await daemon.recorder.flush()
    #expect(try daemon.misses(limit: 100).map(\.id) == (7..<12).reversed().map { "miss \($0)" })
    #expect(try root.uploads().count == 12)
  }

  @Test func `a code of any length or content is answered, and entered if it may be one`() async throws {
    try root.fill(nil)
    let daemon = try root.daemon(user: nil)
    let codes = [
      String(repeating: "x", count: 4096), String(repeating: "y", count: 4097), "\u{1D}\u{0}", "", "e\u{301}",
      "\u{E9}",
    ]
    for code in codes { _ = await daemon.scan(Reading(input: "a", code: code)) }
    await daemon.recorder.flush()
    let known = try daemon.misses(limit: 10).map { Array($0.id.utf8) }
    #expect(Set(known) == Set(codes.filter { $0.utf8.count <= 4096 }.map { Array($0.utf8) }))
  }

  @Test func `the journal follows the user`() async throws {
    try root.fill("bob")
    let daemon = try root.daemon()
    _ = await daemon.scan(Reading(input: "a", code: "of ana"))
    try await daemon.signIn("bob")
    _ = await daemon.scan(Reading(input: "a", code: "of bob"))
    await daemon.recorder.flush()
    #expect(try daemon.misses(limit: 5).map(\.id) == ["of bob"])
    try await daemon.signOut()
    #expect(try daemon.misses(limit: 5).isEmpty && daemon.user() == nil)
    try await daemon.signIn("ana")
    #expect(try daemon.misses(limit: 5).map(\.id) == ["of ana"])
  }
}
