/// What the kernel of Linux says when an interface, an address or a route came or went.
///
/// The layouts are those of the kernel's `linux/netlink.h`, `linux/rtnetlink.h`, `linux/if_link.h` and `linux/if_addr.h`, all
/// in the byte order of the machine. A datagram is a row of messages, each of which begins at a multiple of four bytes:
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

  /// Reads the messages of one datagram; those of other kinds are passed over.
  ///
  /// - Returns: the messages, and whether something of the datagram is missing or makes no sense: a message that ends behind the
  ///   datagram, or is too short for its kind. What stands behind the first of the former is not read.
  /// - Complexity: in the bytes; at most a message for each 24 of them.
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
      // The last one need not be filled up.
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
    // The kernel had more to say than there was room for.
    case Layout.overrun: .damaged
    default: .skipped
    }
  }

  private static func link(_ body: Span<UInt8>, isGone: Bool) -> Outcome {
    guard body.count >= 16, let index = body.word(at: 4), let flags = body.word(at: 8) else { return .damaged }
    // What a bridge says of its ports has the same type: a port that leaves it is not an interface that is gone.
    return body[0] == 0 ? .read(.link(index: index, flags: flags, isGone: isGone)) : .skipped
  }

  private static func address(_ body: Span<UInt8>, isGone: Bool) -> Outcome {
    guard body.count >= 8, let index = body.word(at: 4) else { return .damaged }
    var own: [UInt8]?
    var peer: [UInt8]?
    let isComplete = attributes(body, from: 8) { type, value in
      // Of a line between two points the other end is the address, and the own one stands beside it.
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

  /// Shows the attributes of a message.
  ///
  /// - Returns: whether each ends within the message.
  private static func attributes(
    _ body: Span<UInt8>, from start: Int, _ visit: (_ type: UInt16, _ value: Span<UInt8>) -> Void
  ) -> Bool {
    var offset = start
    while offset < body.count {
      guard let length = body.half(at: offset).map({ Int($0) }), length >= 4, length <= body.count - offset,
        let type = body.half(at: offset + 2)
      else { return false }
      // The two highest bits say how the value is written.
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

/// The kernel's numbers.
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
  /// The number at this place in the machine's order; `nil` where the bytes end before.
  fileprivate func half(at offset: Int) -> UInt16? {
    guard offset >= 0, count >= 2, offset <= count - 2 else { return nil }
    return UInt16(littleEndian: UInt16(self[offset]) | UInt16(self[offset + 1]) << 8)
  }

  /// The same of four bytes.
  fileprivate func word(at offset: Int) -> UInt32? {
    guard offset >= 0, count >= 4, offset <= count - 4 else { return nil }
    let low = UInt32(self[offset]) | UInt32(self[offset + 1]) << 8
    return UInt32(littleEndian: low | UInt32(self[offset + 2]) << 16 | UInt32(self[offset + 3]) << 24)
  }

  fileprivate func bytes(atMost limit: Int) -> [UInt8] { (0..<Swift.min(count, limit)).map { self[$0] } }
}
