import Platform
import Synchronization

/// The changes that the command has made durable so far.
///
/// If a report of a change cannot be written, the change has still succeeded, and the message must say so: a caller
/// that repeats the command would make the change twice.
enum DurableChange {
  private static let words = Mutex<String?>(nil)

  /// Records a change after it is durable, and before anything about it is written to standard output.
  ///
  /// - Parameters:
  ///   - what: The change, as a clause without a full stop, for example `commit 7 is durable`.
  ///   - advice: What to do if its report cannot be written.
  static func report(_ what: String, advice: String = "do not repeat the command") {
    words.withLock { $0 = "\(what), and only the report of it could not be written: \(advice)" }
    // A closed pipe is reported as a write error; a signal would end the process without a message.
    signal(SIGPIPE, SIG_IGN)
  }

  /// Records a commit of a command that processes several files.
  ///
  /// - Parameter filesAfter: The number of following files, which are not processed if the report cannot be written.
  static func report(commit sequence: UInt64, filesAfter: Int) {
    let commit = "commit \(sequence) is durable"
    switch filesAfter {
    case 0: report(commit)
    case 1: report(commit, advice: "repeat the command for the 1 file after it alone")
    default: report(commit, advice: "repeat the command for the \(filesAfter) files after it alone")
    }
  }

  /// The text about the changes for an error message; `nil` if nothing was changed.
  static var reported: String? { words.withLock { $0 } }
}
