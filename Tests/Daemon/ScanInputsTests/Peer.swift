import Glibc
import Testing
import WaitingTestSupport

/// The other end of a descriptor. Its calls never block: the tasks of the process have few threads.
final class Peer {
  private(set) var number: CInt
  private var received: [UInt8] = []

  init(_ number: CInt) throws {
    try #require(number >= 0, "errno \(errno)")
    self.number = number
    _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK)
  }

  deinit { close() }

  func close() {
    if number >= 0 { Glibc.close(number) }
    number = -1
  }

  func send(_ text: String) async throws { try await send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) async throws {
    var rest = bytes[...]
    try await eventually("everything sent") {
      // MSG_NOSIGNAL is for sockets; SIGPIPE is ignored anyway.
      let count = unsafe rest.withUnsafeBytes { unsafe write(number, $0.baseAddress, $0.count) }
      if count < 0, errno != EAGAIN { throw Late(description: "cannot send: \(errno)") }
      rest = rest.dropFirst(max(0, count))
      return rest.isEmpty
    }
  }

  /// As many bytes as are taken at once.
  func sendSome(_ bytes: [UInt8]) -> Int {
    unsafe bytes.withUnsafeBytes { unsafe write(number, $0.baseAddress, $0.count) }
  }

  /// Reads what is there.
  ///
  /// - Returns: Whether more may come.
  private func receive() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe read(number, &buffer, buffer.count)
    if count > 0 { received += buffer[..<count] }
    return count > 0 || (count < 0 && errno == EAGAIN)
  }

  /// The next line; `nil` at the end.
  func line() async throws -> String? {
    var isOpen = true
    try await eventually("a line") {
      if received.contains(0x0A) { return true }
      isOpen = receive()
      return !isOpen
    }
    guard let end = received.firstIndex(of: 0x0A) else {
      #expect(received.isEmpty, "half a line")
      return nil
    }
    defer { received.removeSubrange(...end) }
    return String(decoding: received[..<end], as: UTF8.self)
  }

  func lines(_ count: Int) async throws -> [String?] {
    var lines: [String?] = []
    for _ in 0..<count { lines.append(try await line()) }
    return lines
  }

  /// What is there now.
  func pending() -> String {
    while case let before = received.count, receive(), received.count > before {}
    return String(decoding: received, as: UTF8.self)
  }

  /// A pipe: who reads, and who writes.
  static func pipe() throws -> (reads: Peer, writes: Peer) {
    let (reads, writes) = try rawPipe()
    return (try Peer(reads), try Peer(writes))
  }

  static func rawPipe() throws -> (reads: CInt, writes: CInt) {
    var ends: [CInt] = [-1, -1]
    try #require(unsafe Glibc.pipe(&ends) == 0)
    return (ends[0], ends[1])
  }
}

/// A directory of a test.
final class Scratch {
  let path: String

  init() throws {
    var template = Array("/tmp/scan-inputs-XXXXXX".utf8CString)
    let made = unsafe mkdtemp(&template)
    try #require(unsafe made != nil)
    path = unsafe String(cString: made!)
  }

  deinit {
    for name in ["a", "b", "c", "link"] { _ = unsafe unlink(path + "/" + name) }
    _ = unsafe rmdir(path)
  }

  func name(_ name: String) -> String { path + "/" + name }
}

/// A pty, from the side of the scanner.
final class Pty {
  let scanner: Peer
  let path: String

  init() throws {
    var (number, other): (CInt, CInt) = (-1, -1)
    // The longest name of a pty is far shorter.
    var name = [CChar](repeating: 0, count: 256)
    try #require(unsafe openpty(&number, &other, &name, nil, nil) == 0)
    close(other)
    path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    scanner = try Peer(number)
  }
}
