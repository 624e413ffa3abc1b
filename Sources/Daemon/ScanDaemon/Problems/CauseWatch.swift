import Synchronization
import UploadQueue

/// A periodic check of the causes of problems, so that each problem starts and ends with its cause and not with the
/// next request.
final class CauseWatch: Sendable {
  /// How long the refusal of a second daemon remains a problem.
  static let rivalTime: Duration = .seconds(60)
  /// How long a connection that was refused because of a limit remains a problem.
  static let refusalTime: Duration = .seconds(60)

  private let access: CatalogueAccess
  private let health: CatalogueHealth
  private let recorder: ScanRecorder
  private let inputs: InputTable
  private let sync: CatalogueSync
  private let problems: Problems
  private let queueOptions: QueueOptions
  private let lock: RootLock?

  init(
    _ access: CatalogueAccess, _ health: CatalogueHealth, _ recorder: ScanRecorder, _ inputs: InputTable,
    _ sync: CatalogueSync, _ problems: Problems, _ queueOptions: QueueOptions, _ lock: RootLock?
  ) {
    self.access = access
    self.health = health
    self.recorder = recorder
    self.inputs = inputs
    self.sync = sync
    self.problems = problems
    self.queueOptions = queueOptions
    self.lock = lock
  }

  /// Checks all causes once.
  ///
  /// - Complexity: About ten system calls, and a count of the queue's uploads.
  func look() {
    health.look()
    access.matching.look(at: try? access.stores())
    lookAtInputs()
    sync.lookForProblems()
    lookAtDocuments()
    problems.set(.rootReplaced, lock?.replacement())
    if let rival = lock?.rival() {
      problems.note(.secondDaemon, rival, endsAfter: Self.rivalTime)
    }
    problems.tick()
  }

  /// Checks which inputs are open.
  func lookAtInputs() {
    problems.set(.inputClosed, inputs.closed)
  }

  private func lookAtDocuments() {
    do {
      let documents = try recorder.table.documents(of: access.stores(), creates: false)
      guard let queue = documents?.queue else {
        problems.clear(.queuePaused)
        return problems.clear(.documentsUnreadable)
      }
      let counts = try queue.counts()
      problems.clear(.documentsUnreadable)
      let isPaused = try queue.pauses().contains(.manual)
      problems.set(
        .queuePaused, isPaused ? "somebody paused the queue; \(counts.waiting) uploads wait" : nil)
      if problems.has(.uploadsRefused), counts.count < queueOptions.maximumCount,
        counts.byteCount < queueOptions.maximumByteCount
      {
        problems.clear(.uploadsRefused)
      }
    } catch {
      problems.set(.documentsUnreadable, "\(error)")
    }
  }
}
