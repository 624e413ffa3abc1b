import Foundation
import Synchronization

/// The real daemon, as a service manager would run it.
final class RunningDaemon {
  /// `$SHELFMARK_CATALOGD`, else the product that was built beside the tests.
  static let program: String = {
    if let path = ProcessInfo.processInfo.environment["SHELFMARK_CATALOGD"], !path.isEmpty { return path }
    let runner = URL(fileURLWithPath: ProcessInfo.processInfo.arguments[0]).resolvingSymlinksInPath()
    return runner.deletingLastPathComponent().appendingPathComponent("catalogd").path
  }()

  /// What runs a program as somebody who may nothing in particular.
  private static let nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups"

  /// Whether that somebody reaches the daemon's program: a checkout may lie where only root may go.
  static let isWithinReach: Bool = {
    if getuid() != 0 { return true }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "cd / && \(nobody) test -x \"$0\"", program]
    process.standardError = FileHandle.nullDevice
    try? process.run()
    process.waitUntilExit()
    return process.terminationStatus == 0
  }()

  let process = Process()
  let folder: String
  let output: Lines
  let log: Lines
  private let input = Pipe()

  /// - Parameters:
  ///   - configuration: the text of the file, which ``configure(_:)`` changes.
  ///   - input: whether the standard input is a pipe, or nothing.
  ///   - limits: arguments of the shell's `ulimit`, each a call of its own.
  ///   - isPrivileged: whether it keeps what root may, if root runs it.
  init(
    _ arguments: [String] = [], configuration: String = "{}", environment: [String: String] = [:],
    hasInput: Bool = true, limits: [String] = [], isPrivileged: Bool = true
  ) throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("catalogd-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    output = Lines()
    log = Lines()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    var script = limits.map { "ulimit \($0) && " }.joined() + "exec "
    if !isPrivileged, getuid() == 0 {
      script += Self.nobody + " "
      try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder)
    }
    script += "\"$0\" \"$@\""
    process.arguments = ["-c", script, Self.program, "--config", folder + "/catalogd.json"] + arguments
    var variables = ProcessInfo.processInfo.environment.filter {
      !$0.key.hasPrefix("CATALOG") && $0.key != "NOTIFY_SOCKET" && !$0.key.lowercased().hasSuffix("_proxy")
    }
    variables["CATALOG_ROOT"] = folder + "/root"
    variables["SWIFT_BACKTRACE"] = "enable=no"
    process.environment = variables.merging(environment) { $1 }
    process.standardInput = hasInput ? input : FileHandle.nullDevice
    process.standardOutput = output.pipe
    process.standardError = log.pipe
    try configure(configuration)
    try process.run()
    output.begin()
    log.begin()
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    try? FileManager.default.removeItem(atPath: folder)
  }

  func configure(_ text: String) throws {
    try text.write(toFile: folder + "/catalogd.json", atomically: true, encoding: .utf8)
  }

  func say(_ text: String) throws { try input.fileHandleForWriting.write(contentsOf: Data(text.utf8)) }
  func hangUp() throws { try input.fileHandleForWriting.close() }
  func signal(_ number: Int32) { kill(process.processIdentifier, number) }

  /// The exit code, or 128 and the signal's number.
  func end() -> Int32 {
    process.waitUntilExit()
    return (process.terminationReason == .exit ? 0 : 128) + process.terminationStatus
  }

  /// How many descriptors it has open.
  var descriptorCount: Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.processIdentifier)/fd").count) ?? 0
  }
}

/// The lines of a pipe, read as they come.
final class Lines: Sendable {
  struct TimedOut: Error {
    let expected: String
    let lines: [String]
  }

  let pipe = Pipe()
  /// Guards the lines.
  private let state = Mutex<[String]>([])

  var all: [String] { state.withLock { $0 } }

  /// Closes this process' end for writing, so that the pipe ends with the other one.
  func begin() {
    try? pipe.fileHandleForWriting.close()
    let thread = Thread { [self] in
      var rest = Data()
      while case let piece = pipe.fileHandleForReading.availableData, !piece.isEmpty {
        rest += piece
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          let line = String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
          rest = Data(rest[(end + 1)...])
          state.withLock { $0.append(line) }
        }
      }
    }
    thread.start()
  }

  /// Waits for a line, behind the first `skipping` ones that would do.
  func wait(for text: String, skipping count: Int = 0) throws -> String {
    let deadline = ContinuousClock.now + .seconds(300)
    while ContinuousClock.now < deadline {
      let found = all.filter { $0.contains(text) }
      if found.count > count { return found[count] }
      Thread.sleep(forTimeInterval: 0.005)
    }
    throw TimedOut(expected: text, lines: all)
  }
}
