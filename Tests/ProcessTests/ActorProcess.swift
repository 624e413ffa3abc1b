import CProcessSupport
import Foundation

/// A running `store-actor`.
final class ActorProcess {
  /// `$SHELFMARK_STORE_ACTOR`, else the product that was built beside the tests.
  static let path: String = {
    if let path = ProcessInfo.processInfo.environment["SHELFMARK_STORE_ACTOR"], !path.isEmpty { return path }
    let runner = URL(fileURLWithPath: ProcessInfo.processInfo.arguments[0]).resolvingSymlinksInPath()
    return runner.deletingLastPathComponent().appendingPathComponent("store-actor").path
  }()

  let id: Int32
  private var input: Int32 = -1
  private var output: Int32 = -1
  private var unread: [UInt8] = []
  private var isOver = false

  init(_ scene: String, _ directory: String, _ number: Int = 0) throws {
    // The strings live until the call returns; the C side copies what it keeps.
    let words = [Self.path, scene, directory, "\(number)"]
    let arguments: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { unsafe arguments.forEach { unsafe free($0) } }
    id = unsafe process_spawn(Self.path, arguments, &input, &output)
    if id < 0 { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .ENOENT) }
  }

  deinit {
    closeInput()
    if !isOver {
      kill()
      _ = wait()
    }
    close(output)
  }

  /// The next line that it says; `nil` at the end.
  func line() -> String? {
    while true {
      if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: unread[..<end], as: UTF8.self)
        unread.removeFirst(end + 1)
        return line
      }
      var buffer = [UInt8](repeating: 0, count: 4096)
      // Into the local buffer.
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(output, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count <= 0 { return nil }
      unread += buffer[..<count]
    }
  }

  /// All lines up to the end. What was begun and not ended by a line feed is none.
  func lines() -> [String] {
    var lines: [String] = []
    while let line = line() { lines.append(line) }
    return lines
  }

  func closeInput() {
    if input >= 0 { close(input) }
    input = -1
  }

  func kill() { _ = Foundation.kill(id, SIGKILL) }

  /// Waits for the end: the exit code, or 128 and the number of the signal.
  func wait() -> Int32 {
    isOver = true
    return process_wait(id)
  }

  /// Plays a scene to its end.
  static func play(_ scene: String, _ directory: String, _ number: Int = 0) throws -> (code: Int32, lines: [String]) {
    let actor = try ActorProcess(scene, directory, number)
    actor.closeInput()
    let lines = actor.lines()
    return (actor.wait(), lines)
  }
}
