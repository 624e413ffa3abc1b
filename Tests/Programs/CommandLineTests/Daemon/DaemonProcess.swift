import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A running `catalogd`.
final class DaemonProcess: @unchecked Sendable {  // the process and its pipes do not change
  /// `$SHELFMARK_CATALOGD`, else the product that was built beside the tests.
  static let path: String = {
    if let path = ProcessInfo.processInfo.environment["SHELFMARK_CATALOGD"], !path.isEmpty { return path }
    return URL(fileURLWithPath: Program.path).deletingLastPathComponent().appendingPathComponent("catalogd").path
  }()

  let process = Process()
  /// Its standard input and output. Used by one thread.
  let standard: TestSocket

  /// - Parameters:
  ///   - log: takes standard error, behind what is there.
  ///   - clock: the clock that it has; `nil` for the machine's.
  init(_ arguments: [String], root: String, log: URL, clock: SteppedClock? = nil) throws {
    let (input, output) = (Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: Self.path)
    process.arguments = arguments
    process.environment = DaemonProcess.environment(root: root).merging(clock?.environment ?? [:]) { $1 }
    if !FileManager.default.fileExists(atPath: log.path) { try Data().write(to: log) }
    let words = try FileHandle(forWritingTo: log)
    try words.seekToEnd()
    (process.standardInput, process.standardOutput, process.standardError) = (input, output, words)
    // The pipes close their ends with them.
    standard = TestSocket(
      reading: dup(output.fileHandleForReading.fileDescriptor), writing: dup(input.fileHandleForWriting.fileDescriptor))
    try process.run()
  }

  deinit { kill() }

  /// As for other programs: nothing of the tester's own settings.
  static func environment(root: String) -> [String: String] {
    var environment = ProcessInfo.processInfo.environment.filter {
      !$0.key.hasPrefix("CATALOG") && !$0.key.lowercased().hasSuffix("_proxy")
    }
    environment["CATALOG_ROOT"] = root
    environment["SWIFT_BACKTRACE"] = "enable=no"
    return environment
  }

  /// Ends it without a word, and waits for that.
  func kill() {
    if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
  }

  /// Asks it to end.
  ///
  /// - Returns: its exit code, or 128 and the signal's number.
  func end() -> Int32 {
    process.terminate()
    process.waitUntilExit()
    return (process.terminationReason == .exit ? 0 : 128) + process.terminationStatus
  }
}
