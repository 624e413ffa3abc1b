import Essentials
import Synchronization
import UploadQueue

/// A periodic check of the causes of problems, so that each problem starts and ends with its cause and not with the
/// next request.
final class CauseWatch: Sendable {
  /// How long the refusal of a second daemon remains a problem.
  static let rivalTime: Duration = .seconds(60)
  /// How long a connection that was refused because of a limit remains a problem.
  static let refusalTime: Duration = .seconds(60)

  private let keys: KeyWatch
  private let health: CatalogueHealth
  private let inputs: InputTable
  private let sync: CatalogueSync
  private let lock: RootLock?
  private let uploads: UploadService
  private let clock: ClockWatch
  private let context: DaemonContext

  init(
    _ context: DaemonContext, keys: KeyWatch, health: CatalogueHealth, inputs: InputTable, sync: CatalogueSync,
    uploads: UploadService, lock: RootLock?
  ) {
    self.context = context
    self.uploads = uploads
    clock = ClockWatch(context.time)
    self.keys = keys
    self.health = health
    self.inputs = inputs
    self.sync = sync
    self.lock = lock
  }

  /// Checks all causes once.
  ///
  /// - Complexity: About ten system calls, and a count of the queue's uploads.
  func check() {
    keys.check()
    health.check()
    context.access.matching.check(try? context.access.stores())
    checkInputs()
    sync.reportProblems()
    checkClock()
    checkDocuments()
    context.problems.set(.rootReplaced, lock?.replacement())
    if let rival = lock?.rival() {
      context.problems.report(.secondDaemon, rival, endsAfter: Self.rivalTime)
    }
    context.problems.tick()
  }

  /// Compares the clock with the newest times in the stores, and reports uploads that wait for a time.
  private func checkClock() {
    var newest: [(what: String, time: Int64)] = []
    if let stores = try? context.access.stores() {
      if let commit = (try? context.access.catalogue(of: stores))?.store {
        newest.append(("the last commit of the catalogue", commit.time))
      }
      if let documents = (try? context.userDocuments.documents(of: stores, creates: false)) ?? nil,
        let time = (try? documents.store.snapshot())?.time
      {
        newest.append(("the last commit of the documents, with the uploads,", time))
      }
      if let success = context.access.lastSuccess(of: stores) {
        newest.append(("the last synchronisation", Date(timeIntervalSince1970: success).microseconds))
      }
    }
    context.problems.set(.clockSetBack, clock.check(newest: newest))
    let later = uploads.uploadsForLater().map { later in
      "\(later.count) upload\(later.count == 1 ? " waits" : "s wait") for a time in the future, until"
        + " \(later.until.precise) at the latest: it was asked for when they were added"
    }
    context.problems.set(.uploadsForLater, later)
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
      // The key is a problem of its own.
      context.problems.set(.documentsUnreadable, error.isAboutKeys ? nil : "\(error)")
    }
  }
}
