import Synchronization
import UploadQueue

/// A periodic check of the causes of problems, so that each problem starts and ends with its cause and not with the
/// next request.
final class CauseWatch: Sendable {
  /// How long the refusal of a second daemon remains a problem.
  static let rivalTime: Duration = .seconds(60)
  /// How long a connection that was refused because of a limit remains a problem.
  static let refusalTime: Duration = .seconds(60)

  private let health: CatalogueHealth
  private let inputs: InputTable
  private let sync: CatalogueSync
  private let lock: RootLock?
  private let context: DaemonContext

  init(_ context: DaemonContext, health: CatalogueHealth, inputs: InputTable, sync: CatalogueSync, lock: RootLock?) {
    self.context = context
    self.health = health
    self.inputs = inputs
    self.sync = sync
    self.lock = lock
  }

  /// Checks all causes once.
  ///
  /// - Complexity: About ten system calls, and a count of the queue's uploads.
  func check() {
    health.check()
    context.access.matching.check(try? context.access.stores())
    checkInputs()
    sync.reportProblems()
    checkDocuments()
    context.problems.set(.rootReplaced, lock?.replacement())
    if let rival = lock?.rival() {
      context.problems.report(.secondDaemon, rival, endsAfter: Self.rivalTime)
    }
    context.problems.tick()
  }

  /// Checks which inputs are open.
  func checkInputs() {
    context.problems.set(.inputClosed, inputs.closed)
  }

  private func checkDocuments() {
    do {
      let documents = try context.userDocuments.documents(of: context.access.stores(), creates: false)
      guard let queue = documents?.queue else {
        context.problems.clear(.queuePaused)
        return context.problems.clear(.documentsUnreadable)
      }
      let counts = try queue.counts()
      context.problems.clear(.documentsUnreadable)
      let isPaused = try queue.pauses().contains(.manual)
      context.problems.set(
        .queuePaused, isPaused ? "somebody paused the queue; \(counts.waiting) uploads wait" : nil)
      let limits = context.environment.queue
      if context.problems.has(.uploadsRefused), counts.count < limits.maximumCount,
        counts.byteCount < limits.maximumByteCount
      {
        context.problems.clear(.uploadsRefused)
      }
    } catch {
      context.problems.set(.documentsUnreadable, "\(error)")
    }
  }
}
