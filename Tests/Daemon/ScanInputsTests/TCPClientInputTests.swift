import Glibc
import Testing
import WaitingTestSupport

@testable import ScanInputs

/// Scanners that listen: sockets of the test, which the input calls.
@Suite struct TCPClientInputTests {
  /// A socket that listens on a free port of loopback.
  private final class Scanner {
    private let number: CInt
    let port: Int

    init(port: Int = 0) throws {
      let number = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
      self.number = number
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = UInt16(port).bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var reuse: CInt = 1
      _ = unsafe setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<CInt>.size))
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let code = unsafe withUnsafeMutablePointer(to: &address) {
        unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> CInt in
          if unsafe bind(number, address, size) != 0 { return errno }
          if listen(number, 8) != 0 { return errno }
          return unsafe getsockname(number, address, &size) == 0 ? 0 : errno
        }
      }
      try #require(code == 0, "errno \(code)")
      self.port = Int(UInt16(bigEndian: address.sin_port))
      _ = fcntl(number, F_SETFL, O_NONBLOCK)
    }

    deinit { close(number) }

    /// The next call.
    func answered() async throws -> Peer {
      var call: CInt = -1
      try await eventually("called") {
        call = accept(number, nil, nil)
        return call >= 0
      }
      return try Peer(call)
    }
  }

  private func source(_ scanner: Scanner, host: String = "127.0.0.1", answers: Bool = false) -> InputSource {
    var options = TCPClientOptions(host: host, port: scanner.port)
    options.answers = answers
    return .tcpClient(options)
  }

  @Test(arguments: ["127.0.0.1", "localhost"]) func `a scanner is called, read, and told nothing`(host: String)
    async throws
  {
    let (recorder, scanner) = (Recorder(), try Scanner())
    try await withInput(source(scanner, host: host), recorder) { _ in
      let call = try await scanner.answered()
      try await eventually("reported") { recorder.openings == ["\(host):\(scanner.port)"] }
      try await call.send(Array("690\r\n".utf8) + [0xFF, 0x0D] + Array("691\r".utf8))
      try await eventually("answered") { recorder.answered == 3 }
      #expect(recorder.codes == ["690", #"\xFF"#, "691"])
      #expect(call.pending() == "")
    }
  }

  @Test func `answers are written where that is asked for`() async throws {
    let (recorder, scanner) = (Recorder(), try Scanner())
    try await withInput(source(scanner, answers: true), recorder) { _ in
      let call = try await scanner.answered()
      try await call.send("690\n691\n")
      #expect(try await call.lines(2) == ["1 690", "2 691"])
    }
  }

  @Test func `a pause ends a line`() async throws {
    let (recorder, scanner) = (Recorder(), try Scanner())
    var line = LineFormat()
    line.idleTimeout = .milliseconds(20)
    try await withInput(source(scanner), recorder, line: line) { _ in
      let call = try await scanner.answered()
      try await call.send("690")
      try await eventually("read") { recorder.codes == ["690"] }
    }
  }

  @Test
  func `a scanner that hangs up is called again, with its last line taken, and one that is away ever more rarely`()
    async throws
  {
    let (recorder, gate) = (Recorder(), Gate())
    var scanner: Scanner? = try Scanner()
    let port = try #require(scanner?.port)
    let source = source(try #require(scanner))
    try await withInput(source, recorder, environment: { $0.sleep = gate.sleep }) { _ in
      var call = try await scanner?.answered()
      try await call?.send("690\n691")
      call?.close()
      try await eventually("waiting") { gate.waits.count == 1 }
      #expect(recorder.closings == ["127.0.0.1:\(port) closed the connection"])
      try await eventually("answered") { recorder.codes == ["690", "691"] }
      // It is switched off.
      scanner = nil
      gate.open(7)
      try await eventually("waiting") { gate.waits.count == 8 }
      #expect(recorder.closings.count == 2, "reported once")
      #expect(recorder.closings.last == "cannot reach 127.0.0.1:\(port): Connection refused")
      #expect(gate.waits == [1, 2, 4, 8, 16, 30, 30, 30].map { .seconds($0) })
      let again = try Scanner(port: port)
      gate.open()
      call = try await again.answered()
      try await call?.send("692\nhalf")
      try await eventually("answered") { recorder.codes.count == 3 }
      // Without a word: half a code is none.
      call?.abort()
      try await eventually("waiting") { gate.waits.count == 9 }
      #expect(recorder.closings.last == "the connection was lost: Connection reset by peer")
      #expect(gate.waits.last == .seconds(1), "the pause begins anew")
      #expect(recorder.codes == ["690", "691", "692"])
    }
  }

  @Test func `a name that is not known is reported`() async throws {
    let (recorder, gate) = (Recorder(), Gate())
    let source = InputSource.tcpClient(TCPClientOptions(host: "no.such.name.invalid", port: 9))
    try await withInput(source, recorder, environment: { $0.sleep = gate.sleep }) { _ in
      try await eventually("waiting") { gate.waits.count == 1 }
      #expect(recorder.closings == ["cannot reach no.such.name.invalid:9: the name is not known"])
    }
  }

  @Test(arguments: [0, -1, 65_536]) func `a port that is none is reported`(port: Int) async throws {
    let (recorder, gate) = (Recorder(), Gate())
    let source = InputSource.tcpClient(TCPClientOptions(host: "127.0.0.1", port: port))
    try await withInput(source, recorder, environment: { $0.sleep = gate.sleep }) { _ in
      try await eventually("waiting") { gate.waits.count == 1 }
      #expect(recorder.closings.count == 1 && recorder.openings.isEmpty)
    }
  }

  @Test func `the end does not wait for a scanner that does not answer`() async throws {
    let (recorder, scanner) = (Recorder(), try Scanner())
    // The queue of calls is full, so that the next ones are not answered.
    var calls: [CInt] = []
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(scanner.port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    for _ in 0..<64 {
      let number = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0)
      calls.append(number)
      unsafe withUnsafePointer(to: &address) {
        _ = unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
    }
    defer { for call in calls { close(call) } }
    let input = RunningInput(InputOptions(name: "test", source: source(scanner)), recorder) {
      $0.connectTimeout = .seconds(86_400)
    }
    try await Task.sleep(for: .milliseconds(100))
    try await input.shutDown()
    #expect(recorder.events.isEmpty)
  }

  @Test func `at shutdown what was read is answered, and cancellation ends at once`() async throws {
    for isCancelled in [false, true] {
      let (recorder, scanner) = (Recorder(), try Scanner())
      recorder.permit(0)
      let input = RunningInput(InputOptions(name: "test", source: source(scanner)), recorder) {
        $0.timeoutAtEnd = .seconds(60)
      }
      let call = try await scanner.answered()
      try await call.send("1\n2\nhalf")
      try await eventually("read") { recorder.codes == ["1"] }
      if isCancelled { input.task.cancel() } else { await input.group.triggerGracefulShutdown() }
      recorder.permit(.max)
      try? await input.end()
      if !isCancelled { #expect(recorder.codes == ["1", "2"]) }
      #expect(try await call.line() == nil)
    }
  }
}
