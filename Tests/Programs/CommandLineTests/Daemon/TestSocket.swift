import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Bytes to and from another process, which blocks, but no longer than it is told to.
final class TestSocket: @unchecked Sendable {  // used by one thread at a time
  private let reading: Int32
  private let writing: Int32
  private let timeout: Int32
  private var unread: [UInt8] = []

  /// Takes the descriptors over.
  init(reading: Int32, writing: Int32, timeout seconds: Int = 5) {
    self.reading = reading
    self.writing = writing
    timeout = Int32(seconds * 1000)
  }

  /// A socket, a pty or a FIFO.
  convenience init(descriptor: Int32, timeout seconds: Int = 5) {
    self.init(reading: descriptor, writing: descriptor, timeout: seconds)
  }

  /// - Throws: `POSIXError` where nobody listens.
  convenience init(port: Int, timeout: Int = 5) throws {
    self.init(descriptor: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0), timeout: timeout)
    var address = sockaddr_in.loopback(port: port)
    // The address is read within the call.
    let result = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(reading, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    if result != 0 { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .ECONNREFUSED) }
  }

  /// - Throws: `POSIXError` where nobody listens.
  convenience init(path: String, timeout: Int = 5) throws {
    self.init(descriptor: socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0), timeout: timeout)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    // The path is copied into the address, which is zeros behind it.
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes.prefix($0.count - 1)) }
    // The address is read within the call.
    let result = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(reading, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    if result != 0 { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .ECONNREFUSED) }
  }

  deinit {
    close(reading)
    if writing != reading { close(writing) }
  }

  /// - Throws: `POSIXError` where the other side is gone, or takes nothing in time.
  func send(_ bytes: some Collection<UInt8>) throws {
    // A pipe without a reader is an error here, and not the end of the tests.
    var pipe = sigset_t()
    unsafe sigemptyset(&pipe)
    unsafe sigaddset(&pipe, SIGPIPE)
    unsafe pthread_sigmask(SIG_BLOCK, &pipe, nil)
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
      guard isReady(writing, POLLOUT) else { throw POSIXError(.ETIMEDOUT) }
      // The buffer has as many bytes as it says.
      let count = unsafe rest.withUnsafeBytes { unsafe write(writing, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR || errno == EAGAIN { continue }
      if count <= 0 { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EPIPE) }
      rest = rest.dropFirst(count)
    }
  }

  func send(_ text: String) throws { try send(text.utf8) }

  /// The next line without its end; `nil` at the end, or when nothing came in time.
  func line() -> String? {
    while true {
      if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
        var line = unread[..<end]
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        defer { unread.removeFirst(end + 1) }
        return String(decoding: line, as: UTF8.self)
      }
      if !receive() { return nil }
    }
  }

  /// Exactly so many bytes; `nil` at the end.
  func bytes(_ count: Int) -> [UInt8]? {
    while unread.count < count {
      if !receive() { return nil }
    }
    defer { unread.removeFirst(count) }
    return Array(unread[..<count])
  }

  private func receive() -> Bool {
    guard isReady(reading, POLLIN) else { return false }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    // Into the local buffer.
    let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(reading, $0.baseAddress, $0.count) }
    if count < 0, errno == EINTR || errno == EAGAIN { return true }
    if count <= 0 { return false }
    unread += buffer[..<count]
    return true
  }

  private func isReady(_ descriptor: Int32, _ event: Int32) -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(event), revents: 0)
    while true {
      // The call fills the local structure.
      let result = unsafe poll(&request, 1, timeout)
      if result < 0, errno == EINTR { continue }
      return result > 0
    }
  }
}

extension sockaddr_in {
  static func loopback(port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
    address.sin_port = UInt16(port).bigEndian
    return address
  }
}

/// Requests over one connection, one after another.
final class TestHTTPClient {
  struct Response {
    var status: Int
    var headers: [String: String]
    var body: [UInt8]

    func object() throws -> [String: Any] {
      guard let object = try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any] else {
        throw CocoaError(.coderReadCorrupt)
      }
      return object
    }
  }

  let socket: TestSocket

  init(_ socket: TestSocket) { self.socket = socket }

  /// Sends a request and waits for the whole answer.
  ///
  /// - Throws: `POSIXError` where the connection ends before.
  func request(
    _ method: String, _ path: String, _ json: String? = nil, headers: [String: String] = [:]
  ) throws -> Response {
    try begin(method, path, json, headers: headers)
    guard var response = head() else { throw POSIXError(.ECONNRESET) }
    if let count = response.headers["content-length"].flatMap({ Int($0) }), method != "HEAD" {
      guard let body = socket.bytes(count) else { throw POSIXError(.ECONNRESET) }
      response.body = body
    } else if response.headers["transfer-encoding"] == "chunked" {
      while let size = socket.line().flatMap({ Int($0, radix: 16) }) {
        guard let chunk = socket.bytes(size), socket.line() != nil else { throw POSIXError(.ECONNRESET) }
        if size == 0 { break }
        response.body += chunk
      }
    }
    return response
  }

  func begin(_ method: String, _ path: String, _ json: String? = nil, headers: [String: String] = [:]) throws {
    var head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n"
    for (name, value) in headers { head += "\(name): \(value)\r\n" }
    if let json { head += "Content-Type: application/json\r\nContent-Length: \(json.utf8.count)\r\n" }
    try socket.send(head + "\r\n" + (json ?? ""))
  }

  /// The status and headers of an answer, names in lower case; `nil` where the connection ends before.
  func head() -> Response? {
    guard let first = socket.line(), let status = first.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
    else { return nil }
    var response = Response(status: status, headers: [:], body: [])
    while let line = socket.line() {
      if line.isEmpty { return response }
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2 else { return nil }
      response.headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
    }
    return nil
  }
}
