import Documents
import Essentials
import Logging
import Platform
import ServiceLifecycle
import Synchronization
import UploadQueue
import Workspace

/// How long the daemon keeps what may tell of a person. Nothing is forgotten by default.
public struct ForgettingOptions: Sendable, Equatable {
  /// The age at which uploads are given up, whether they wait or are parked; `nil` for none.
  public var uploads: Duration?
  /// The age, since it was last missed, at which a code leaves the journal of misses; `nil` for none.
  public var misses: Duration?
  /// The age, since it was closed, at which a set session is removed; `nil` for none.
  public var sessions: Duration?

  /// Creates the default options: everything is kept.
  public init() {}

  /// Whether anything is to be forgotten.
  var isOn: Bool { self != ForgettingOptions() }
}

/// A service that forgets what is older than ``ForgettingOptions`` say, of all users, and compacts the files, so that
/// they no longer have the bytes.
///
/// Age is a matter of the wall clock, and a clock that is years ahead makes everything old. So nothing is forgotten in
/// the first hour, nor in an hour in which the clock was set.
final class Forgetting: Service {
  /// The interval between checks.
  static let interval: Duration = .seconds(3600)

  private let options: ForgettingOptions
  private let context: DaemonContext
  private let steadiness = Mutex(ClockSteadiness())
  private let wakes = WakeSignal()
  private let thread = BlockingThread("daemon.forgetting")

  init(_ context: DaemonContext, options: ForgettingOptions) {
    self.context = context
    self.options = options
  }

  func run() async throws {
    await wakes.untilShutdown {
      while !wakes.isFinished, !Task.isCancelled {
        if options.isOn { await check() }
        await wakes.wait(options.isOn ? Self.interval : nil, context.time.sleep)
      }
    }
  }

  /// Forgets what is too old, if the clock can be believed.
  func check() async {
    let now = context.time.now()
    switch steadiness.withLock({ $0.check(now: now, uptime: context.uptime()) }) {
    case .unknown: return
    case .set(let by):
      context.logger.notice(
        "nothing is forgotten now: the clock was set within the last hour", metadata: ["seconds": "\(by.seconds)"])
      return
    case .steady: break
    }
    do {
      let users = try await thread.run { [context] in try context.userDocuments.users() }
      var failure: (any Error)?
      for user in users where !wakes.isFinished && !Task.isCancelled {
        do { try await forget(of: user, now: now) } catch { failure = error }
      }
      if let failure { throw failure }
      context.problems.clear(.forgettingFailing)
    } catch {
      context.problems.report(.forgettingFailing, "\(error)")
    }
  }

  private func forget(of user: String?, now: Int64) async throws {
    func time(_ age: Duration?) -> Date? { age.map { Date(microseconds: now).addingTimeInterval(-$0.seconds) } }
    let uploadTime = time(options.uploads)
    let missTime = time(options.misses)?.timeIntervalSince1970
    let sessionTime = time(options.sessions)?.timeIntervalSince1970
    let opened = try await thread.run { [context] () -> UserDocuments? in
      guard let location = try context.userDocuments.location(ofUser: user),
        try location.directory.identity(of: location.name + ".log") != nil
      else { return nil }
      return try context.userDocuments.documents(ofUser: user)
    }
    guard let documents = opened else { return }
    var uploads = 0
    if let uploadTime, try documents.queue.forgettable(enqueuedBefore: uploadTime).count > 0 {
      uploads = try await documents.queue.forget(enqueuedBefore: uploadTime, expires: true).count
    }
    let gone = uploads
    let (misses, sessions) = try await thread.run {
      let records = ScanRecords(documents.store)
      var misses = 0
      if let missTime, try records.forgetMisses(before: missTime, isDryRun: true) > 0 {
        misses = try records.forgetMisses(before: missTime)
      }
      let sessions = try sessionTime.map { try records.forgetSessions(closedBefore: $0) } ?? []
      documents.index.withLock { index in for id in sessions { index.remove(id) } }
      if gone + misses + sessions.count > 0 { try documents.store.compact() }
      return (misses, sessions.count)
    }
    for (kind, count) in [("uploads", uploads), ("misses", misses), ("sessions", sessions)] where count > 0 {
      context.metrics.count("shelfmark_forgotten_total", [("kind", kind)], by: count)
      context.logger.notice(
        "forgot what was too old", metadata: ["user": "\(user ?? "")", "kind": "\(kind)", "count": "\(count)"])
    }
  }
}

/// Whether the wall clock has gone as far as the clock that only goes forward.
struct ClockSteadiness {
  enum Verdict: Equatable {
    /// There was no earlier check.
    case unknown
    case steady
    /// The wall clock was set by this much.
    case set(by: Duration)
  }

  /// How far the clocks may differ after an hour: a clock that is corrected slowly stays below.
  static let tolerance: Duration = .seconds(60)

  private var last: (now: Int64, uptime: Duration)?

  mutating func check(now: Int64, uptime: Duration) -> Verdict {
    defer { last = (now, uptime) }
    guard let last else { return .unknown }
    let (passed, overflows) = now.subtractingReportingOverflow(last.now)
    let difference = Duration.microseconds(overflows ? .max : passed) - (uptime - last.uptime)
    return difference > Self.tolerance || difference < .zero - Self.tolerance ? .set(by: difference) : .steady
  }
}
