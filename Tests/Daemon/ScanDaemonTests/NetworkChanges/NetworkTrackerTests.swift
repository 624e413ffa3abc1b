import Testing

@testable import ScanDaemon

@Suite struct NetworkTrackerTests {
  private let runs: UInt32 = 0x1_1043
  private let hasNoCarrier: UInt32 = 0x1003
  private let isOff: UInt32 = 0x1002

  private func change(_ tracker: inout NetworkTracker, _ fill: (inout Datagram) -> Void) -> NetworkChange {
    var datagram = Datagram()
    fill(&datagram)
    let (messages, isDamaged) = datagram.read()
    #expect(!isDamaged)
    return tracker.process(messages, isDamaged: isDamaged)
  }

  @Test func `an interface that begins to run is news, and one that runs on is none`() {
    var tracker = NetworkTracker()
    #expect(change(&tracker) { $0.link(2, flags: isOff) } == [])
    #expect(change(&tracker) { $0.link(2, flags: hasNoCarrier) } == [])
    #expect(change(&tracker) { $0.link(2, flags: runs) } == .cameBack)
    #expect(change(&tracker) { $0.link(2, flags: runs) } == [])
    #expect(change(&tracker) { $0.link(3, flags: runs) } == .cameBack)
    #expect(change(&tracker) { $0.link(2, flags: hasNoCarrier) } == .wentAway)
    #expect(change(&tracker) { $0.link(2, flags: isOff) } == [])
    #expect(change(&tracker) { $0.link(3, flags: runs, isGone: true) } == .wentAway)
    let both = change(&tracker) {
      $0.link(2, flags: runs)
      $0.link(2, flags: isOff)
    }
    #expect(both == [.cameBack, .wentAway])
  }

  @Test func `loopback is no network`() {
    var tracker = NetworkTracker()
    let loopback = change(&tracker) {
      $0.link(1, flags: runs)
      $0.link(7, flags: runs | 0x8)
      $0.address(1, [127, 0, 0, 1], scope: 254)
      $0.address(1, [10, 0, 0, 1])
      $0.route(1)
      $0.route(1, isGone: true)
      $0.address(1, [10, 0, 0, 1], isGone: true)
    }
    #expect(loopback == [])
  }

  @Test func `an address is news once, until it is gone`() {
    var tracker = NetworkTracker()
    let v6: [UInt8] = [0x20, 1, 0x0D, 0xB8] + Array(repeating: 0, count: 11) + [1]
    for address in [[192, 168, 1, 7], v6] {
      #expect(change(&tracker) { $0.address(2, address, flags: 0x40) } == [], "not yet known to be nobody else's")
      #expect(change(&tracker) { $0.address(2, address, flags: 0x08) } == [], "somebody else's")
      #expect(change(&tracker) { $0.address(2, address) } == .cameBack)
      #expect(change(&tracker) { $0.address(2, address) } == [], "renewed")
      #expect(change(&tracker) { $0.address(3, address) } == .cameBack)
      #expect(change(&tracker) { $0.address(2, address, isGone: true) } == .wentAway)
      #expect(change(&tracker) { $0.address(2, address) } == .cameBack)
      for scope: UInt8 in [253, 254, 255] {
        #expect(change(&tracker) { $0.address(4, address, scope: scope) } == [])
      }
      #expect(change(&tracker) { $0.address(4, address, scope: 200) } == .cameBack)
    }
    // The own end of a line counts, not the other one.
    #expect(change(&tracker) { $0.address(5, [10, 0, 0, 2], peer: [10, 0, 0, 1]) } == .cameBack)
    #expect(change(&tracker) { $0.address(5, [10, 0, 0, 3], peer: [10, 0, 0, 1]) } == .cameBack)
  }

  @Test func `a route to somewhere is news, and none to here, to all or to nowhere`() {
    var tracker = NetworkTracker()
    #expect(change(&tracker) { $0.route(2) } == .cameBack)
    #expect(change(&tracker) { $0.route(2) } == .cameBack)
    #expect(change(&tracker) { $0.route(nil, table: 1000) } == .cameBack)
    #expect(change(&tracker) { $0.route(2, isGone: true) } == .wentAway)
    // Local, broadcast, anycast, multicast, blackhole, unreachable, prohibited.
    for type: UInt8 in 2...8 { #expect(change(&tracker) { $0.route(2, type: type) } == []) }
    #expect(change(&tracker) { $0.route(2, table: 255) } == [])
    #expect(change(&tracker) { $0.route(2, flags: 0x200) } == [], "cached")
  }

  @Test func `lost messages count as news, and what was known is no longer`() {
    var tracker = NetworkTracker()
    _ = change(&tracker) {
      $0.link(2, flags: runs)
      $0.address(2, [10, 0, 0, 1])
    }
    #expect(tracker.lose() == .cameBack)
    #expect(change(&tracker) { $0.link(2, flags: runs) } == .cameBack)
    #expect(change(&tracker) { $0.address(2, [10, 0, 0, 1]) } == .cameBack)
    #expect(tracker.process([], isDamaged: true) == .cameBack)
    #expect(tracker.interfaces.isEmpty && tracker.addresses.isEmpty)
  }

  @Test func `what is known has a bound`() {
    var tracker = NetworkTracker()
    for number in 0..<UInt32(10_000) {
      let address = (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
      let both = change(&tracker) {
        $0.link(number + 2, flags: runs)
        $0.address(2, address)
      }
      #expect(both == .cameBack)
    }
    #expect(tracker.interfaces.count <= NetworkTracker.maximumInterfaces)
    #expect(tracker.addresses.count <= NetworkTracker.maximumAddresses)
  }
}
