import Glibc
import Testing
import WaitingTestSupport

@testable import ScanInputs

@Suite struct StandardInputTests {
  /// What stands for the standard input and output: pipes, whose other ends the test has.
  private final class Console {
    let keyboard: Peer
    let screen: Peer
    let input: CInt
    let output: CInt

    init() throws {
      let (input, keyboard) = try Peer.rawPipe()
      let (screen, output) = try Peer.rawPipe()
      self.input = input
      self.output = output
      self.keyboard = try Peer(keyboard)
      self.screen = try Peer(screen)
    }

    func attach(_ environment: inout InputEnvironment) {
      environment.standardInput = input
      environment.standardOutput = output
      environment.standardInputRemainder = StandardInputRemainder()
    }

    deinit {
      close(input)
      close(output)
    }
  }

  @Test func `lines are answered in order, a last one without an end too, and then the input is closed`() async throws {
    let recorder = Recorder()
    let console = try Console()
    try await withInput(.standardInput, recorder, environment: console.attach) { input in
      try await console.keyboard.send("690\r\n691\n\nabc")
      #expect(try await console.screen.lines(2) == ["1 690", "2 691"])
      console.keyboard.close()
      #expect(try await console.screen.line() == "3 abc")
      try await eventually("closed") { recorder.events.count == 2 }
      let end = InputEvent.closed(reason: "end of input", reopens: false)
      #expect(recorder.events == [.opened("standard input"), end])
      #expect(input.isRunning)
    }
  }

  @Test func `a file is read to its end`() async throws {
    let scratch = try Scratch()
    let path = scratch.name("a")
    let file = try Peer(unsafe open(path, O_RDWR | O_CREAT, 0o600))
    try await file.send((1...1000).map { "code \($0)\n" }.joined())
    lseek(file.number, 0, SEEK_SET)
    let recorder = Recorder()
    let (screen, output) = try Peer.pipe()
    try await withInput(.standardInput, recorder) { environment in
      environment.standardInput = file.number
      environment.standardOutput = output.number
      environment.standardInputRemainder = StandardInputRemainder()
    } _: { _ in
      #expect(try await screen.lines(1000) == (1...1000).map { "\($0) code \($0)" })
      try await eventually("closed") { recorder.closings == ["end of input"] }
    }
  }

  @Test func `the null device is an input that has ended`() async throws {
    let null = try Peer(unsafe open("/dev/null", O_RDWR))
    let recorder = Recorder()
    try await withInput(.standardInput, recorder, environment: { $0.standardInput = null.number }) { input in
      try await eventually("closed") { recorder.closings == ["end of input"] }
      #expect(input.isRunning)
    }
  }

  @Test func `a descriptor that is none, and a directory, end the input and nothing else`() async throws {
    let directory = try Peer(unsafe open("/tmp", O_RDONLY))
    for number in [1_000_000, directory.number] {
      let recorder = Recorder()
      try await withInput(.standardInput, recorder, environment: { $0.standardInput = number }) { input in
        try await eventually("closed") { recorder.closings.count == 1 }
        #expect(recorder.closings[0].hasPrefix("cannot read: "))
        #expect(input.isRunning)
      }
    }
  }

  @Test func `faults are noted and the input goes on`() async throws {
    let recorder = Recorder()
    let console = try Console()
    var line = LineFormat()
    line.maximumByteCount = 8
    try await withInput(.standardInput, recorder, line: line, environment: console.attach) { _ in
      try await console.keyboard.send(Array("123456789\n".utf8) + [0xFF, 0x0A] + Array("690\n".utf8))
      #expect(try await console.screen.lines(2) == [#"1 \xFF"#, "2 690"])
      #expect(recorder.faults == [.tooLong(limit: 8), .notText(.utf8, shown: "\\xFF")])
    }
  }

  @Test func `a pause ends a line where it is asked to`() async throws {
    let recorder = Recorder()
    let console = try Console()
    var line = LineFormat()
    line.idleTimeout = .milliseconds(20)
    line.encoding = .latin1
    try await withInput(.standardInput, recorder, line: line, environment: console.attach) { _ in
      try await console.keyboard.send([0x36, 0xE9])
      #expect(try await console.screen.line() == "1 6é")
      try await console.keyboard.send("690\n691")
      #expect(try await console.screen.lines(2) == ["2 690", "3 691"])
    }
  }

  @Test func `a double scan says nothing`() async throws {
    let recorder = Recorder(repeats: { $0 == "again" })
    let console = try Console()
    try await withInput(.standardInput, recorder, environment: console.attach) { _ in
      try await console.keyboard.send("690\nagain\n691\n")
      #expect(try await console.screen.lines(2) == ["1 690", "3 691"])
    }
  }

  @Test func `an output that nobody reads any more is reported once, and readings go on`() async throws {
    let recorder = Recorder()
    let console = try Console()
    console.screen.close()
    try await withInput(.standardInput, recorder, environment: console.attach) { _ in
      try await console.keyboard.send("1\n2\n3\n")
      try await eventually("answered") { recorder.answered == 3 && recorder.events.count == 2 }
      #expect(recorder.faults.map(\.name) == ["unanswered"])
    }
  }

  @Test func `who does not read answers holds up his own input only`() async throws {
    let recorder = Recorder(pad: 1000)
    let other = Recorder()
    let (console, second) = (try Console(), try Console())
    try await withInput(.standardInput, recorder, environment: console.attach) { _ in
      let codes = (0..<1000).map { "\($0)" }
      try await console.keyboard.send(codes.joined(separator: "\n") + "\n")
      // The pipe of the output has 64 KiB.
      try await eventually("the pipe full") { recorder.answered >= 60 }
      try await withInput(.standardInput, other, environment: second.attach) { _ in
        try await second.keyboard.send("690\n")
        #expect(try await second.screen.line() == "1 690")
      }
      #expect(recorder.answered < 70)
      let answers = try await console.screen.lines(1000)
      #expect(answers.map { $0?.prefix { $0 != "." } } == codes.enumerated().map { "\($0 + 1) \($1)" })
    }
  }

  // MARK: The end

  @Test func `at shutdown what was read is answered`() async throws {
    let recorder = Recorder()
    recorder.permit(0)
    let console = try Console()
    try await withInput(.standardInput, recorder, environment: console.attach) { input in
      try await console.keyboard.send("1\n2\n3\nhalf")
      try await eventually("read") { recorder.codes == ["1"] }
      await input.group.triggerGracefulShutdown()
      recorder.permit(.max)
      try await input.end()
      #expect(try await console.screen.lines(3) == ["1 1", "2 2", "3 3"])
      #expect(recorder.codes == ["1", "2", "3"])
    }
  }

  @Test func `a line that a shutdown cut is whole for the next input, and a refused one stays refused`() async throws {
    let recorder = Recorder()
    let console = try Console()
    let remainder = StandardInputRemainder()
    var line = LineFormat()
    line.maximumByteCount = 8
    func attach(_ environment: inout InputEnvironment) {
      console.attach(&environment)
      environment.standardInputRemainder = remainder
    }
    try await withInput(.standardInput, recorder, line: line, environment: attach) { _ in
      try await console.keyboard.send("1\n690")
      try await eventually("read") { recorder.codes == ["1"] }
    }
    try await withInput(.standardInput, recorder, line: line, environment: attach) { _ in
      try await console.keyboard.send("123\n12345678too")
      try await eventually("refused") { recorder.faults == [.tooLong(limit: 8)] }
    }
    // A shorter line than the one that has begun is not cut in two.
    line.maximumByteCount = 2
    try await withInput(.standardInput, recorder, line: line, environment: attach) { _ in
      try await console.keyboard.send("long\n2\n1")
      try await eventually("read") { recorder.codes == ["1", "690123", "2"] }
    }
    #expect(recorder.faults == [.tooLong(limit: 8)])
    // Another standard input, such as that of another test, knows nothing of it.
    let other = try Console()
    try await withInput(.standardInput, recorder, environment: other.attach) { _ in
      try await other.keyboard.send("3\n")
      try await eventually("read") { recorder.codes.last == "3" }
    }
  }

  @Test func `at shutdown an output that takes nothing is waited for a moment only`() async throws {
    let recorder = Recorder(pad: 100_000)
    let console = try Console()
    try await withInput(.standardInput, recorder, environment: console.attach) { input in
      try await console.keyboard.send("1\n")
      try await eventually("answered") { recorder.answered == 1 }
      try await input.shutDown()
      #expect(recorder.faults.map(\.name) == ["unanswered"])
    }
  }

  @Test func `cancellation ends at once`() async throws {
    let recorder = Recorder(pad: 100_000)
    let console = try Console()
    try await withInput(.standardInput, recorder, environment: console.attach) { input in
      try await console.keyboard.send("1\n2\n")
      try await eventually("answered") { recorder.answered == 1 }
      try await input.cancel()
      #expect(recorder.codes == ["1"])
    }
  }

  @Test func `shutdown and cancellation end an input whose source has ended`() async throws {
    for isCancelled in [false, true] {
      let recorder = Recorder()
      let console = try Console()
      console.keyboard.close()
      try await withInput(.standardInput, recorder, environment: console.attach) { input in
        try await eventually("closed") { recorder.closings.count == 1 }
        if isCancelled { try await input.cancel() } else { try await input.shutDown() }
      }
    }
  }
}
