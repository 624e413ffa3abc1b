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

  @Test(
    .enabled(if: getuid() == 0, "only root leaves files of root's behind"),
    .enabled(if: RunningDaemon.isWithinReach, "the program lies where nobody else may go"))
  func `stores that became root's are used again as soon as their owner has them back`() throws {
    let daemon = try RunningDaemon(
      configuration: """
        {"user": "ana", "http": {"address": "127.0.0.1:0"}, "log": {"format": "json"},
         "webhooks": {"names": ["shop"], "shop": {"url": "http://127.0.0.1:9/"}},
         "inputs": {"names": ["stdin"], "stdin": {"kind": "stdin"}}}
        """, isPrivileged: false)
    let stores = daemon.folder + "/root/users/ana"
    func give(to user: UInt32) throws {
      for name in try FileManager.default.contentsOfDirectory(atPath: stores).map({ "/" + $0 }) + [""] {
        // A C string for the call.
        try #require(unsafe chown(stores + name, user, user) == 0)
      }
    }
    try daemon.say("one\n")
    _ = try daemon.output.wait(for: "\"recorded\":true")
    try give(to: 0)
    try daemon.say("two\n")
    let refused = try daemon.output.wait(for: "\"recorded\":false")
    #expect(refused.contains("chown -R ") && refused.contains(daemon.folder + "/root/users/ana"), "\(refused)")
    try give(to: 65_534)
    try daemon.say("three\n")
    _ = try daemon.output.wait(for: "\"recorded\":true", skipping: 1)
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
