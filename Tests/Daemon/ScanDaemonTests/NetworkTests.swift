import DocumentFormat
import Foundation
import JSONFormat
import ScanDaemon
import ScanInputs
import Synchronization
import Testing
import UploadQueue
import WaitingTestSupport

@testable import ScanDaemon

/// Stands for the kernel.
private final class Wire: Sendable {
  struct Broken: Error, CustomStringConvertible { let description = "no such family" }

  private struct State {
    var listeners: [Int: @Sendable (NetworkEvent) -> Void] = [:]
    var beginnings = 0
    var isBroken = false
  }

  private let state = Mutex(State())

  /// Who listens now, and how often somebody tried to.
  var listenerCount: Int { state.withLock { $0.listeners.count } }
  var beginnings: Int { state.withLock { $0.beginnings } }
  var isBroken: Bool {
    get { state.withLock { $0.isBroken } }
    set { state.withLock { $0.isBroken = newValue } }
  }

  func tell(_ event: NetworkEvent) {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener(event) }
  }

  func serve(_ environment: inout DaemonEnvironment) {
    environment.listen = { [self] onEvent in
      let number = try state.withLock { state in
        state.beginnings += 1
        if state.isBroken { throw Broken() }
        state.listeners[state.beginnings] = onEvent
        return state.beginnings
      }
      return { [self] in state.withLock { $0.listeners[number] = nil } }
    }
  }
}

@Suite(.timeLimit(.minutes(10))) struct NetworkTests {
  let root = TestRoot()
  let server = CatalogueServer()
  let clock = TestClock()
  private let wire = Wire()

  /// A daemon whose next attempts are minutes away after the first failure.
  private func daemon(
    _ receiver: Receiver? = nil, synchronises: Bool = true, watches: Bool = true,
    _ change: (inout DaemonEnvironment) -> Void = { _ in }
  ) throws -> Daemon {
    var environment = (receiver ?? Receiver()).environment(clock.environment)
    environment.uptime = { [clock] in .microseconds(clock.now) }
    server.serve(&environment)
    wire.serve(&environment)
    change(&environment)
    return try root.daemon(environment) { options in
      options.watchesNetwork = watches
      if synchronises {
        options.sync = SyncOptions(url: "http://127.0.0.1:1/catalogue")
        options.sync?.firstRetry = .seconds(200)
      }
      if receiver != nil {
        options.hook("shop")
        options.webhooks[0].retry.firstPause = .seconds(600)
        options.webhooks[0].retry.longestPause = .seconds(600)
      }
    }
  }

  /// Lets time pass in small steps, at most so much, until something is so.
  private func within(
    _ bound: Duration, _ what: String, file: String = #fileID, line: Int = #line, _ condition: () throws -> Bool
  ) async throws {
    let end = clock.now + Int64(bound / .microseconds(1))
    try await eventually(what, file: file, line: line) {
      if try condition() { return true }
      if clock.now < end { clock.advance(by: .milliseconds(20)) }
      return false
    }
  }

  private func failures(_ daemon: Daemon) throws -> Int64 {
    try daemon.sync.json.value["failures"]?.integer ?? -1
  }

  @Test func `a synchronisation that failed goes again a moment after the network came back`() async throws {
    server.change(0..<10)
    server.isDown = true
    let daemon = try daemon()
    try await withServices(daemon) {
      try await eventually("it fails") { try failures(daemon) == 1 }
      try await eventually("somebody listens") { wire.listenerCount == 1 }
      #expect(try daemon.status().value["network"]?["lastReturn"] == .null)
      server.isDown = false
      let start = clock.now
      // A burst, within which something goes as well.
      for _ in 0..<20 { wire.tell(.changed(.cameBack)) }
      wire.tell(.changed([.cameBack, .wentAway]))
      try await within(.seconds(5), "the catalogue arrives") { try daemon.look("6901").match.kind == .exact }
      // A second of quiet, and half of the second that is left to chance.
      #expect(clock.now - start >= 1_500_000 && server.cursors.count == 2)
      let network = try #require(try daemon.status().value["network"])
      #expect(network["watched"] == .bool(true) && network["returns"]?.integer == 1)
      #expect(network["lastReturn"]?.text != nil)
    }
    #expect(wire.listenerCount == 0 && wire.beginnings == 1)
  }

  @Test func `after a success the network may come and go, and a loss alone brings nothing`() async throws {
    server.change(0..<10)
    let daemon = try daemon()
    try await withServices(daemon) {
      try await eventually("it is current") { try daemon.look("6901").match.kind == .exact }
      try await eventually("somebody listens") { wire.listenerCount == 1 }
      wire.tell(.changed(.cameBack))
      try await within(.seconds(10), "it is reported") {
        try daemon.status().value["network"]?["returns"]?.integer == 1
      }
      server.isDown = true
      _ = try? await daemon.sync.syncNow()
      wire.tell(.changed(.wentAway))
      let later = clock.now + 10_000_000
      try await within(.seconds(10), "ten seconds are over") { clock.now >= later }
      #expect(try daemon.status().value["network"]?["returns"]?.integer == 1)
      #expect(server.cursors.count == 2)
    }
  }

  @Test func `the network comes back while a synchronisation runs: when it has failed, the next one goes`() async throws
  {
    server.change(0..<10)
    let isOpen = Switch()
    let attempts = Mutex(0)
    let daemon = try daemon { environment in
      let other = environment.synchronize
      environment.synchronize = { stores, extent in
        if attempts.withLock({
          $0 += 1
          return $0 == 1
        }) {
          while !isOpen.isOn { await Task.yield() }
          throw Unreachable()
        }
        guard let other else { throw Unreachable() }
        return try await other(stores, extent)
      }
    }
    try await withServices(daemon) {
      try await eventually("it runs") { attempts.withLock { $0 } == 1 }
      daemon.sync.reconnected()
      #expect(server.cursors.isEmpty)
      isOpen.isOn = true
      // Nobody moves the clock.
      try await eventually("the catalogue arrives") { try daemon.look("6901").match.kind == .exact }
      #expect(attempts.withLock { $0 } == 2)
    }
  }

  @Test func `the pauses begin anew when the network came back`() async throws {
    server.isDown = true
    let daemon = try daemon()
    try await withServices(daemon) {
      for (count, pause) in [(1, 200), (2, 300), (3, 300)] {
        try await eventually("it fails") { try failures(daemon) == count }
        try await eventually("it sleeps") { clock.pauses.contains(.seconds(pause)) }
        if count < 3 { clock.advance(by: .seconds(pause)) }
      }
      let known = clock.pauses.count
      daemon.sync.reconnected()
      try await eventually("it sleeps") { clock.pauses[known...].contains(.seconds(200)) }
      #expect(try failures(daemon) == 4)
    }
  }

  @Test func `a synchronisation that is overdue goes when the network comes back`() async throws {
    server.change(0..<10)
    let slept = Mutex<Int64>(0)
    let daemon = try daemon { environment in
      // A machine that slept: its timers did not run meanwhile, but its clocks did.
      environment.time.now = { [clock] in clock.now + slept.withLock { $0 } }
      environment.time.uptime = environment.time.now
    }
    try await withServices(daemon) {
      try await eventually("it is current") { try daemon.sync.json.value["next"]?.text != nil }
      daemon.sync.reconnected()
      slept.withLock { $0 = 3_600_000_000 }
      #expect(server.cursors.count == 1)
      daemon.sync.reconnected()
      try await eventually("it asks") { server.cursors.count == 2 }
    }
  }

  @Test func `uploads that got no answer go when the network comes back, and not after their pause`() async throws {
    try root.fill("ana")
    let receiver = Receiver()
    receiver.answer(0)
    let daemon = try daemon(receiver, synchronises: false)
    try await withServices(daemon) {
      try await eventually("somebody listens") { wire.listenerCount == 1 }
      for number in 0..<3 { _ = await daemon.scan(Reading(input: "\(number)", code: "6901")) }
      try await eventually("they fail") {
        try daemon.queue().uploads().filter { $0.lastError != nil && $0.state == .waiting }.count == 3
      }
      receiver.answer(200)
      wire.tell(.changed(.cameBack))
      try await within(.seconds(5), "they arrive") { receiver.log.count == 3 }
    }
  }

  @Test func `where nobody can be listened to that is reported, and tried again`() async throws {
    let daemon = try daemon()
    wire.isBroken = true
    func problem() throws -> String? {
      try daemon.status().value["problems"]?.elements?.first { $0["code"]?.text == "network_unwatched" }?["message"]?
        .text
    }
    func watched() throws -> DocumentValue? { try daemon.status().value["network"]?["watched"] }
    try await withServices(daemon) {
      try await eventually("it is reported") { try problem() != nil }
      #expect(try problem()?.contains("no such family") == true)
      #expect(try watched() == .bool(false))
      wire.isBroken = false
      let start = clock.now
      try await within(.seconds(61), "somebody listens") { wire.listenerCount == 1 }
      #expect(clock.now - start >= 59_000_000)
      try await eventually("it is no problem any more") { try problem() == nil && watched() == .bool(true) }
      // Nobody heard what happened before.
      try await within(.seconds(5), "it counts") { try daemon.status().value["network"]?["returns"]?.integer == 1 }
      // The same where it ends by itself.
      wire.tell(.ended("gone"))
      try await eventually("it is reported") { try problem()?.contains("gone") == true && wire.listenerCount == 0 }
      let beginnings = wire.beginnings
      try await within(.seconds(61), "somebody listens") { wire.listenerCount == 1 }
      #expect(wire.beginnings == beginnings + 1)
    }
  }

  @Test func `nobody listens without need, or against the configuration`() async throws {
    for (synchronises, watches) in [(false, true), (true, false)] {
      let daemon = try daemon(synchronises: synchronises, watches: watches)
      try await withServices(daemon) {
        let network = try daemon.status().value["network"]
        #expect(network?["watched"] == .bool(false))
      }
    }
    #expect(wire.beginnings == 0)
  }
}
