import Glibc
import Testing
import WaitingTestSupport

@testable import ScanInputs

@Suite struct TCPInputTests {
  /// Runs a server on a free port; `body` is told its address.
  private func withServer(
    _ recorder: Recorder, host: String = "127.0.0.1", line: LineFormat = LineFormat(),
    environment: (inout InputEnvironment) -> Void = { _ in }, _ body: (RunningInput, String) async throws -> Void
  ) async throws {
    try await withInput(.tcp(host: host, port: 0), recorder, line: line, environment: environment) { input in
      try await eventually("opened") { recorder.openings.count == 1 }
      try await body(input, recorder.openings[0])
    }
  }

  @Test func `lines are answered in order`() async throws {
    let recorder = Recorder()
    try await withServer(recorder) { _, address in
      #expect(address.hasPrefix("127.0.0.1:"))
      let client = try Client.tcp(address)
      try await client.send("690\r\n691\n\n692\r")
      #expect(try await client.lines(3) == ["1 690", "2 691", "3 692"])
      let codes = (0..<2000).map { "code \($0)" }
      try await client.send(codes.map { $0 + "\n" }.joined())
      #expect(try await client.lines(2000) == codes.enumerated().map { "\($0 + 4) \($1)" })
    }
  }

  @Test(arguments: ["::1", "localhost"]) func `other addresses`(host: String) async throws {
    let recorder = Recorder()
    try await withServer(recorder, host: host) { _, address in
      let client = try Client.tcp(address)
      try await client.send("690\n")
      #expect(try await client.line() == "1 690")
    }
  }

  @Test func `a double scan is answered`() async throws {
    let recorder = Recorder(repeats: { _ in true })
    try await withServer(recorder) { _, address in
      let client = try Client.tcp(address)
      try await client.send("690\n")
      #expect(try await client.line() == "1 690")
    }
  }

  @Test func `a line that is refused or cannot be decoded is answered, and the connection goes on`() async throws {
    let recorder = Recorder()
    var line = LineFormat()
    line.maximumByteCount = 4
    try await withServer(recorder, line: line) { _, address in
      let client = try Client.tcp(address)
      try await client.send(Array("12345\n".utf8) + [0xFF, 0x0A] + Array("690\n".utf8))
      #expect(try await client.line() == #"{"error":"a line has more than 4 bytes"}"#)
      #expect(try await client.line() == #"1 \xFF"#)
      #expect(try await client.line() == "2 690")
      #expect(recorder.faults == [.tooLong(limit: 4), .notText(.utf8, shown: "\\xFF")])
      #expect(recorder.state.withLock { $0.readings[0].undecodedBytes } == [0xFF])
      #expect(
        recorder.state.withLock { $0.readings[0].flaw } == "could not be decoded: the bytes are not utf-8")
    }
  }

  @Test func `connections do not wait for each other`() async throws {
    let recorder = Recorder()
    try await withServer(recorder) { _, address in
      let idle = try Client.tcp(address)
      let clients = try (0..<50).map { _ in try Client.tcp(address) }
      for (number, client) in clients.enumerated() { try await client.send("a\(number)\nb\(number)\n") }
      for (number, client) in clients.enumerated() {
        let codes = try await client.lines(2).map { $0?.split(separator: " ").last.map(String.init) }
        #expect(codes == ["a\(number)", "b\(number)"])
      }
      try await idle.send("690\n")
      #expect(try await idle.line() == "101 690")
    }
  }

  @Test func `who sends no more still gets his answers, for a last line without an end too`() async throws {
    let recorder = Recorder()
    recorder.permit(0)
    try await withServer(recorder) { _, address in
      let client = try Client.tcp(address)
      try await client.send("690\n691\n692")
      client.finish()
      try await eventually("read") { recorder.codes == ["690"] }
      recorder.permit(.max)
      #expect(try await client.lines(4) == ["1 690", "2 691", "3 692", nil])
    }
    // The last one may be half a code.
    let flaws = recorder.state.withLock { $0.readings.map(\.flaw) }
    #expect(flaws == [nil, nil, "not in the catalogue; its line has no end, so the code may be cut off"])
  }

  @Test func `who hangs up behind his codes has them taken`() async throws {
    let recorder = Recorder()
    recorder.permit(0)
    try await withServer(recorder) { _, address in
      for number in 0..<5 {
        let client = try Client.tcp(address)
        try await client.send("a\(number)\nb\(number)\n")
        client.close()
      }
      try await eventually("read") { recorder.codes.count == 5 }
      recorder.permit(.max)
      try await eventually("all taken") { recorder.answered == 10 }
      #expect(Set(recorder.codes).count == 10)
      #expect(recorder.faults.isEmpty)
    }
  }

  @Test func `who is gone without a word leaves nothing behind`() async throws {
    let recorder = Recorder()
    try await withServer(recorder, environment: { $0.maximumConnections = 2 }) { _, address in
      for _ in 0..<20 {
        try await eventually("admitted") {
          let client = try Client.tcp(address)
          guard client.sendSome(Array("690\nhalf".utf8)) > 0 else { return false }
          client.abort()
          return true
        }
      }
      try await eventually("answered") {
        let client = try Client.tcp(address)
        _ = client.sendSome(Array("last\n".utf8))
        return recorder.codes.contains("last")
      }
      #expect(!recorder.codes.contains("half"))
    }
  }

  @Test func `more connections than the limit are closed, until others are gone`() async throws {
    let recorder = Recorder()
    try await withServer(recorder, environment: { $0.maximumConnections = 2 }) { _, address in
      var clients = try [Client.tcp(address), Client.tcp(address)]
      for client in clients {
        try await client.send("690\n")
        #expect(try await client.line() != nil)
      }
      let refused = try Client.tcp(address)
      #expect(try await refused.line() == nil)
      #expect(recorder.refusals.count == 1 && recorder.refusals[0].name == "limit")
      #expect(recorder.refusals[0].description.contains("127.0.0.1:"))
      #expect(recorder.connections == [0, 1, 2])
      clients.removeLast().close()
      try await eventually("reported") { recorder.connections == [0, 1, 2, 1] }
      try await eventually("admitted") {
        let client = try Client.tcp(address)
        _ = client.sendSome(Array("last\n".utf8))
        clients.append(client)
        return recorder.codes.contains("last")
      }
    }
  }

  @Test func `who never reads is closed, and readings are not piled up meanwhile`() async throws {
    let recorder = Recorder(pad: 50_000)
    try await withServer(recorder, environment: { $0.answerTimeout = .milliseconds(300) }) { _, address in
      let client = try Client.tcp(address)
      let codes = Array(String(repeating: "690\n", count: 20_000).utf8)
      var sent = 0
      try await eventually("closed") {
        if sent < codes.count { sent += max(0, client.sendSome(Array(codes[sent...]))) }
        return recorder.faults == [.unanswered("a client takes none")]
      }
      // The system's buffers of both sides take some answers of 50 KB; the codes that were read ahead are taken though
      // nobody hears of them.
      #expect(recorder.answered < 400 + (LineConnection.readAheadByteCount + Descriptor.readByteCount) / 4)
    }
  }

  @Test(arguments: ["127.0.0.1", "::1", "::"]) func `who is not allowed is refused`(host: String) async throws {
    let recorder = Recorder()
    // 127.0.0.1 is what clients have; where both kinds are listened to, the address of IPv4 is written as one of IPv6.
    for (allow, isAllowed) in [("127.0.0.0/8", host != "::1"), ("::1", host == "::1"), ("10.0.0.0/8", false)] {
      let former = recorder.openings.count
      let source = InputSource.tcp(host: host, port: 0, allow: [try PeerNetwork("192.0.2.1"), try PeerNetwork(allow)])
      try await withInput(source, recorder) { _ in
        try await eventually("opened") { recorder.openings.count > former }
        let address = recorder.openings[former]
        let client = try Client.tcp(host == "::" ? "127.0.0.1:" + (address.split(separator: ":").last ?? "") : address)
        if isAllowed {
          try await client.send("690\n")
          #expect(try await client.line()?.hasSuffix(" 690") == true)
        } else {
          #expect(try await client.line() == nil)
          let refusal = try #require(recorder.refusals.last)
          #expect(refusal.name == "notAllowed" && refusal.description.contains(host == "::1" ? "[::1]:" : "127.0.0.1:"))
        }
      }
    }
    #expect(recorder.codes.count == 1 && recorder.refusals.count == 2)
  }

  @Test func `a pause ends a line where it is asked to, also while an answer is awaited`() async throws {
    let recorder = Recorder()
    recorder.permit(0)
    var line = LineFormat()
    line.idleTimeout = .milliseconds(20)
    try await withServer(recorder, line: line, environment: { $0.onPause = recorder.notePause }) { _, address in
      let client = try Client.tcp(address)
      // Nobody answers yet, and these are codes of their own all the same, and so is one with an end.
      for (number, text) in ["690", "691", "692\n693"].enumerated() {
        try await client.send(text)
        try await eventually("a pause") { recorder.pauses == number + 1 }
      }
      try await eventually("read") { recorder.codes == ["690"] }
      recorder.permit(.max)
      #expect(try await client.lines(4) == ["1 690", "2 691", "3 692", "4 693"])
    }
  }

  @Test func `lines that end by pauses alone keep their ends`() async throws {
    let recorder = Recorder()
    var line = LineFormat()
    line.ends = []
    line.idleTimeout = .milliseconds(20)
    try await withServer(recorder, line: line) { _, address in
      let client = try Client.tcp(address)
      try await client.send("BEGIN\r\nEND\n")
      try await eventually("read") { recorder.codes == ["BEGIN\r\nEND\n"] }
    }
  }

  #if os(Linux)
  /// The connections of this process whose own port is `port` and whose timer is that of keepalive, with the seconds
  /// that are left.
  private func keepAlives(port: Int) throws -> [Int] {
    let table = try Peer(unsafe open("/proc/self/net/tcp", O_RDONLY)).pending()
    return table.split(separator: "\n").dropFirst().compactMap { row in
      let fields = row.split(separator: " ")
      guard fields.count > 5, let local = fields[1].split(separator: ":").last, Int(local, radix: 16) == port else {
        return nil
      }
      let timer = fields[5].split(separator: ":")
      return timer[0] == "02" ? Int(timer[1], radix: 16).map { $0 / 100 } : nil
    }
  }

  @Test func `who is silent is asked for a sign of life within half a minute`() async throws {
    let recorder = Recorder()
    try await withServer(recorder) { _, address in
      let client = try Client.tcp(address)
      try await client.send("690\n")
      #expect(try await client.line() == "1 690")
      let port = try #require(Int(address.split(separator: ":")[1]))
      var left: [Int] = []
      // Before that the answer is acknowledged, which has a timer too.
      try await eventually("silent") {
        left = try keepAlives(port: port)
        return !left.isEmpty
      }
      #expect(left.count == 1 && left.allSatisfy { $0 <= TCPKeepAlive.firstProbeSeconds }, "\(left)")
    }
    #expect(TCPKeepAlive.limitSeconds == 60)
  }
  #endif

  // MARK: Listening

  @Test func `a port in use is reported and tried again, ever more rarely`() async throws {
    let recorder = Recorder()
    let gate = Gate()
    let other = Recorder()
    try await withServer(other) { otherInput, address in
      let port = try #require(Int(address.split(separator: ":")[1]))
      try await withInput(
        .tcp(host: "127.0.0.1", port: port), recorder, environment: { $0.sleep = gate.sleep }
      ) { _ in
        gate.open(7)
        try await eventually("waiting") { gate.waits.count == 8 }
        #expect(recorder.closings == ["cannot listen on \(address): Address already in use"])
        #expect(gate.waits == [1, 2, 4, 8, 16, 30, 30, 30].map { .seconds($0) })
        try await otherInput.shutDown()
        gate.open()
        try await eventually("opened") { recorder.openings == [address] }
        let client = try Client.tcp(address)
        try await client.send("690\n")
        #expect(try await client.line() == "1 690")
      }
    }
  }

  @Test(arguments: [("127.0.0.1", -1), ("127.0.0.1", 65_536), ("192.0.2.1", 0), ("no.such.name.invalid", 0), ("", 0)])
  func `an address that is none is reported`(host: String, port: Int) async throws {
    let recorder = Recorder()
    let gate = Gate()
    try await withInput(.tcp(host: host, port: port), recorder, environment: { $0.sleep = gate.sleep }) { input in
      try await eventually("reported") { !recorder.events.isEmpty }
      // Of no name at all, some systems make every address of the machine.
      if !host.isEmpty { #expect(recorder.openings.isEmpty) }
      #expect(input.isRunning)
    }
  }

  // MARK: The end

  @Test func `at shutdown nobody is let in any more, and what was read is answered`() async throws {
    let recorder = Recorder()
    recorder.permit(0)
    try await withServer(recorder, environment: { $0.timeoutAtEnd = .seconds(60) }) { input, address in
      let (client, idle) = (try Client.tcp(address), try Client.tcp(address))
      try await client.send("1\n2\n3\nhalf")
      try await eventually("read") { recorder.codes == ["1"] }
      await input.group.triggerGracefulShutdown()
      try await eventually("refused") { (try? Client.tcp(address)) == nil }
      #expect(try await idle.line() == nil)
      recorder.permit(.max)
      #expect(try await client.lines(4) == ["1 1", "2 2", "3 3", nil])
      try await input.end()
      #expect(recorder.codes == ["1", "2", "3"])
    }
  }

  @Test func `what a client sends without a wait is answered together, in order, with faults in between`() async throws
  {
    let recorder = Recorder()
    recorder.permit(0)
    try await withServer(recorder) { _, address in
      let client = try Client.tcp(address)
      try await client.send("first\n")
      try await eventually("read") { recorder.codes == ["first"] }
      let codes = (0..<600).map(String.init)
      let lines = codes[..<300] + [String(repeating: "x", count: 5000)] + codes[300...]
      try await client.send(lines.map { $0 + "\n" }.joined())
      // Time to be read ahead.
      try await Task.sleep(for: .milliseconds(50))
      recorder.permit(.max)
      let answers = ["1 first"] + codes.enumerated().map { "\($0 + 2) \($1)" }
      #expect(try await client.lines(301) == answers[..<301].map(Optional.some))
      #expect(try await client.line()?.contains("4096") == true)
      #expect(try await client.lines(300) == answers[301...].map(Optional.some))
      let batches = recorder.batches
      #expect(batches.allSatisfy { $0 <= 256 } && batches.reduce(0, +) >= 598 && batches.count < 100)
    }
  }

  @Test func `cancellation ends at once`() async throws {
    let recorder = Recorder(pad: 10_000_000)
    try await withServer(recorder) { input, address in
      let (client, idle) = (try Client.tcp(address), try Client.tcp(address))
      try await client.send("1\n")
      // The client does not read its answer, so it is being written.
      try await eventually("answered") { recorder.answered == 1 }
      try await client.send("2\n")
      try await input.cancel()
      #expect(try await idle.line() == nil)
      #expect(recorder.codes == ["1"])
    }
  }

  @Test func `no descriptor is left behind`() async throws {
    func count() -> Int { (0..<2000).count { fcntl($0, F_GETFD) >= 0 } }
    let recorder = Recorder()
    try await withServer(recorder) { _, address in
      func round() async throws {
        let clients = try (0..<20).map { _ in try Client.tcp(address) }
        for client in clients { try await client.send("690\n") }
        for client in clients { #expect(try await client.line() != nil) }
      }
      try await round()
      // Other tests open and close descriptors beside this one: the difference is held against many connections.
      let before = count()
      for _ in 0..<20 { try await round() }
      try await eventually("closed") { count() < before + 200 }
    }
  }
}
