#if canImport(Glibc)
import Foundation
import Glibc
import Testing

/// What a reload does to the inputs of a daemon.
@Suite struct ReloadTests {
  /// A pty, from the side of the scanner.
  private final class Scanner {
    let path: String
    private let number: Int32
    /// Its other side, which stays open as a device does.
    private let device: Int32
    private var received: [UInt8] = []

    init() throws {
      var (number, device): (Int32, Int32) = (-1, -1)
      // The longest name of a pty is far shorter.
      var name = [CChar](repeating: 0, count: 256)
      try #require(unsafe openpty(&number, &device, &name, nil, nil) == 0)
      (self.number, self.device) = (number, device)
      path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      _ = fcntl(number, F_SETFL, O_NONBLOCK)
      // As it is found so it is left: nothing is echoed while nobody reads.
      var settings = termios()
      // The calls fill and read the local structure.
      unsafe tcgetattr(device, &settings)
      unsafe cfmakeraw(&settings)
      unsafe tcsetattr(device, TCSANOW, &settings)
      for number in [number, device] { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
    }

    deinit {
      close(number)
      close(device)
    }

    func send(_ text: String) throws {
      let bytes = Array(text.utf8)
      // As many bytes as there are.
      try #require(unsafe write(number, bytes, bytes.count) == bytes.count)
    }

    /// The code of the next answer.
    func answered() throws -> String {
      let deadline = ContinuousClock.now + .seconds(300)
      while ContinuousClock.now < deadline {
        if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
          let line = Data(received[..<end])
          received.removeSubrange(...end)
          let answer = try #require(try JSONSerialization.jsonObject(with: line) as? [String: Any])
          return try #require(answer["code"] as? String)
        }
        var buffer = [UInt8](repeating: 0, count: 4096)
        // The array has room for as many.
        let count = unsafe read(number, &buffer, buffer.count)
        if count > 0 { received += buffer[..<count] } else { Thread.sleep(forTimeInterval: 0.005) }
      }
      throw Lines.TimedOut(expected: "an answer", lines: [String(decoding: received, as: UTF8.self)])
    }
  }

  private func configuration(_ scanner: Scanner, events: Int, baud: Int) -> String {
    """
    {"http": {"address": "127.0.0.1:0"}, "log": {"format": "json"}, "doubleScanMilliseconds": 0, "events": {"capacity": \(events)},
     "inputs": {"names": ["gun"], "gun": {"kind": "serial", "device": "\(scanner.path)", "baud": \(baud), "answers": true}}}
    """
  }

  @Test func `half a code that a scanner sent before a reload is read on, and never cut`() throws {
    let scanner = try Scanner()
    let daemon = try RunningDaemon(configuration: configuration(scanner, events: 100, baud: 9600), hasInput: false)
    _ = try daemon.log.wait(for: "\"input opened\"")
    _ = try daemon.log.wait(for: "\"listening\"")
    try scanner.send("first\r400638")
    #expect(try scanner.answered() == "first")
    // Something that does not concern the device, and then something that does, twice.
    for (round, (events, baud)) in [(101, 9600), (101, 115_200), (102, 9600)].enumerated() {
      try daemon.configure(configuration(scanner, events: events, baud: baud))
      daemon.signal(SIGHUP)
      // Sent at any moment of the reload.
      try scanner.send("133")
      _ = try daemon.log.wait(for: "\"listening\"", skipping: round + 1)
      try scanner.send("3931\rnext\r400638")
      #expect(try scanner.answered() == "4006381333931")
      #expect(try scanner.answered() == "next")
    }
    daemon.signal(SIGTERM)
    #expect(daemon.end() == 0)
    #expect(!daemon.log.all.contains { $0.contains("\"input closed\"") })
  }
}
#endif
