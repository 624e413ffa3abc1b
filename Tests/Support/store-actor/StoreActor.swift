import Foundation
import LogStore
import ProcessTestSupport
import StoreTestSupport

/// A process that tests start, limit and kill: a writer, a reader, or a scene in which the system refuses something.
///
/// It says what it did on standard output, a line each. A scene that went as it should ends with exit code 0.
@main
enum StoreActor {
  static func main() { playScene(play) }

  private static func play(_ scene: String, _ directory: String, _ number: Int) throws {
    let location = try StoreLocation.creating(directory, name: "s")
    switch scene {
    case "write": try write(location, until: number)
    case "documents": try writeDocuments(location)
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
    case "no inodes": try useUpInodes(directory)
    case "a file of root's": try leaveToRoot(location, directory, isDirectory: false)
    case "a directory of root's": try leaveToRoot(location, directory, isDirectory: true)
    case "a directory of stores that is root's": try leaveRootDirectory(directory, isReadable: true)
    case "a closed directory of stores": try leaveRootDirectory(directory, isReadable: false)
    case "a service's directory": try comeAsAnother(location, directory)
    case "read-only media": try readOnlyMedia(directory)
    case "read-only directory": try readOnlyDirectory(location, directory)
    default: throw SceneFailure("no scene \(scene)")
    }
  }

  /// The error that `body` throws.
  static func error(_ body: () throws -> Void) throws -> StoreError {
    do { try body() } catch let error as StoreError { return error }
    throw SceneFailure("no error")
  }
}
