import Glibc
import Testing
import WaitingTestSupport

@testable import ScanInputs

@Suite struct SerialInputTests {
  private func source(_ path: String, answers: Bool = false, baud: Int = 9600) -> InputSource {
    var options = SerialOptions(path: path)
    options.answers = answers
    options.baud = baud
    return .serial(options)
  }

  @Test(arguments: [1200, 9600, 115_200, 921_600]) func `lines are read and answered, and nothing is echoed`(
    baud: Int
  ) async throws {
    let recorder = Recorder(repeats: { $0 == "again" })
    let pty = try Pty()
    try await withInput(source(pty.path, answers: true, baud: baud), recorder) { _ in
      try await eventually("opened") { recorder.openings == [pty.path] }
      // What a terminal that is not raw would act on: interrupt, end of file, a separator, suspend, flow control.
      try await pty.scanner.send("]C101\u{1D}\u{3}\u{4}\u{1A}\u{13}\u{11}\u{7F}\r\nagain\r691\r")
      #expect(try await pty.scanner.lines(2) == ["1 ]C101\u{1D}\u{3}\u{4}\u{1A}\u{13}\u{11}\u{7F}", "3 691"])
      #expect(pty.scanner.pending() == "")
    }
  }

  @Test func `nothing is written where no answers are asked for`() async throws {
    let recorder = Recorder()
    let pty = try Pty()
    try await withInput(source(pty.path), recorder) { _ in
      try await eventually("opened") { recorder.openings.count == 1 }
      try await pty.scanner.send("690\r")
      try await eventually("answered") { recorder.answered == 1 }
    }
    #expect(pty.scanner.pending() == "")
  }

  @Test func `a device that is not there, goes away and comes back`() async throws {
    let recorder = Recorder()
    let gate = Gate()
    let scratch = try Scratch()
    let path = scratch.name("link")
    try await withInput(source(path, answers: true), recorder, environment: { $0.sleep = gate.sleep }) { _ in
      try await eventually("waiting") { gate.waits.count == 1 }
      #expect(recorder.closings == ["cannot open \(path): No such file or directory"])
      // It stays away: that is reported once.
      gate.open(2)
      try await eventually("waiting") { gate.waits.count == 3 }
      #expect(recorder.events.count == 1)
      var pty = try Pty()
      _ = unsafe symlink(pty.path, path)
      gate.open()
      try await eventually("opened") { recorder.openings.count == 1 }
      try await pty.scanner.send("690\nhalf")
      #expect(try await pty.scanner.line() == "1 690")
      // Unplugged in the middle of a line.
      pty.scanner.close()
      try await eventually("waiting") { gate.waits.count == 4 }
      #expect(recorder.closings.count == 2)
      _ = unsafe unlink(path)
      pty = try Pty()
      _ = unsafe symlink(pty.path, path)
      gate.open()
      try await eventually("opened") { recorder.openings == [path, path] }
      try await pty.scanner.send("691\n")
      #expect(try await pty.scanner.line() == "2 691")
    }
    #expect(recorder.codes == ["690", "691"])
    #expect(gate.waits.prefix(4) == [.seconds(1), .seconds(1), .seconds(1), .seconds(1)])
  }

  @Test func `what is no serial device, and a speed that is none, is reported, and tried again`() async throws {
    let scratch = try Scratch()
    _ = unsafe close(open(scratch.name("a"), O_CREAT | O_RDWR, 0o600))
    let pty = try Pty()
    let sources = [source(scratch.name("a")), source("/dev/null"), source(pty.path, baud: 12_345), source("a\0b")]
    for source in sources {
      let recorder = Recorder()
      let gate = Gate()
      try await withInput(source, recorder, environment: { $0.sleep = gate.sleep }) { input in
        try await eventually("waiting") { gate.waits.count == 1 }
        gate.open(3)
        try await eventually("waiting") { gate.waits.count == 4 }
        #expect(recorder.closings.count == 1 && recorder.openings.isEmpty)
        #expect(input.isRunning)
      }
    }
  }

  @Test func `a device is read by one input at a time, and by the next one when that ends`() async throws {
    let (first, second) = (Recorder(), Recorder())
    let gate = Gate()
    let pty = try Pty()
    try await withInput(source(pty.path), second, environment: { $0.sleep = gate.sleep }) { waiting in
      try await eventually("opened") { second.openings.count == 1 }
      try await withInput(source(pty.path, answers: true), first, environment: { $0.sleep = gate.sleep }) { _ in
        try await eventually("waiting") { gate.waits.count == 1 }
        #expect(first.closings == ["another process, or another input, reads \(pty.path) and has it locked"])
        try await waiting.shutDown()
        gate.open()
        try await eventually("opened") { first.openings == [pty.path] }
        try await pty.scanner.send("690\n")
        #expect(try await pty.scanner.line() == "1 690")
      }
    }
    #expect(first.codes == ["690"] && second.codes.isEmpty)
  }

  @Test func `a pause ends a line where it is asked to`() async throws {
    let recorder = Recorder()
    let pty = try Pty()
    var line = LineFormat()
    line.idleTimeout = .milliseconds(20)
    try await withInput(source(pty.path, answers: true), recorder, line: line) { _ in
      try await eventually("opened") { recorder.openings.count == 1 }
      try await pty.scanner.send("690")
      #expect(try await pty.scanner.line() == "1 690")
      try await pty.scanner.send("691\r\n")
      #expect(try await pty.scanner.line() == "2 691")
    }
  }

  @Test func `a pause between two codes is seen while an answer is awaited, and answers keep the order`() async throws {
    let recorder = Recorder()
    recorder.permit(0)
    let pty = try Pty()
    var line = LineFormat()
    line.ends = [.endOfText]
    line.idleTimeout = .milliseconds(20)
    try await withInput(
      source(pty.path, answers: true), recorder, line: line, environment: { $0.onPause = recorder.notePause }
    ) { _ in
      try await eventually("opened") { recorder.openings.count == 1 }
      for (number, code) in ["690", "691\u{3}692", "693\r"].enumerated() {
        try await pty.scanner.send(code)
        try await eventually("a pause") { recorder.pauses == number + 1 }
      }
      try await eventually("read") { recorder.codes.count == 1 }
      #expect(recorder.codes == ["690"])
      recorder.permit(.max)
      #expect(try await pty.scanner.lines(4) == ["1 690", "2 691", "3 692", "4 693\r"])
    }
  }

  @Test(arguments: [nil, Duration.milliseconds(20)])
  func `what was read ahead is answered at shutdown, and no more is read than may be`(
    pause: Duration?
  ) async throws {
    let recorder = Recorder()
    recorder.permit(0)
    let pty = try Pty()
    var line = LineFormat()
    line.idleTimeout = pause
    try await withInput(source(pty.path), recorder, line: line) { input in
      try await eventually("opened") { recorder.openings.count == 1 }
      for number in 0..<10 { try await pty.scanner.send("\(number)\n") }
      try await eventually("read") { recorder.codes == ["0"] }
      await input.group.triggerGracefulShutdown()
      recorder.permit(.max)
      try await input.end()
    }
    #expect(recorder.codes == (0..<recorder.answered).map(String.init) && recorder.answered >= 1)
  }

  @Test func `a device that takes no answers does not hold up readings for ever`() async throws {
    let recorder = Recorder(pad: 200_000)
    let pty = try Pty()
    try await withInput(
      source(pty.path, answers: true), recorder, environment: { $0.deviceTimeout = .milliseconds(200) }
    ) { _ in
      try await eventually("opened") { recorder.openings.count == 1 }
      try await pty.scanner.send("1\n2\n3\n")
      try await eventually("answered") { recorder.answered == 3 && recorder.faults.count == 1 }
      #expect(recorder.faults == [.unanswered("nobody takes it")])
    }
  }

  @Test func `settings are given back`() async throws {
    let recorder = Recorder()
    let pty = try Pty()
    let other = try Peer(unsafe open(pty.path, O_RDWR | O_NOCTTY))
    var (before, during, after) = (termios(), termios(), termios())
    _ = unsafe tcgetattr(other.number, &before)
    try await withInput(source(pty.path), recorder) { _ in
      try await eventually("opened") { recorder.openings.count == 1 }
      _ = unsafe tcgetattr(other.number, &during)
      #expect(during.c_lflag & tcflag_t(ICANON | ECHO | ISIG) == 0)
    }
    _ = unsafe tcgetattr(other.number, &after)
    #expect(after.c_lflag == before.c_lflag && after.c_iflag == before.c_iflag && after.c_cflag == before.c_cflag)
  }

  @Test func `at shutdown what was read is answered`() async throws {
    let recorder = Recorder()
    recorder.permit(0)
    let pty = try Pty()
    try await withInput(source(pty.path, answers: true), recorder) { input in
      try await eventually("opened") { recorder.openings.count == 1 }
      try await pty.scanner.send("1\n2\n")
      try await eventually("read") { recorder.codes == ["1"] }
      await input.group.triggerGracefulShutdown()
      recorder.permit(.max)
      try await input.end()
    }
    #expect(recorder.answered == 2)
  }
}
