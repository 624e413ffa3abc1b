#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A TCP connection to loopback, by which lines go out and come in. It blocks.
package struct LineSocket: ~Copyable {
  private let descriptor: Int32
  private var buffer: [UInt8]
  private var received: [UInt8] = []

  /// Connects to a port of 127.0.0.1.
  ///
  /// - Returns: `nil` if nobody listens there.
  package init?(port: UInt16) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    // A socket address of the Internet is one, and has its size; the pointers live as long as the calls.
    let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        unsafe connect(descriptor, generic, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    var on: Int32 = 1
    // The option is an `Int32`, which lives as long as the call.
    unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    guard isConnected else {
      close(descriptor)
      return nil
    }
    self.descriptor = descriptor
    buffer = Array(repeating: 0, count: 1 << 16)
  }

  deinit { close(descriptor) }

  /// Sends bytes.
  ///
  /// - Returns: Whether all went out; `false` if the connection is closed.
  package func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      // The bytes live as long as the call, which reads no more than there are.
      let count = unsafe bytes.withUnsafeBytes { raw in
        unsafe write(descriptor, raw.baseAddress! + sent, bytes.count - sent)
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  /// Waits until there is a line at least.
  ///
  /// - Returns: All lines that are there, without their ends; none if the connection is closed.
  package mutating func receive() -> [ArraySlice<UInt8>] {
    while true {
      if let end = received.lastIndex(of: 10) {
        let lines = received[...end].split(separator: 10)
        received.removeFirst(end + 1)
        return lines
      }
      // The buffer lives as long as the call, which writes no more than it holds.
      let count = unsafe buffer.withUnsafeMutableBytes { raw in
        unsafe read(descriptor, raw.baseAddress!, raw.count)
      }
      guard count > 0 else { return [] }
      received += buffer[..<count]
    }
  }
}
