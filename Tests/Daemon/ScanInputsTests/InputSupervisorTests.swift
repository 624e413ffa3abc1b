import Glibc
import Logging
import ServiceLifecycle
import Testing
import WaitingTestSupport

@testable import ScanInputs

@Suite struct InputSupervisorTests {
  /// One configuration, in the test's words: runs inputs on a rack until it is told to end.
  private struct Run: Service {
    let rack: InputSupervisor
    let inputs: [InputOptions]
    let recorder: Recorder
    let continues: Bool

    func run() async throws { try await rack.run(inputs, for: recorder) { continues } }
  }

  private static var logger: Logger {
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    return logger
  }

  private func rack(_ change: (inout InputEnvironment) -> Void = { _ in }) -> InputSupervisor {
    var environment = InputEnvironment()
    environment.standardInputRemainder = StandardInputRemainder()
    change(&environment)
    return InputSupervisor(logger: Self.logger, environment: environment)
  }

  /// Runs inputs while `body` does.
  ///
  /// - Returns: what they were answered by.
  @discardableResult private func run(
    _ rack: InputSupervisor, _ inputs: [InputOptions], continues: Bool, permitted: Int = .max,
    _ body: (Recorder) async throws -> Void
  ) async throws -> Recorder {
    let recorder = Recorder()
    recorder.permit(permitted)
    let service = Run(rack: rack, inputs: inputs, recorder: recorder, continues: continues)
    let group = ServiceGroup(configuration: .init(services: [.init(service: service)], logger: Self.logger))
    let task = Task { try await group.run() }
    do { try await body(recorder) } catch {
      task.cancel()
      try? await task.value
      await rack.end()
      throw error
    }
    await group.triggerGracefulShutdown()
    try await task.value
    return recorder
  }

  private func serial(
    _ pty: Pty, as name: String = "gun", baud: Int = 9600, change: (inout LineFormat) -> Void = { _ in }
  ) -> InputOptions {
    var serial = SerialOptions(path: pty.path)
    serial.baud = baud
    serial.answers = true
    var options = InputOptions(name: name, source: .serial(serial))
    change(&options.line)
    return options
  }

  @Test func `an input whose settings stay stays open, and half a line goes on`() async throws {
    let pty = try Pty()
    let rack = rack()
    let first = try await run(rack, [serial(pty)], continues: true) { recorder in
      try await eventually("opened") { recorder.openings == [pty.path] }
      try await pty.scanner.send("1\n69")
      #expect(try await pty.scanner.line() == "1 1")
    }
    // Between two runs: what is read waits.
    try await pty.scanner.send("01\n2")
    let second = try await run(rack, [serial(pty)], continues: false) { recorder in
      #expect(try await pty.scanner.line() == "1 6901")
      try await pty.scanner.send("3\n")
      #expect(try await pty.scanner.line() == "2 23")
    }
    #expect(first.codes == ["1"] && first.closings.isEmpty)
    // Who comes later is told that it is open.
    #expect(second.codes == ["6901", "23"] && second.openings == [pty.path])
    // It is closed: another one may have the device.
    let last = open(pty)
    #expect(last >= 0)
    close(last)
    await rack.end()
  }

  /// As anybody else would, whom a device that is claimed refuses, unless he may do everything.
  private func open(_ pty: Pty) -> CInt { unsafe Glibc.open(pty.path, O_RDWR | O_NOCTTY | O_NONBLOCK) }

  @Test func `a serial device whose settings change is read on where it was`() async throws {
    let pty = try Pty()
    let other = try Peer(open(pty))
    var before = termios()
    _ = unsafe tcgetattr(other.number, &before)
    let rack = rack()
    try await run(rack, [serial(pty)], continues: true) { recorder in
      try await eventually("opened") { recorder.openings.count == 1 }
      try await pty.scanner.send("1\n<69")
      #expect(try await pty.scanner.line() == "1 1")
    }
    try await pty.scanner.send("0\u{3}")
    // Another name as well: it is the device that goes on.
    let changed = serial(pty, as: "other", baud: 115_200) { $0.prefix = "<" }
    let second = try await run(rack, [changed], continues: true) { recorder in
      try await eventually("opened") { recorder.openings == [pty.path] }
      var during = termios()
      _ = unsafe tcgetattr(other.number, &during)
      #expect(during.c_lflag & tcflag_t(ICANON | ECHO | ISIG) == 0)
      let speed = unsafe cfgetispeed(&during)
      #expect(speed == speed_t(B115200))
      try await pty.scanner.send("1\nhalf")
      #expect(try await pty.scanner.line() == "1 690\u{3}1")
    }
    #expect(second.codes == ["690\u{3}1"] && second.faults.isEmpty)
    // Where a speed is none, the device is let go, with the settings that it had.
    let wrong = serial(pty, as: "other", baud: 12_345)
    try await run(rack, [wrong], continues: false) { recorder in
      try await eventually("reported") { recorder.closings.count == 1 }
      var after = termios()
      _ = unsafe tcgetattr(other.number, &after)
      #expect(after.c_lflag == before.c_lflag && after.c_iflag == before.c_iflag)
    }
    await rack.end()
  }

  @Test(arguments: [false, true]) func `a keyboard is read on in the middle of a key, with Shift held`(
    isChanged: Bool
  ) async throws {
    let scratch = try Scratch()
    let path = scratch.name("a")
    defer { withExtendedLifetime(scratch) {} }
    try #require(unsafe mkfifo(path, 0o600) == 0)
    let rack = rack { $0.eventTimeout = .seconds(3600) }
    var keyboard = KeyboardOptions(path: path)
    var typist = KeyTypist()
    typist.type("1\n")
    let whole = typist.bytes.count
    typist.press(KeyCode.leftShift)
    typist.tap(KeyCode.upperLetters)
    // Shift is held, and of the next key half an event has come.
    let cut = typist.bytes.count + 11
    typist.tap(KeyCode.upperLetters)
    typist.release(KeyCode.leftShift)
    typist.type("a\n")
    let bytes = typist.bytes
    #expect(cut > whole)
    var writer: Peer?
    try await run(rack, [InputOptions(name: "keys", source: .keyboard(keyboard))], continues: true) { recorder in
      try await eventually("opened") { recorder.openings.count == 1 }
      writer = try Peer(unsafe Glibc.open(path, O_WRONLY | O_NONBLOCK))
      try await writer?.send(Array(bytes[..<cut]))
      try await eventually("read") { recorder.codes == ["1"] }
    }
    // Keys lie elsewhere for who reads on: Q is A.
    if isChanged { keyboard.layout = .fr }
    try await run(rack, [InputOptions(name: "keys", source: .keyboard(keyboard))], continues: false) { recorder in
      try await eventually("opened") { recorder.openings == [path] }
      try await writer?.send(Array(bytes[cut...]))
      try await eventually("read") { recorder.codes.count == 1 }
      #expect(recorder.codes == [isChanged ? "QAq" : "QQa"])
      #expect(recorder.faults.isEmpty)
    }
    await rack.end()
  }

  @Test func `clients stay connected, and their readings wait for the next handler`() async throws {
    let rack = rack()
    let inputs = [InputOptions(name: "line", source: .tcp(host: "127.0.0.1", port: 0))]
    var client: Peer?
    let first = try await run(rack, inputs, continues: true) { recorder in
      try await eventually("opened") { recorder.openings.count == 1 }
      client = try Client.tcp(recorder.openings[0])
      try await client?.send("1\n2")
      let line = try await client?.line()
      #expect(line == "1 1")
    }
    try await client?.send("3\n4\n")
    let second = try await run(rack, inputs, continues: false) { _ in
      let lines = try await client?.lines(2)
      #expect(lines == ["1 23", "2 4"])
    }
    #expect(first.codes == ["1"] && second.openings == first.openings)
    let end = try #require(client).pending()
    #expect(end == "")
    await rack.end()
  }

  @Test func `inputs that are no longer wanted end, and new ones begin`() async throws {
    let (gone, kept, new) = (try Pty(), try Pty(), try Pty())
    let rack = rack()
    try await run(rack, [serial(gone, as: "a"), serial(kept, as: "b")], continues: true) { recorder in
      try await eventually("opened") { recorder.openings.count == 2 }
    }
    try await run(rack, [serial(kept, as: "b"), serial(new, as: "c")], continues: false) { recorder in
      try await eventually("opened") { recorder.openings.count == 2 }
      #expect(Set(recorder.openings) == [kept.path, new.path])
      try await new.scanner.send("1\n")
      #expect(try await new.scanner.line() == "1 1")
      try await kept.scanner.send("2\n")
      #expect(try await kept.scanner.line() == "2 2")
      try await gone.scanner.send("3\n")
    }
    #expect(!gone.scanner.pending().contains(" 3"))
    await rack.end()
  }

  @Test func `what is being answered at the end of a run is answered by it`() async throws {
    let pty = try Pty()
    let rack = rack()
    let recorder = Recorder()
    recorder.permit(0)
    let service = Run(rack: rack, inputs: [serial(pty)], recorder: recorder, continues: true)
    let group = ServiceGroup(configuration: .init(services: [.init(service: service)], logger: Self.logger))
    async let answered = {
      try await group.run()
      return recorder.answered
    }()
    try await eventually("opened") { recorder.openings.count == 1 }
    try await pty.scanner.send("1\n2\n")
    try await eventually("read") { recorder.codes == ["1"] }
    await group.triggerGracefulShutdown()
    try await eventually("over") { !rack.handlerSwitch.isConnected }
    recorder.permit(.max)
    #expect(try await answered == 1)
    #expect(try await pty.scanner.line() == "1 1")
    // The second one waits for somebody, and nobody comes.
    #expect(recorder.codes == ["1"] && pty.scanner.pending() == "")
    await rack.end()
    // What a device has not taken of an answer when it is closed is dropped.
    #expect(recorder.codes == ["1", "2"] && recorder.answered == 2 && rack.isIdle)
  }

  @Test func `the end of the standard input is told to who comes later`() async throws {
    let (input, keyboard) = try Peer.rawPipe()
    let (screen, output) = try Peer.rawPipe()
    defer { for number in [input, output, screen] { close(number) } }
    let rack = rack {
      $0.standardInput = input
      $0.standardOutput = output
    }
    let inputs = [InputOptions(name: "pipe", source: .standardInput)]
    try await run(rack, inputs, continues: true) { recorder in
      try await eventually("opened") { recorder.openings.count == 1 }
    }
    close(keyboard)
    try await run(rack, inputs, continues: true) { recorder in
      try await eventually("closed") { recorder.closings == ["end of input"] }
    }
    try await run(rack, inputs, continues: false) { recorder in
      try await eventually("reported") { recorder.events == [.closed(reason: "end of input", reopens: false)] }
    }
    await rack.end()
  }

  @Test func `cancellation ends the inputs at once, unless there is another run`() async throws {
    let pty = try Pty()
    let rack = rack()
    for continues in [true, false] {
      let recorder = Recorder()
      let task = Task { [logger = Self.logger, inputs = [serial(pty)]] in
        let service = Run(rack: rack, inputs: inputs, recorder: recorder, continues: continues)
        try await ServiceGroup(configuration: .init(services: [.init(service: service)], logger: logger)).run()
      }
      try await eventually("opened") { recorder.openings.count == 1 }
      try await pty.scanner.send(continues ? "6" : "9\n")
      if !continues { #expect(try await pty.scanner.line() == "1 69") }
      task.cancel()
      _ = await task.result
    }
    #expect(rack.isIdle)
  }
}
