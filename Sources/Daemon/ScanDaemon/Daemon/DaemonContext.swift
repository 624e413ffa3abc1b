import Documents
import Logging
import StoreMetrics
import UploadQueue
import Workspace

/// What all parts of a daemon share: the environment with its clock, the log, the metrics, the stores, the events and
/// the problems.
final class DaemonContext: Sendable {
  /// The clock, and how servers are reached.
  let environment: DaemonEnvironment
  let logger: Logger
  let metrics: DaemonMetrics
  /// The current problems.
  let problems: Problems
  /// The latest events, for listeners.
  let events: EventLog
  /// The stores of the signed-in user.
  let access: CatalogueAccess
  /// The root directory, with the key of sealed users.
  let directory: WorkspaceDirectory
  /// Why the key could not be read at the start, or did not open the stores of the signed-in user.
  let keyFailure: KeyError?
  /// The documents of all users.
  let userDocuments: UserDocumentsTable
  /// The generator of the ids of scans and sessions.
  let ids: ScanIDs
  /// The inputs whose readings may be several codes, each of which is answered.
  let splitInputs: Set<String>
  /// Raised when an upload is parked, or a parked one is retried.
  let parkings = WakeSignal()

  /// The clock, randomness and sleep.
  var time: QueueEnvironment { environment.time }

  /// A monotonic time.
  func uptime() -> Duration { environment.uptime() }

  /// Opens the stores, and, if no user is signed in, signs in the configured user, which is a commit.
  ///
  /// - Throws: `WorkspaceError`, `StoreError`.
  init(_ options: DaemonOptions, environment: DaemonEnvironment, logger: Logger) throws {
    self.environment = environment
    self.logger = logger
    splitInputs = options.splitInputs
    var workspaceOptions = Workspace.Options()
    workspaceOptions.pollInterval = .milliseconds(500)
    workspaceOptions.refreshInterval = .milliseconds(1)
    workspaceOptions.notify = { notice in logger.warning("\(notice)") }
    // Requests do not wait for a command: ``KeyWatch`` reads the key.
    let keyRing = KeyRing(options.key, isReadAhead: true)
    workspaceOptions.keyRing = keyRing
    workspaceOptions.sealsNewUsers = options.sealsNewUsers
    let workspace = try Workspace.open(options.root, options: workspaceOptions)
    var directory = WorkspaceDirectory(root: options.root)
    directory.lockTimeout = workspaceOptions.lockTimeout
    directory.notify = workspaceOptions.notify
    directory.keyRing = keyRing
    directory.sealsNewUsers = options.sealsNewUsers
    self.directory = directory
    var keyFailure: KeyError?
    // A user who is new may need it.
    do throws(KeyError) {
      try directory.renewKey(for: (try? workspace.current()).flatMap(\.self) ?? options.user)
    } catch { keyFailure = error }
    self.keyFailure = keyFailure
    if let user = options.user { try Self.signIn(user, workspace, logger) }
    problems = Problems(
      logger, environment.metrics, uptime: environment.time.uptime, now: environment.time.now)
    metrics = DaemonMetrics(environment.metrics)
    access = CatalogueAccess(
      workspace, MatchingAccess(options, workspace, problems, environment.uptime), environment.time)
    events = EventLog(capacity: options.eventCapacity)
    ids = ScanIDs(random: environment.time.random)
    var tracer = metrics.documents
    if let name = options.documentTrace, let log = Tracer.named(name, logger: logger) { tracer = .both(tracer, log) }
    var queueOptions = environment.queue
    queueOptions.trace = Self.trace(metrics, problems, parkings)
    userDocuments = UserDocumentsTable(
      directory, maximumCount: options.maximumOpenDocuments, queueOptions, environment.time, tracer)
  }

  private static func signIn(_ user: String, _ workspace: Workspace, _ logger: Logger) throws {
    guard let current = try workspace.current() else { return try workspace.signIn(user) }
    if current != user {
      logger.warning(
        "another user than that of the configuration is signed in, and stays: 'catalogctl login' signs in another one",
        metadata: ["user": "\(current)", "configured": "\(user)"])
    }
  }

  /// Counts and reports the events of users' queues.
  private static func trace(
    _ metrics: DaemonMetrics, _ problems: Problems, _ parkings: WakeSignal
  ) -> @Sendable (QueueEvent) -> Void {
    { event in
      metrics.uploads(event)
      switch event {
      case .storeFailed(let reason): problems.report(.queueNotWritten, reason)
      case .committed: problems.clear(.queueNotWritten)
      case .parked, .requeued: parkings.wake()
      case .breakerClosed(let destination): problems.clear(.targetPaused, about: destination)
      default: break
      }
    }
  }
}
