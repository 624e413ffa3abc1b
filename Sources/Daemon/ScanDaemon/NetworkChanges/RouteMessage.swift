/// A Linux kernel message about an interface, an address or a route that was added or removed.
///
/// The layouts are defined in the kernel's `linux/netlink.h`, `linux/rtnetlink.h`, `linux/if_link.h` and
/// `linux/if_addr.h`, all in the machine's byte order. A datagram is a sequence of messages, each aligned to four
/// bytes:
///
///     message    0 length, header included   4 type   6 flags   8 sequence   12 port   16 body
///     link       0 family   2 device type   4 index   8 flags   12 mask   16 attributes
///     address    0 family   1 prefix   2 flags   3 scope   4 index of the interface   8 attributes
///     route      0 family   1 prefix   …   4 table   …   7 type   8 flags   12 attributes
///     attribute  0 length, header included   2 type   4 value
enum RouteMessage: Equatable, Sendable {
  case link(index: UInt32, flags: UInt32, isGone: Bool)
  case address(NetworkAddress, scope: UInt8, flags: UInt8, isGone: Bool)
  case route(type: UInt8, table: UInt32, interface: UInt32?, flags: UInt32, isGone: Bool)

  /// Decodes the messages of one datagram and skips those of other kinds.
  ///
  /// - Returns: The messages, and whether the datagram is damaged: a message extends past its end, or is too short for
  ///   its kind. Reading stops at the first message that extends past the end.
  /// - Complexity: O(*n*) in the number of bytes; at most one message per 24 bytes.
  static func read(_ datagram: Span<UInt8>) -> (messages: [RouteMessage], isDamaged: Bool) {
    var messages: [RouteMessage] = []
    var isDamaged = false
    var offset = 0
    while offset < datagram.count {
      guard let length = datagram.word(at: offset).flatMap({ Int(exactly: $0) }), length >= Layout.header,
        length <= datagram.count - offset, let type = datagram.half(at: offset + 4)
      else { return (messages, true) }
      switch message(type, datagram.extracting(offset + Layout.header..<offset + length)) {
      case .read(let message): messages.append(message)
      case .skipped: break
      case .damaged: isDamaged = true
      }
      // The last message need not be padded.
      offset += (length + 3) & ~3
    }
    return (messages, isDamaged)
  }

  private enum Outcome {
    case read(RouteMessage)
    case skipped
    case damaged
  }

  private static func message(_ type: UInt16, _ body: Span<UInt8>) -> Outcome {
    switch type {
    case Layout.newLink, Layout.goneLink: link(body, isGone: type == Layout.goneLink)
    case Layout.newAddress, Layout.goneAddress: address(body, isGone: type == Layout.goneAddress)
    case Layout.newRoute, Layout.goneRoute: route(body, isGone: type == Layout.goneRoute)
    // The kernel ran out of buffer space and dropped messages.
    case Layout.overrun: .damaged
    default: .skipped
    }
  }

  private static func link(_ body: Span<UInt8>, isGone: Bool) -> Outcome {
    guard body.count >= 16, let index = body.word(at: 4), let flags = body.word(at: 8) else { return .damaged }
    // Messages about bridge ports have the same type. A port that leaves its bridge is not an interface that was
    // removed.
    return body[0] == 0 ? .read(.link(index: index, flags: flags, isGone: isGone)) : .skipped
  }

  private static func address(_ body: Span<UInt8>, isGone: Bool) -> Outcome {
    guard body.count >= 8, let index = body.word(at: 4) else { return .damaged }
    var own: [UInt8]?
    var peer: [UInt8]?
    let isComplete = attributes(body, from: 8) { type, value in
      // On a point-to-point link, the address attribute is the peer's, and a separate attribute contains the local one.
      if type == Layout.addressOwn { own = value.bytes(atMost: 16) }
      if type == Layout.address { peer = value.bytes(atMost: 16) }
    }
    guard isComplete, let bytes = own ?? peer else { return .damaged }
    let address = NetworkAddress(interface: index, family: body[0], prefix: body[1], bytes: bytes)
    return .read(.address(address, scope: body[3], flags: body[2], isGone: isGone))
  }

  private static func route(_ body: Span<UInt8>, isGone: Bool) -> Outcome {
    guard body.count >= 12, let flags = body.word(at: 8) else { return .damaged }
    var table = UInt32(body[4])
    var interface: UInt32?
    let isComplete = attributes(body, from: 12) { type, value in
      if type == Layout.routeTable { table = value.word(at: 0) ?? table }
      if type == Layout.routeInterface { interface = value.word(at: 0) }
    }
    guard isComplete else { return .damaged }
    return .read(.route(type: body[7], table: table, interface: interface, flags: flags, isGone: isGone))
  }

  /// Visits the attributes of a message.
  ///
  /// - Returns: Whether each attribute ends within the message.
  private static func attributes(
    _ body: Span<UInt8>, from start: Int, _ visit: (_ type: UInt16, _ value: Span<UInt8>) -> Void
  ) -> Bool {
    var offset = start
    while offset < body.count {
      guard let length = body.half(at: offset).map({ Int($0) }), length >= 4, length <= body.count - offset,
        let type = body.half(at: offset + 2)
      else { return false }
      // The two highest bits are flags that describe the value's encoding.
      visit(type & 0x3FFF, body.extracting(offset + 4..<offset + length))
      offset += (length + 3) & ~3
    }
    return true
  }
}

/// An address of an interface.
struct NetworkAddress: Hashable, Sendable {
  let interface: UInt32
  let family: UInt8
  let prefix: UInt8
  let bytes: [UInt8]
}

/// Kernel constants.
enum Layout {
  static let header = 16
  static let overrun: UInt16 = 4
  static let newLink: UInt16 = 16
  static let goneLink: UInt16 = 17
  static let newAddress: UInt16 = 20
  static let goneAddress: UInt16 = 21
  static let newRoute: UInt16 = 24
  static let goneRoute: UInt16 = 25
  /// Attributes of addresses (IFA_ADDRESS, IFA_LOCAL) and of routes (RTA_OIF, RTA_TABLE).
  static let address: UInt16 = 1
  static let addressOwn: UInt16 = 2
  static let routeInterface: UInt16 = 4
  static let routeTable: UInt16 = 15
}

extension Span<UInt8> {
  /// The 16-bit number at this offset, in the machine's byte order; `nil` if the bytes end before it is complete.
  fileprivate func half(at offset: Int) -> UInt16? {
    guard offset >= 0, count >= 2, offset <= count - 2 else { return nil }
    return UInt16(littleEndian: UInt16(self[offset]) | UInt16(self[offset + 1]) << 8)
  }

  /// The 32-bit number at this offset, in the machine's byte order; `nil` if the bytes end before it is complete.
  fileprivate func word(at offset: Int) -> UInt32? {
    guard offset >= 0, count >= 4, offset <= count - 4 else { return nil }
    let low = UInt32(self[offset]) | UInt32(self[offset + 1]) << 8
    return UInt32(littleEndian: low | UInt32(self[offset + 2]) << 16 | UInt32(self[offset + 3]) << 24)
  }

  fileprivate func bytes(atMost limit: Int) -> [UInt8] { (0..<Swift.min(count, limit)).map { self[$0] } }
}
