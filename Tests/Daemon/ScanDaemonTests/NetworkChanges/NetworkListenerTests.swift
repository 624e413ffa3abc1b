import CProcessSupport
import CDaemon
import Foundation
import Synchronization
import Testing

@testable import ScanDaemon

/// A network of a thread's own, if this machine lets us have one: it takes root's rights, and tunnels.
private enum OwnNetwork {
  static let isAvailable: Bool = {
    let result = Mutex(false)
    let isDone = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      if process_isolate_network() == 0 {
        // The name is lent as a C string for the call, as are those below.
        let tunnel = unsafe process_open_tunnel("probe")
        if tunnel >= 0 {
          close(tunnel)
          result.withLock { $0 = true }
        }
      }
      isDone.signal()
    }
    isDone.wait()
    return result.withLock { $0 }
  }()

  /// Runs `body` on a thread that has one.
  static func with<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(
          with: Result {
            try #require(process_isolate_network() == 0)
            return try body()
          })
      }
    }
  }

  static func turn(_ name: String, on: Bool) throws {
    try #require(unsafe process_turn_interface(name, on ? 1 : 0) == 0, "\(errno)")
  }

  static func openTunnel(_ name: String) throws -> CInt {
    let tunnel = unsafe process_open_tunnel(name)
    try #require(tunnel >= 0, "\(errno)")
    return tunnel
  }

  static func give(_ name: String, _ address: String) throws {
    try #require(unsafe process_give_address(name, address) == 0, "\(errno)")
  }
}

/// What the kernel has said until now.
private func readAll(
  _ descriptor: CInt, _ tracker: inout NetworkTracker
) throws -> (change: NetworkChange, count: Int) {
  var change: NetworkChange = []
  var count = 0
  while true {
    var bytes = [UInt8](repeating: 0, count: 32 << 10)
    // The array has room for as many bytes as the call may write.
    let length = unsafe shelfmark_read_route_messages(descriptor, &bytes, bytes.count)
    if length < 0 {
      try #require(errno == EAGAIN, "\(errno)")
      return (change, count)
    }
    bytes.removeLast(bytes.count - length)
    let (messages, isDamaged) = RouteMessage.read(bytes.span)
    try #require(!isDamaged, "\(bytes)")
    change.formUnion(tracker.process(messages, isDamaged: isDamaged))
    count += messages.count
  }
}

@Suite(
  .timeLimit(.minutes(10)),
  .enabled(if: OwnNetwork.isAvailable, "this machine gives us no network of our own, or no tunnels"))
struct NetworkListenerTests {
  @Test func `the kernel's own words mean what they should`() async throws {
    try await OwnNetwork.with {
      let descriptor = shelfmark_open_route_messages()
      try #require(descriptor >= 0)
      defer { close(descriptor) }
      var tracker = NetworkTracker()
      // Loopback brings an interface, addresses and routes, and no network.
      try OwnNetwork.turn("lo", on: true)
      let loopback = try readAll(descriptor, &tracker)
      #expect(loopback.count >= 3 && loopback.change == [])
      let tunnel = try OwnNetwork.openTunnel("tun7")
      #expect(try readAll(descriptor, &tracker).change == [])
      try OwnNetwork.turn("tun7", on: true)
      #expect(try readAll(descriptor, &tracker).change.contains(.cameBack))
      #expect(tracker.interfaces.count == 1)
      try OwnNetwork.give("tun7", "192.0.2.7")
      #expect(try readAll(descriptor, &tracker).change.contains(.cameBack))
      #expect(tracker.addresses.map(\.bytes) == [[192, 0, 2, 7]])
      try OwnNetwork.turn("tun7", on: false)
      #expect(try readAll(descriptor, &tracker).change == .wentAway)
      #expect(tracker.interfaces.isEmpty)
      // It is gone with its descriptor.
      try OwnNetwork.turn("tun7", on: true)
      close(tunnel)
      #expect(try readAll(descriptor, &tracker).change == [.cameBack, .wentAway])
    }
  }

  @Test func `more than there is room for is lost, and is reported`() async throws {
    try await OwnNetwork.with {
      let descriptor = shelfmark_open_route_messages()
      try #require(descriptor >= 0)
      defer { close(descriptor) }
      var room: CInt = 1
      // The option is a number, lent for the call.
      unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<CInt>.size))
      let tunnel = try OwnNetwork.openTunnel("tun7")
      defer { close(tunnel) }
      for number in 0..<20 { try OwnNetwork.turn("tun7", on: number % 2 == 0) }
      let reader = RouteReader(descriptor)
      let first = reader.read()
      #expect(first.count == 1)
      guard case .changed(let change) = first.first else { throw NetworkListenerError(code: ENOMSG) }
      #expect(change.contains(.cameBack))
      #expect(reader.losses >= 1)
      // It goes on behind that.
      try OwnNetwork.turn("tun7", on: true)
      guard case .changed(let next) = reader.read().first else { throw NetworkListenerError(code: ENOMSG) }
      #expect(next.contains(.cameBack))
    }
  }

  @Test func `an interface that comes up is heard of, until the listener is stopped`() async throws {
    let events = Mutex<[NetworkEvent]>([])
    try await OwnNetwork.with {
      let isHeard = DispatchSemaphore(value: 0)
      let listener = try NetworkListener { event in
        events.withLock { $0.append(event) }
        isHeard.signal()
      }
      let tunnel = try OwnNetwork.openTunnel("tun7")
      defer { close(tunnel) }
      try OwnNetwork.turn("tun7", on: true)
      try #require(isHeard.wait(timeout: .now() + 30) == .success)
      listener.stop()
      listener.stop()
    }
    let heard = events.withLock { $0 }
    #expect(heard.allSatisfy { if case .changed(let change) = $0 { change.contains(.cameBack) } else { false } })
  }
}
