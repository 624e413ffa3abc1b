import Foundation
import Testing

/// How many files the daemon may have open.
@Suite(.serialized) struct DescriptorLimitTests {
  private static let base = #""http": {"address": "127.0.0.1:0"}, "log": {"format": "json"}"#

  /// The limit that the system has for a process.
  private func limit(of daemon: RunningDaemon) throws -> Int? {
    let text = try String(contentsOfFile: "/proc/\(daemon.process.processIdentifier)/limits", encoding: .utf8)
    let line = text.split(separator: "\n").first { $0.hasPrefix("Max open files") }
    return line?.split(separator: " ").dropFirst(3).first.flatMap { Int($0) }
  }

  @Test(arguments: [8, 12, 24, 71])
  func `with too few files nothing begins, and it says what to raise`(_ count: Int) throws {
    let daemon = try RunningDaemon(configuration: "{\(Self.base)}", limits: ["-n \(count)"])
    #expect(daemon.end() == 74)
    _ = try daemon.log.wait(for: "only \(count) files may be open at once")
    #expect(!FileManager.default.fileExists(atPath: daemon.folder + "/root"))
  }

  @Test func `a limit that it may raise it raises`() throws {
    let daemon = try RunningDaemon(configuration: "{\(Self.base)}", limits: ["-Sn 20", "-Hn 1000"])
    _ = try daemon.log.wait(for: "\"listening\"")
    #expect(try limit(of: daemon) == 1000)
    #expect(!daemon.log.all.contains { $0.contains("fewer connections") })
    daemon.signal(SIGTERM)
    #expect(daemon.end() == 0)
  }

  @Test func `at the lowest limit callers leave room for everything else`() throws {
    let daemon = try RunningDaemon(configuration: "{\(Self.base)}", limits: ["-n 72"])
    let line = try daemon.log.wait(for: "\"listening\"")
    _ = try daemon.log.wait(for: "fewer connections are let in than are allowed")
    let port = try #require(line.firstMatch(of: /127\.0\.0\.1:(\d+)/).flatMap { Int($0.output.1) })
    // Callers that stay.
    let callers = shell(
      """
      for i in {1..80}; do
        exec {caller}<>/dev/tcp/127.0.0.1/\(port) && printf 'GET /healthz HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n' >&$caller
      done
      read -r line
      """)
    try daemon.say("one\n")
    _ = try daemon.output.wait(for: "\"code\":\"one\"")
    #expect(daemon.descriptorCount <= 64)
    try callers.input.fileHandleForWriting.close()
    callers.process.waitUntilExit()
    try daemon.say("two\n")
    _ = try daemon.output.wait(for: "\"code\":\"two\"")
    let asked = shell(
      """
      exec 3<>/dev/tcp/127.0.0.1/\(port)
      printf 'GET /healthz HTTP/1.0\\r\\n\\r\\n' >&3
      read -r -t 20 line <&3 && [[ $line == *' 200 '* ]]
      """)
    asked.process.waitUntilExit()
    #expect(asked.process.terminationStatus == 0)
    daemon.signal(SIGTERM)
    #expect(daemon.end() == 0)
  }

  /// Runs a script of bash, whose redirections can be connections.
  private func shell(_ script: String) -> (process: Process, input: Pipe) {
    let (process, input) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = ["-c", script]
    process.standardInput = input
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try? process.run()
    return (process, input)
  }
}
