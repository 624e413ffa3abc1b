import Foundation
import Testing

/// The daemon as a service runs it: as a user of its own, who may nothing in particular.
@Suite(.serialized) struct PrivilegeTests {
  @Test(.enabled(if: RunningDaemon.isWithinReach, "the program lies where nobody else may go"))
  func `all that takes no device works without privileges`() throws {
    let daemon = try RunningDaemon(
      configuration: """
        {"http": {"address": "127.0.0.1:0"}, "log": {"format": "json"},
         "inputs": {"names": ["stdin", "lines"], "stdin": {"kind": "stdin"}, "lines": {"kind": "tcp", "port": 0}}}
        """, isPrivileged: false)
    let http = try port(daemon.log.wait(for: "\"listening\""))
    let lines = try port(daemon.log.wait(for: "\"input\":\"lines\""))
    try daemon.say("one\n")
    _ = try daemon.output.wait(for: "\"code\":\"one\"")
    #expect(try answer(to: "two", at: lines).contains("\"code\":\"two\""))
    #expect(try answer(to: "GET /v1/scan/three HTTP/1.1\\r\\nHost: localhost\\r\\n\\r", at: http).contains(" 200 "))
    daemon.signal(SIGTERM)
    #expect(daemon.end() == 0)
  }

  /// The port of the address in a line of the log.
  private func port(_ line: String) throws -> Int {
    try #require(line.firstMatch(of: /127\.0\.0\.1:(\d+)/).flatMap { Int($0.output.1) }, "\(line)")
  }

  /// The first line that comes back for a line.
  private func answer(to line: String, at port: Int) throws -> String {
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = [
      "-c", "exec 3<>/dev/tcp/127.0.0.1/\(port); printf '\(line)\\n' >&3; read -r -t 20 line <&3; echo \"$line\"",
    ]
    process.standardOutput = output
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: text, as: UTF8.self)
  }
}
