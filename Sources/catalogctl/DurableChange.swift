import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What the command has changed durably so far.
///
/// A report of it that cannot be written is no failure of the change, and the message has to say so: a caller that repeats
/// the command would make the change twice.
enum DurableChange {
  private static let words = Mutex<String?>(nil)

  /// Notes a change, once it is durable and before anything about it is written to standard output.
  ///
  /// - Parameters:
  ///   - what: The change as a sentence without its end, such as `commit 7 is durable`.
  ///   - advice: What to do where the report of it cannot be written.
  static func note(_ what: String, advice: String = "do not repeat the command") {
    words.withLock { $0 = "\(what), and only the report of it could not be written: \(advice)" }
    // A reader that has gone away is told as an error of the write; a signal would say nothing.
    signal(SIGPIPE, SIG_IGN)
  }

  /// Notes a commit of a command that takes one file after another.
  ///
  /// - Parameter filesAfter: Files that follow and are not taken if the report cannot be written.
  static func note(commit sequence: UInt64, filesAfter: Int) {
    let commit = "commit \(sequence) is durable"
    switch filesAfter {
    case 0: note(commit)
    case 1: note(commit, advice: "repeat the command for the 1 file after it alone")
    default: note(commit, advice: "repeat the command for the \(filesAfter) files after it alone")
    }
  }

  /// What a message about a report that cannot be written says; `nil` if nothing was changed.
  static var told: String? { words.withLock { $0 } }
}
