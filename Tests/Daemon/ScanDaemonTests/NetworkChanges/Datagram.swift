@testable import ScanDaemon

/// Bytes as the kernel writes them; the layouts are those of `linux/netlink.h` and `linux/rtnetlink.h`.
struct Datagram {
  var bytes: [UInt8] = []

  static func native<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
    let order = Number(1).littleEndian == 1 ? number.littleEndian : number.bigEndian
    let bytes = (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: order >> ($0 * 8)) }
    return Number(1).littleEndian == 1 ? bytes : bytes.reversed()
  }

  static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
    let bytes = native(UInt16(4 + value.count)) + native(type) + value
    return bytes + Array(repeating: 0, count: (4 - bytes.count % 4) % 4)
  }

  /// `struct nlmsghdr`, and a body behind it.
  mutating func add(_ type: UInt16, _ body: [UInt8]) {
    bytes += Self.native(UInt32(16 + body.count)) + Self.native(type)
    bytes += Self.native(UInt16(0)) + Self.native(UInt32(7)) + Self.native(UInt32(0)) + body
    bytes += Array(repeating: 0, count: (4 - body.count % 4) % 4)
  }

  /// `struct ifinfomsg` and the name of the interface.
  mutating func link(_ index: UInt32, flags: UInt32, family: UInt8 = 0, isGone: Bool = false) {
    var body: [UInt8] = [family, 0] + Self.native(UInt16(1))
    body += Self.native(index) + Self.native(flags) + Self.native(UInt32.max)
    add(isGone ? 17 : 16, body + Self.attribute(3, Array("eth\(index)\0".utf8)))
  }

  /// `struct ifaddrmsg` and IFA_ADDRESS, behind IFA_LOCAL where there is another end.
  mutating func address(
    _ index: UInt32, _ address: [UInt8], peer: [UInt8]? = nil, scope: UInt8 = 0, flags: UInt8 = 0, isGone: Bool = false
  ) {
    var body: [UInt8] = [address.count == 4 ? 2 : 10, 24, flags, scope] + Self.native(index)
    if peer != nil { body += Self.attribute(2, address) }
    body += Self.attribute(1, peer ?? address)
    // IFA_CACHEINFO, which nobody here reads.
    add(isGone ? 21 : 20, body + Self.attribute(6, Array(repeating: 9, count: 16)))
  }

  /// `struct rtmsg`, RTA_OIF, and RTA_TABLE where the table's number is larger than a byte.
  mutating func route(
    _ index: UInt32?, type: UInt8 = 1, table: UInt32 = 254, flags: UInt32 = 0, isGone: Bool = false
  ) {
    var body: [UInt8] = [2, 0, 0, 0, UInt8(min(table, 252)), 3, 0, type] + Self.native(flags)
    body += Self.attribute(15, Self.native(table))
    if let index { body += Self.attribute(4, Self.native(index)) }
    add(isGone ? 25 : 24, body)
  }

  func read() -> (messages: [RouteMessage], isDamaged: Bool) { RouteMessage.read(bytes.span) }
}
