import Foundation
import LogStore
import StoreTestSupport

/// A process that tests start, limit and kill: a writer, a reader, or a scene in which the system refuses something.
///
/// It says what it did on standard output, a line each. A scene that went as it should ends with exit code 0.
@main
enum StoreActor {
  static func main() {
    // Whoever started it may have gone.
    alarm(600)
    let arguments = Array(CommandLine.arguments.dropFirst())
    do {
      guard arguments.count >= 2 else { throw Failure("usage: store-actor SCENE DIRECTORY [NUMBER]") }
      try play(arguments[0], arguments[1], arguments.count > 2 ? Int(arguments[2]) ?? 0 : 0)
    } catch {
      say("failed: \(error)")
      exit(1)
    }
  }

  private static func play(_ scene: String, _ directory: String, _ number: Int) throws {
    let location = try StoreLocation.creating(directory, name: "s")
    switch scene {
    case "write": try write(location, until: number)
    case "documents": try writeDocuments(location)
    case "enqueue": try enqueue(location, number)
    case "send", "send all": try send(location, directory, number, untilEmpty: scene == "send all")
    case "read": try read(location, until: number)
    case "hold": try hold(location)
    case "fork": try fork(location)
    case "truncate": try truncate(directory, seed: UInt64(number))
    case "truncate while lent": try truncateWhileLent(directory)
    case "fault in threads": try faultInThreads(directory)
    case "bus error", "bus error, plain handler", "bus error, handler with info":
      try busError(scene, directory)
    case "file size": try limitFileSize(location, directory)
    case "open files": try limitOpenFiles(location)
    case "address space": try limitAddressSpace(location)
    case "full disk": try fillDisk(directory)
    case "read-only media": try readOnlyMedia(directory)
    case "read-only directory": try readOnlyDirectory(location, directory)
    default: throw Failure("no scene \(scene)")
    }
  }

  /// Prints a line at once.
  static func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    // A short line goes into a pipe whole.
    _ = unsafe bytes.withUnsafeBytes { unsafe Foundation.write(1, $0.baseAddress, $0.count) }
  }

  struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  static func expect(_ isTrue: Bool, _ what: @autoclosure () -> String) throws {
    if !isTrue { throw Failure(what()) }
  }

  /// The error that `body` throws.
  static func error(_ body: () throws -> Void) throws -> StoreError {
    do { try body() } catch let error as StoreError { return error }
    throw Failure("no error")
  }
}
