import RandomTestSupport
import Testing

@testable import ScanDaemon

@Suite struct RouteMessageTests {
  private let global: [UInt8] = [192, 168, 1, 7]

  /// One message of each kind.
  private var sample: Datagram {
    var datagram = Datagram()
    datagram.link(2, flags: 0x1_1043)
    datagram.address(2, global)
    datagram.address(3, global, peer: [10, 0, 0, 1], scope: 253, flags: 0x80, isGone: true)
    datagram.route(2, table: 1000)
    datagram.route(nil, isGone: true)
    return datagram
  }

  @Test func `each kind is read from the kernel's layout`() {
    let (messages, isDamaged) = sample.read()
    let own = NetworkAddress(interface: 2, family: 2, prefix: 24, bytes: global)
    let other = NetworkAddress(interface: 3, family: 2, prefix: 24, bytes: global)
    #expect(!isDamaged)
    #expect(
      messages == [
        .link(index: 2, flags: 0x1_1043, isGone: false),
        .address(own, scope: 0, flags: 0, isGone: false),
        .address(other, scope: 253, flags: 0x80, isGone: true),
        .route(type: 1, table: 1000, interface: 2, flags: 0, isGone: false),
        .route(type: 1, table: 254, interface: nil, flags: 0, isGone: true),
      ])
  }

  @Test func `what is of another kind is passed over, and what stands behind it is read`() {
    var datagram = Datagram()
    datagram.add(3, [])
    datagram.add(28, Array(repeating: 1, count: 13))
    datagram.link(9, flags: 1, family: 7, isGone: true)
    datagram.link(4, flags: 0x41)
    let (messages, isDamaged) = datagram.read()
    #expect(messages == [.link(index: 4, flags: 0x41, isGone: false)] && !isDamaged)
    #expect(Datagram().read().messages.isEmpty && !Datagram().read().isDamaged)
  }

  @Test func `a message that is too short for its kind is reported, and what stands behind it is read`() {
    let short: [(UInt16, [UInt8])] = [
      (16, Array(repeating: 0, count: 15)), (20, Array(repeating: 0, count: 7)), (24, Array(repeating: 0, count: 11)),
      // No address; an attribute that is longer than the message; one that is shorter than its own header.
      (20, Array(repeating: 0, count: 8)),
      (20, Array(repeating: 0, count: 8) + Datagram.native(UInt16(9)) + Datagram.native(UInt16(1)) + [1, 2, 3, 4]),
      (24, Array(repeating: 0, count: 12) + Datagram.native(UInt16(3)) + Datagram.native(UInt16(4))),
      // The kernel says that it had more to say.
      (4, []),
    ]
    for (type, body) in short {
      var datagram = Datagram()
      datagram.add(type, body)
      datagram.link(4, flags: 0x41)
      let (messages, isDamaged) = datagram.read()
      #expect(messages == [.link(index: 4, flags: 0x41, isGone: false)] && isDamaged, "\(type) \(body)")
    }
  }

  @Test func `a datagram that is cut anywhere but between messages is reported, and what is whole is read`() {
    let whole = sample
    let (all, _) = whole.read()
    var ends: Set<Int> = []
    var end = 0
    while end < whole.bytes.count {
      ends.insert(end)
      end += (Int(whole.bytes[end]) + 3) & ~3
    }
    #expect(ends.count == 5)
    for count in 0..<whole.bytes.count {
      let (messages, isDamaged) = Datagram(bytes: Array(whole.bytes[..<count])).read()
      #expect(isDamaged == !ends.contains(count), "\(count)")
      #expect(messages == Array(all.prefix(messages.count)) && messages.count < all.count)
    }
  }

  @Test func `no length leads out of the bytes`() {
    for length: UInt32 in [0, 1, 15, 17, 1 << 16, 0x7FFF_FFFF, 0x8000_0000, .max - 3, .max] {
      let bytes = Datagram.native(length) + Array(repeating: 0, count: 12)
      #expect(Datagram(bytes: bytes).read().isDamaged)
    }
  }

  @Test func `random bytes, and random changes of good ones, never trap`() {
    var random = SeededGenerator(for: "route messages")
    let good = sample.bytes
    for _ in 0..<5000 * depth {
      var bytes = Bool.random(using: &random) ? random.bytes(Int.random(in: 0...200, using: &random)) : good
      for _ in 0..<Int.random(in: 0...4, using: &random) where !bytes.isEmpty {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      bytes.removeLast(Int.random(in: 0...bytes.count, using: &random) / 8)
      let (messages, isDamaged) = Datagram(bytes: bytes).read()
      #expect(messages.count <= bytes.count / 24)
      var tracker = NetworkTracker()
      if isDamaged { #expect(tracker.process(messages, isDamaged: isDamaged).contains(.cameBack)) }
    }
  }
}
