import CProcessSupport
import Foundation

/// A running actor: a program of the tests that plays a scene and can be killed.
package final class ActorProcess {
  /// The folder of the actors: `$SHELFMARK_ACTORS`, else the one that the tests are in.
  private static let folder: URL = {
    if let path = ProcessInfo.processInfo.environment["SHELFMARK_ACTORS"], !path.isEmpty {
      return URL(fileURLWithPath: path)
    }
    return URL(fileURLWithPath: ProcessInfo.processInfo.arguments[0]).resolvingSymlinksInPath()
      .deletingLastPathComponent()
  }()

  package let id: Int32
  private var input: Int32 = -1
  private var output: Int32 = -1
  private var unread: [UInt8] = []
  private var isOver = false

  /// - Parameter program: `store-actor` or `queue-actor`, which have the scenes.
  package init(_ scene: String, _ directory: String, _ number: Int = 0, of program: String = "store-actor") throws {
    let path = Self.folder.appendingPathComponent(program).path
    // The strings live until the call returns; the C side copies what it keeps.
    let words = [path, scene, directory, "\(number)"]
    let arguments: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { unsafe arguments.forEach { unsafe free($0) } }
    id = unsafe process_spawn(path, arguments, &input, &output)
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
  package func line() -> String? {
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
  package func lines() -> [String] {
    var lines: [String] = []
    while let line = line() { lines.append(line) }
    return lines
  }

  package func closeInput() {
    if input >= 0 { close(input) }
    input = -1
  }

  package func kill() { _ = Foundation.kill(id, SIGKILL) }

  /// Waits for the end: the exit code, or 128 and the number of the signal.
  package func wait() -> Int32 {
    isOver = true
    return process_wait(id)
  }

  /// Plays a scene to its end.
  package static func play(
    _ scene: String, _ directory: String, _ number: Int = 0, of program: String = "store-actor"
  ) throws -> (code: Int32, lines: [String]) {
    let actor = try ActorProcess(scene, directory, number, of: program)
    actor.closeInput()
    let lines = actor.lines()
    return (actor.wait(), lines)
  }
}
