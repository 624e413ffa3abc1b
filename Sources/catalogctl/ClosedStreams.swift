import Storage
import Synchronization

/// Which of standard input and standard output were closed when the process began.
///
/// `/dev/null` stands in for them then, so that no store gets their numbers. To a command they are still closed: it cannot
/// read codes, and it cannot print what was asked for.
enum ClosedStreams {
  private static let input = Atomic(false)
  private static let output = Atomic(false)
  /// Whether the command prints no more than a report of what it changed.
  private static let isReportOptional = Atomic(false)

  /// Opens `/dev/null` for each standard stream that is closed. Call it before anything else.
  ///
  /// - Throws: `StorageError`.
  static func replace() throws {
    let closed = try StandardStreams.openMissing()
    input.store(closed.contains(0), ordering: .relaxed)
    output.store(closed.contains(1), ordering: .relaxed)
  }

  /// Says which command runs.
  static func prepare(for command: Any) { isReportOptional.store(command is any ChangingCommand, ordering: .relaxed) }

  static var isInputClosed: Bool { input.load(ordering: .relaxed) }

  /// What becomes of results where standard output is closed: they are an error, or for a changing command dropped.
  enum OutputState { case open, closed, dropped }

  static var outputState: OutputState {
    if !output.load(ordering: .relaxed) { return .open }
    return isReportOptional.load(ordering: .relaxed) ? .dropped : .closed
  }
}

/// A command whose work is the change that it makes. It does not fail because nobody reads its report.
protocol ChangingCommand {}

extension Login: ChangingCommand {}
extension Logout: ChangingCommand {}
extension UsersRemove: ChangingCommand {}
extension ConfigSet: ChangingCommand {}
extension ConfigUnset: ChangingCommand {}
extension Sync: ChangingCommand {}
extension Apply: ChangingCommand {}
extension Import: ChangingCommand {}
extension QueueAdd: ChangingCommand {}
extension QueueRun: ChangingCommand {}
extension QueuePause: ChangingCommand {}
extension QueueResume: ChangingCommand {}
extension QueueRetry: ChangingCommand {}
extension QueueDrop: ChangingCommand {}
extension QueueClear: ChangingCommand {}
extension PutDocuments: ChangingCommand {}
extension DeleteDocument: ChangingCommand {}
extension Rollback: ChangingCommand {}
extension Compact: ChangingCommand {}
extension CacheClear: ChangingCommand {}
