#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What a service manager listens on.
package final class DatagramSocket: Sendable {
  package enum Place: CaseIterable, Sendable {
    case path
    #if os(Linux)
    case abstract
    #endif
  }

  package struct Failure: Error {
    let call: String
    let code: Int32
  }

  /// As NOTIFY_SOCKET has it.
  package let address: String
  private let descriptor: Int32

  package init(_ place: Place) throws {
    let name = "shelfmark-notify-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"
    switch place {
    case .path: address = "/tmp/\(name)"
    #if os(Linux)
    case .abstract: address = "@\(name)"
    #endif
    }
    #if canImport(Glibc)
    let kind = Int32(SOCK_DGRAM.rawValue)
    #else
    let kind = SOCK_DGRAM
    #endif
    descriptor = socket(AF_UNIX, kind, 0)
    guard descriptor >= 0 else { throw Failure(call: "socket", code: errno) }
    var target = sockaddr_un()
    target.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(address.utf8)
    if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
    // The name is shorter than the field, which is zero behind it.
    unsafe withUnsafeMutableBytes(of: &target.sun_path) { unsafe $0.copyBytes(from: bytes) }
    let length = 2 + bytes.count + (bytes[0] == 0 ? 0 : 1)
    // The address lives for the call.
    let bound = unsafe withUnsafePointer(to: &target) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, socklen_t(length)) }
    }
    guard bound == 0 else { throw Failure(call: "bind", code: errno) }
  }

  /// Waits for a datagram, up to a minute, and holds up no thread that the sender may need.
  package func receive() async throws -> String {
    for _ in 0..<6000 {
      if let text = read() { return text }
      guard errno == EAGAIN || errno == EINTR else { break }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw Failure(call: "recv", code: errno)
  }

  /// Whether nothing waits.
  package var isEmpty: Bool { read() == nil }

  private func read() -> String? {
    var bytes = [UInt8](repeating: 0, count: 4096)
    // The array is as long as is said.
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe recv(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
    }
    return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
  }

  deinit {
    close(descriptor)
    // The path lives for the call.
    if address.hasPrefix("/") { unsafe unlink(address) }
  }
}
