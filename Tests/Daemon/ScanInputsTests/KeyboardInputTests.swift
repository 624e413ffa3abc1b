import Glibc
import Testing
import WaitingTestSupport

@testable import ScanInputs

@Suite struct KeyboardInputTests {
  private func fifo(_ scratch: Scratch) throws -> String {
    let path = scratch.name("a")
    try #require(unsafe mkfifo(path, 0o600) == 0)
    return path
  }

  private func writer(_ path: String) throws -> Peer { try Peer(unsafe open(path, O_WRONLY | O_NONBLOCK)) }

  @Test func `events of a FIFO are read, whoever writes them`() async throws {
    let recorder = Recorder()
    let scratch = try Scratch()
    let path = try fifo(scratch)
    defer { withExtendedLifetime(scratch) {} }
    try await withInput(.keyboard(KeyboardOptions(path: path)), recorder) { _ in
      try await eventually("opened") { recorder.openings == [path] }
      let first = try writer(path)
      try await first.send(KeyTypist.typed("690\n69"))
      first.close()
      // Nobody writes now, and what was typed stays.
      let second = try writer(path)
      for byte in KeyTypist.typed("1\n") { try await second.send([byte]) }
      try await eventually("read") { recorder.codes == ["690", "691"] }
    }
    #expect(recorder.closings.isEmpty)
    #expect(recorder.answered == 2)
  }

  @Test func `half an event costs its line only`() async throws {
    let recorder = Recorder()
    let scratch = try Scratch()
    let path = try fifo(scratch)
    defer { withExtendedLifetime(scratch) {} }
    try await withInput(
      .keyboard(KeyboardOptions(path: path)), recorder, environment: { $0.eventTimeout = .milliseconds(50) }
    ) { _ in
      try await eventually("opened") { recorder.openings.count == 1 }
      let first = try writer(path)
      try await first.send(KeyTypist.typed("1") + Array(repeating: 7, count: 11))
      first.close()
      try await eventually("reported") { recorder.faults == [.eventsLost] }
      let second = try writer(path)
      try await second.send(KeyTypist.typed("2\n3\n"))
      try await eventually("read") { recorder.codes == ["3"] }
    }
  }

  @Test func `layout, limits and lost events`() async throws {
    let recorder = Recorder()
    let scratch = try Scratch()
    let path = try fifo(scratch)
    defer { withExtendedLifetime(scratch) {} }
    var options = KeyboardOptions(path: path)
    options.layout = .de
    var line = LineFormat()
    line.maximumByteCount = 5
    line.suffix = "#"
    try await withInput(.keyboard(options), recorder, line: line) { _ in
      try await eventually("opened") { recorder.openings.count == 1 }
      let writer = try writer(path)
      var typist = KeyTypist()
      typist.type("yz-\n123456\n7\\\n8")
      typist.dropEvents()
      typist.report()
      typist.type("9\n0\n")
      try await writer.send(typist.bytes)
      try await eventually("read") { recorder.codes.count == 4 }
      #expect(recorder.codes == ["zyß", "7", "8{dropped events}9", "0"])
      let keys = "dropped events; the system dropped events of the keyboard before they could be read"
      #expect(recorder.faults == [.tooLong(limit: 5), .lostKeys(keys)])
    }
  }

  @Test func `a line that lost a key is answered as one that could not be decoded, and counted`() async throws {
    let recorder = Recorder()
    let scratch = try Scratch()
    let path = try fifo(scratch)
    defer { withExtendedLifetime(scratch) {} }
    var options = KeyboardOptions(path: path)
    options.keys = try KeyAssignments(["F9": "RS"])
    try await withInput(.keyboard(options), recorder) { _ in
      try await eventually("opened") { recorder.openings.count == 1 }
      var typist = KeyTypist()
      typist.alt("0129")
      typist.type("A100")
      typist.tap(67, 66, 66)
      typist.type("1\n2\n")
      try await writer(path).send(typist.bytes)
      try await eventually("read") { recorder.codes.count == 2 }
    }
    #expect(recorder.codes == ["{Alt+0129}A100\u{1E}{F8}{F8}1", "2"])
    let readings = recorder.state.withLock { $0.readings }
    #expect(readings[0].undecodedBytes == [0xFF] + Array("A100\u{1E}".utf8) + [0xFF, 0xFF, 0x31])
    let keys =
      "Alt+0129, F8; inputs.test.keys says what such keys mean; inputs.test.encoding says how numbers with Alt are read"
    #expect(recorder.faults == [.lostKeys(keys)] && recorder.faults[0].name == "lostKeys")
    let flaw = "could not be decoded: a line has lost characters: " + keys
    #expect(readings[0].flaw == flaw && readings[1].flaw == nil)
    #expect(readings[1].undecodedBytes == nil)
  }

  @Test func `only numbers that an encoding may read are said to depend on it`() {
    for name in ["Alt+129", "Alt+0129", "Alt+9999999999…"] { #expect(AltCode.isName(name), "\(name)") }
    for name in ["Alt+1", "Alt+A", "Alt+65", "Alt++129", "Alt+102ND", "AltGr+1", "Alt+", "F8"] {
      #expect(!AltCode.isName(name), "\(name)")
    }
  }

  @Test func `lost keys are not named where they may be a password's`() async throws {
    var typist = KeyTypist()
    typist.type("WIFI:T:WPA;S:shop;P:se")
    typist.tap(66)
    typist.type("cret;;\n")
    var decoder = KeyboardDecoder(layout: .us)
    var lines: [LineFramer.Line] = []
    decoder.append(typist.bytes, to: &lines)
    guard case .keys(let line)? = lines.first else {
      Issue.record("\(lines)")
      return
    }
    #expect(!InputFault.lostKeys(of: line, input: "a").description.contains("F8"))
  }

  @Test func `a keyboard that comes later, and what is none`() async throws {
    let scratch = try Scratch()
    let path = scratch.name("a")
    let recorder = Recorder()
    let gate = Gate()
    try await withInput(
      .keyboard(KeyboardOptions(path: path)), recorder, environment: { $0.sleep = gate.sleep }
    ) { _ in
      try await eventually("waiting") { gate.waits.count == 1 }
      _ = unsafe close(open(path, O_CREAT | O_RDWR, 0o600))
      gate.open()
      try await eventually("waiting") { gate.waits.count == 2 }
      _ = unsafe unlink(path)
      // A device, but none of a keyboard: it cannot be grabbed.
      _ = unsafe symlink("/dev/null", path)
      gate.open()
      try await eventually("waiting") { gate.waits.count == 3 }
      _ = unsafe unlink(path)
      _ = try fifo(scratch)
      gate.open()
      try await eventually("opened") { recorder.openings == [path] }
      try await writer(path).send(KeyTypist.typed("690\n"))
      try await eventually("read") { recorder.codes == ["690"] }
    }
    #expect(
      recorder.closings == [
        "cannot open \(path): No such file or directory", "\(path) is neither an event device nor a FIFO",
        "\(path) is no event device: Inappropriate ioctl for device",
      ])
  }

  @Test func `a device that ends is opened again`() async throws {
    let recorder = Recorder()
    let gate = Gate()
    var options = KeyboardOptions(path: "/dev/null")
    options.grabs = false
    try await withInput(.keyboard(options), recorder, environment: { $0.sleep = gate.sleep }) { _ in
      gate.open(3)
      try await eventually("waiting") { gate.waits.count == 4 }
      #expect(recorder.openings.count == 4 && recorder.closings.allSatisfy { $0 == "the device hung up" })
    }
  }
}
