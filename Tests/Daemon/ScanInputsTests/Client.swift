import Glibc
import Testing

@testable import ScanInputs

/// Clients of servers, with sockets of the system.
enum Client {
  /// Connects to an address as ``InputEvent/opened(_:)`` tells it.
  static func tcp(_ address: String) throws -> Peer {
    let port = try #require(UInt16(address.split(separator: ":").last ?? ""))
    let number: CInt
    let result: CInt
    if address.hasPrefix("[") {
      number = socket(AF_INET6, CInt(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_port = port.bigEndian
      address.sin6_addr = in6addr_loopback
      result = connect(number, &address)
    } else {
      number = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      result = connect(number, &address)
    }
    guard result == 0 else {
      close(number)
      throw Late(description: "cannot connect to \(address): \(errno)")
    }
    return try Peer(number)
  }

  static func unix(_ path: String) throws -> Peer {
    let number = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
    var address = unixAddress(path)
    guard connect(number, &address) == 0 else {
      close(number)
      throw Late(description: "cannot connect to \(path): \(errno)")
    }
    return try Peer(number)
  }

  /// A socket that has a name and does not listen: what a daemon leaves behind that was killed.
  static func leaveBehind(_ path: String) {
    let number = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
    var address = unixAddress(path)
    unsafe withUnsafePointer(to: &address) {
      _ = unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    close(number)
  }

  private static func unixAddress(_ path: String) -> sockaddr_un {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    return address
  }

  private static func connect<Address>(_ number: CInt, _ address: inout Address) -> CInt {
    unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.connect(number, $0, socklen_t(MemoryLayout<Address>.size))
      }
    }
  }
}

extension Peer {
  /// Says that no more is sent.
  func finish() { shutdown(number, CInt(SHUT_WR)) }

  /// Goes away without a word: what is on the way is lost, and the other side gets an error.
  func abort() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    _ = unsafe setsockopt(number, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    close()
  }
}
