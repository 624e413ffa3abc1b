import Glibc
import Testing
import WaitingTestSupport

@testable import ScanInputs

@Suite struct SocketInputTests {
  private func mode(_ path: String) -> mode_t? {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? status.st_mode : nil
  }

  private func withSocket(
    _ recorder: Recorder, _ path: String, line: LineFormat = LineFormat(),
    _ body: (RunningInput) async throws -> Void
  ) async throws {
    try await withInput(.socket(path: path), recorder, line: line) { input in
      try await eventually("opened") { recorder.openings == [path] }
      try await body(input)
    }
  }

  @Test func `requests are answered with their tags, and the socket is the user's own`() async throws {
    let scratch = try Scratch()
    let path = scratch.name("a")
    let recorder = Recorder(repeats: { _ in true })
    try await withSocket(recorder, path) { _ in
      #expect(mode(path) == S_IFSOCK | 0o600)
      let client = try Client.unix(path)
      try await client.send(#"{"code":"690","tag":"a"}"# + "\n" + #"{"tag":null,"code":"01\u001d21"}"# + "\r\n")
      #expect(try await client.lines(2) == ["1 690 a", "2 01\u{1D}21"])
      #expect(
        recorder.state.withLock { $0.readings } == [
          Reading(input: "test", code: "690", tag: "a"), Reading(input: "test", code: "01\u{1D}21"),
        ])
      try await client.send(#"{"code":"691"}"#)
      client.finish()
      #expect(try await client.lines(2) == ["3 691", nil])
    }
    #expect(mode(path) == nil)
  }

  @Test func `what is no request is told so, and the connection goes on`() async throws {
    let scratch = try Scratch()
    let path = scratch.name("a")
    let recorder = Recorder()
    var line = LineFormat()
    line.maximumByteCount = 60
    line.prefix = "]C1"
    line.suffix = "\u{3}"
    try await withSocket(recorder, path, line: line) { _ in
      let client = try Client.unix(path)
      try await client.send("690\n" + #"{"code":7,"tag":"a"}"# + "\n" + #"{"tag":"b","code":7}"# + "\n")
      try await client.send(#"{"code":"]C1","tag":"c"}"# + "\n" + String(repeating: "x", count: 61) + "\n")
      try await client.send(#"{"code":"]C1690\u0003","tag":"d"}"# + "\n")
      let answers = try await client.lines(6)
      #expect(answers[0] == #"{"error":"the request is no object; it is {\"code\":\"…\"}"}"#)
      #expect(answers[1] == #"{"error":"\"code\" is no string"}"#)
      #expect(answers[2] == #"{"error":"\"code\" is no string","tag":"b"}"#)
      #expect(answers[3] == #"{"error":"\"code\" is empty","tag":"c"}"#)
      #expect(answers[4] == #"{"error":"a line has more than 60 bytes"}"#)
      #expect(answers[5] == "1 690 d")
      #expect(recorder.faults.map(\.name) == ["request", "request", "request", "request", "tooLong"])
    }
  }

  @Test func `a name that a killed daemon left is taken over`() async throws {
    let scratch = try Scratch()
    let path = scratch.name("a")
    Client.leaveBehind(path)
    #expect(mode(path) != nil)
    let recorder = Recorder()
    try await withSocket(recorder, path) { _ in
      let client = try Client.unix(path)
      try await client.send(#"{"code":"690"}"# + "\n")
      #expect(try await client.line() == "1 690")
    }
  }

  @Test func `a name at which somebody answers is left to him until he is gone`() async throws {
    let scratch = try Scratch()
    let path = scratch.name("a")
    let (first, second, gate) = (Recorder(), Recorder(), Gate())
    try await withSocket(first, path) { input in
      try await withInput(.socket(path: path), second, environment: { $0.sleep = gate.sleep }) { _ in
        try await eventually("waiting") { gate.waits.count == 1 }
        #expect(second.closings == ["cannot listen at \(path): another process listens there"])
        let client = try Client.unix(path)
        try await client.send(#"{"code":"690"}"# + "\n")
        #expect(try await client.line() == "1 690")
        client.close()
        try await input.shutDown()
        gate.open()
        try await eventually("opened") { second.openings == [path] }
      }
    }
  }

  @Test func `what is no socket stays, and a path that cannot be is reported`() async throws {
    let scratch = try Scratch()
    let file = scratch.name("a")
    _ = unsafe close(open(file, O_CREAT | O_RDWR, 0o600))
    let long = scratch.name(String(repeating: "x", count: 100))
    for path in [file, scratch.path, long, "", "a\0b", scratch.name("none/a"), "/proc/a"] {
      let (recorder, gate) = (Recorder(), Gate())
      try await withInput(.socket(path: path), recorder, environment: { $0.sleep = gate.sleep }) { input in
        try await eventually("waiting") { gate.waits.count == 1 }
        #expect(recorder.closings.count == 1 && recorder.openings.isEmpty)
        #expect(input.isRunning)
      }
    }
    #expect(mode(file) == S_IFREG | 0o600)
  }

  @Test func `a path may be as long as is said, and what binding needed is gone`() async throws {
    let scratch = try Scratch()
    let path = scratch.name(
      String(repeating: "x", count: SocketFile.pathByteLimit - scratch.name("").utf8.count))
    #expect(path.utf8.count == 93)
    try await withSocket(Recorder(), path) { _ in
      #expect(mode(path) == S_IFSOCK | 0o600)
      #expect(mode("\(path).\(getpid())") == nil)
    }
    #expect(mode(path) == nil)
  }

  @Test func `a name that somebody else has taken meanwhile is left to him`() async throws {
    let scratch = try Scratch()
    let path = scratch.name("a")
    try await withSocket(Recorder(), path) { _ in
      _ = unsafe unlink(path)
      Client.leaveBehind(path)
    }
    #expect(mode(path) != nil)
  }
}
