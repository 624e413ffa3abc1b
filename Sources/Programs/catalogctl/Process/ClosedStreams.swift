import Platform
import Synchronization

/// The standard streams (input and output) that were closed when the process started.
///
/// `/dev/null` is opened for them, so that no store gets their descriptors. Commands still treat them as closed: they
/// cannot read codes from them or print results to them.
enum ClosedStreams {
  private static let input = Atomic(false)
  private static let output = Atomic(false)
  /// Whether the command prints only a report of its changes.
  private static let isReportOptional = Atomic(false)

  /// Opens `/dev/null` for each closed standard stream. Call it before anything else.
  ///
  /// - Throws: `StorageError`.
  static func replace() throws {
    let closed = try StandardStreams.openMissing()
    input.store(closed.contains(0), ordering: .relaxed)
    output.store(closed.contains(1), ordering: .relaxed)
  }

  /// Sets the running command.
  ///
  /// If output is open, the kind of the command does not matter: the cast would search all conformances of the process.
  static func prepare(for command: Any) {
    guard output.load(ordering: .relaxed) else { return }
    isReportOptional.store(command is any ChangingCommand, ordering: .relaxed)
  }

  static var isInputClosed: Bool { input.load(ordering: .relaxed) }

  /// The state of standard output. If it is closed, results are an error, or, for a command that makes changes, are
  /// dropped.
  enum OutputState { case open, closed, dropped }

  static var outputState: OutputState {
    if !output.load(ordering: .relaxed) { return .open }
    return isReportOptional.load(ordering: .relaxed) ? .dropped : .closed
  }
}

/// A command whose purpose is the change it makes. It does not fail if its report cannot be printed.
protocol ChangingCommand {}

extension Login: ChangingCommand {}
extension Logout: ChangingCommand {}
extension UsersRemove: ChangingCommand {}
extension ConfigSet: ChangingCommand {}
extension ConfigUnset: ChangingCommand {}
extension FieldsSet: ChangingCommand {}
extension FieldsUnset: ChangingCommand {}
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
extension BackupCommand: ChangingCommand {}
extension RestoreCommand: ChangingCommand {}
extension PutDocuments: ChangingCommand {}
extension DeleteDocument: ChangingCommand {}
extension Rollback: ChangingCommand {}
extension Compact: ChangingCommand {}
extension CacheClear: ChangingCommand {}
extension Forget: ChangingCommand {}
extension Seal: ChangingCommand {}
extension Unseal: ChangingCommand {}
extension Rekey: ChangingCommand {}
extension KeysAdd: ChangingCommand {}
extension KeysRemove: ChangingCommand {}
