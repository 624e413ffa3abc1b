public import Catalog
package import CoreMetrics
import Documents
public import Logging
import Platform
public import ScanInputs
public import ServiceLifecycle
import StoreMetrics
public import UploadQueue
public import Workspace

/// A scan daemon without its inputs and its HTTP interface.
///
///     let daemon = try Daemon(options, logger: logger)
///     let inputs = inputOptions.map { ScanInput($0, handler: daemon, logger: logger) }
///     let group = ServiceGroup(services: daemon.services + inputs, logger: logger)
///     try await group.run()
///
/// A daemon answers scans as soon as it is initialised; uploads are sent while ``services`` run.
public final class Daemon: ReadingHandler, Sendable {
  /// The version in ``status()``.
  public static let version = "0.1.0"

  /// The stores of all users. Scans notice a sign-in by another process at once; the event follows within half a
  /// second.
  public let workspace: Workspace
  /// The latest events, for listeners.
  public let events: EventLog
  /// The set sessions.
  public let sessions: SetSessions
  /// The service that keeps the catalogue up to date.
  public let sync: CatalogueSync

  let access: CatalogueAccess
  let inputs: InputTable
  let recorder: ScanRecorder
  let webhooks: Webhooks
  let uploads: UploadService
  let users: UserWatch
  let network: NetworkWatch
  let compaction: CompactionService
  let gauges: GaugeService
  let queueWatch: QueueWatch
  let health: CatalogueHealth
  let rematcher: Rematcher
  let causes: CauseWatch
  /// The lock of the root directory; `nil` if the directory is not writable, so that no process can record anything in
  /// it.
  let lock: RootLock?
  /// The current problems.
  package let problems: Problems
  let metrics: DaemonMetrics
  let rate = ScanRate()
  let ids: ScanIDs
  let options: DaemonOptions
  let environment: DaemonEnvironment
  let logger: Logger
  /// The thread for queries that read the whole catalogue.
  package let queries = QueryThread()
  /// The thread for short commits, for example of a sign-in.
  let thread = BlockingThread("daemon.users")
  /// The start time, in microseconds since 1970, and the monotonic time at the start.
  let started: (time: Int64, uptime: Duration)

  /// Locks the root directory, opens the stores, and, if no user is signed in, signs in the configured user, which is a
  /// commit.
  ///
  /// - Parameters:
  ///   - options: The daemon's configuration.
  ///   - recent: The recent scans of the daemon that this one replaces, if any; see ``recentScans``.
  ///   - logger: The logger for the start and end of the daemon, and for each problem once.
  /// - Throws: ``DaemonError/rootInUse(path:holder:)`` if another process runs a daemon on this root directory;
  ///   `StorageError`, `WorkspaceError`, `StoreError`; `UploadHTTPError`, `TransportError` for invalid addresses and
  ///   headers.
  public convenience init(_ options: DaemonOptions, after recent: RecentScans = RecentScans(), logger: Logger) throws {
    try self.init(options, after: recent, logger: logger, environment: DaemonEnvironment())
  }

  init(
    _ options: DaemonOptions, after recent: RecentScans = RecentScans(), logger: Logger, environment: DaemonEnvironment
  ) throws {
    self.options = options
    self.environment = environment
    self.logger = logger
    webhooks = try Webhooks(options.webhooks, environment.webhook)
    lock = try Self.lock(options.root, logger)
    var workspaceOptions = Workspace.Options()
    workspaceOptions.pollInterval = .milliseconds(500)
    workspaceOptions.refreshInterval = .milliseconds(1)
    workspaceOptions.notify = { [logger] notice in logger.warning("\(notice)") }
    workspace = try Workspace.open(options.root, options: workspaceOptions)
    if let user = options.user {
      if let current = try workspace.current() {
        if current != user {
          logger.warning(
            "another user than that of the configuration is signed in, and stays: 'catalogctl login' signs in another one",
            metadata: ["user": "\(current)", "configured": "\(user)"])
        }
      } else {
        try workspace.signIn(user)
      }
    }
    problems = Problems(logger, environment.metrics, now: environment.time.now)
    metrics = DaemonMetrics(environment.metrics)
    access = CatalogueAccess(workspace, MatchingAccess(options, workspace, problems, environment.uptime))
    events = EventLog(capacity: options.eventCapacity)
    inputs = InputTable(options, after: recent)
    ids = ScanIDs(random: environment.time.random)
    var directory = WorkspaceDirectory(root: options.root)
    directory.lockTimeout = workspaceOptions.lockTimeout
    directory.notify = workspaceOptions.notify
    var queueOptions = environment.queue
    let parkings = WakeSignal()
    queueOptions.trace = { [problems, metrics] event in
      metrics.uploads(event)
      switch event {
      case .storeFailed(let reason): problems.note(.queueNotWritten, reason)
      case .committed: problems.clear(.queueNotWritten)
      case .parked, .requeued: parkings.wake()
      case .breakerClosed(let destination): problems.clear(.targetPaused, about: destination)
      default: break
      }
    }
    var tracer = metrics.documents
    if let name = options.documentTrace, let log = Tracer.named(name, logger: logger) { tracer = .both(tracer, log) }
    let table = UserDocumentsTable(directory, queueOptions, environment.time, tracer)
    recorder = ScanRecorder(table, access, problems, metrics, options, environment)
    sessions = SetSessions(access, recorder, events, ids, options, environment)
    let sync = try CatalogueSync(options, access, events, problems, metrics, environment, logger)
    self.sync = sync
    let queueWatch = QueueWatch(webhooks, table, access, metrics, problems, environment, parkings)
    self.queueWatch = queueWatch
    let uploads = UploadService(
      webhooks, table, access, options, metrics, problems, environment, logger, queueWatch,
      onReconnect: { sync.reconnected() })
    self.uploads = uploads
    users = UserWatch(access, events, problems, environment) {
      sync.userChanged()
      uploads.wake()
    }
    network = NetworkWatch(options, problems, metrics, environment, logger) {
      sync.reconnected()
      await uploads.networkReturned()
    }
    let rematcher = Rematcher(options, access, recorder, webhooks, ids, events, metrics, problems, environment) {
      uploads.recorded($0)
    }
    self.rematcher = rematcher
    let health = CatalogueHealth(access, problems) {
      sync.replaceCatalogue()
    } onReadable: {
      rematcher.wake()
    }
    self.health = health
    causes = CauseWatch(access, health, recorder, inputs, sync, problems, environment.queue, lock)
    compaction = CompactionService(
      options.compaction, access, table, rate, sync.turn, problems, environment, logger)
    let gauges = GaugeService(access, causes, recorder, sessions, events, metrics, environment)
    self.gauges = gauges
    sync.afterSuccess { [weak health, weak rematcher, weak gauges] in
      // They refer back to the synchronisation.
      health?.look()
      rematcher?.wake()
      gauges?.wake()
    }
    started = (environment.time.now(), environment.uptime())
  }

  /// The factory of the metrics.
  package var metricsFactory: any MetricsFactory { environment.metrics }

  /// The codes that the inputs have read recently, for a daemon that replaces this one.
  public var recentScans: RecentScans { inputs.recentScans(at: environment.uptime()) }

  /// The services to run, in starting order; they end in the reverse order.
  public var services: [any Service] { [gauges, compaction, users, sync, queueWatch, uploads, network, rematcher] }

  /// Locks the root directory; returns `nil` if it is not writable, so that no daemon records anything in it.
  private static func lock(_ root: String, _ logger: Logger) throws -> RootLock? {
    do { return try RootLock.take(root) } catch let error as StorageError
      where [.permission, .noSpace].contains(error.kind)
    {
      logger.warning("the root directory is not locked: a second daemon on it would not be noticed", error: error)
      return nil
    }
  }

  // MARK: The catalogue

  /// The current catalogue of the signed-in user, or the default catalogue if no user is signed in.
  ///
  /// - Throws: `StoreError`, `CatalogError`, `WorkspaceError` if it cannot be read.
  /// - Complexity: If nothing has changed, three system calls for each millisecond in which the catalogue is read.
  public func catalogue() throws -> CatalogSnapshot { try access.withCatalogue { catalogue, _ in catalogue } }

  /// How scans of the signed-in user that come by HTTP are read and matched.
  ///
  /// - Throws: `WorkspaceError` if the user's settings cannot be read.
  package func matchingOptions() throws -> MatchingOptions {
    try access.matching.table(of: access.stores()).options(for: "http")
  }

  /// The root directory of the stores.
  package var root: String { options.root }

  /// Whether the catalogue is kept from a server or another source.
  package var synchronises: Bool { options.sync != nil }

  /// The names of the webhooks, in the order of the configuration.
  package var webhookNames: [String] { webhooks.options.map(\.name) }

  // MARK: Users

  /// The signed-in user; `nil` if no user is signed in.
  ///
  /// - Throws: `WorkspaceError` if it cannot be read.
  public func user() throws -> String? { try workspace.current() }

  /// Signs in a user, replacing any other. Durable when it returns; later scans are the new user's.
  ///
  /// - Throws: `WorkspaceError`, also if another process holds the lock for too long.
  public func signIn(_ user: String) async throws {
    try await thread.run { [workspace, users] in
      try workspace.signIn(user)
      try users.look()
    }
  }

  /// Signs out the signed-in user, if any. Durable when it returns; pending uploads are still sent.
  ///
  /// - Throws: The errors of ``signIn(_:)``.
  public func signOut() async throws {
    try await thread.run { [workspace, users] in
      try workspace.signOut()
      try users.look()
    }
  }

  // MARK: Uploads

  /// The signed-in user's queue, for reading it and for decisions; ``services`` send its uploads.
  ///
  /// - Throws: `WorkspaceError`, `StoreError`, `DocumentStoreError` if the documents cannot be opened.
  public func queue() throws -> UploadQueue { try documents().queue }

  /// The documents of the signed-in user. Creates the directory of the default documents if it is missing.
  private func documents() throws -> UserDocuments {
    let stores = try access.stores()
    guard let documents = try recorder.table.documents(of: stores, creates: true) else {
      throw WorkspaceError.noSuchUser(stores.user ?? "")
    }
    return documents
  }

  // MARK: The miss journal

  /// The codes of the signed-in user that matched nothing, last missed first.
  ///
  /// - Throws: The errors of ``queue()``.
  /// - Complexity: Reads the entire journal, which has at most ``DaemonOptions/maximumMisses`` entries, or a few more.
  public func misses(limit: Int) throws -> [Miss] {
    guard let documents = try recorder.table.documents(of: access.stores(), creates: false) else { return [] }
    return try documents.misses.query().order(by: \.last, descending: true).limit(max(0, limit)).fetch()
  }

  /// Removes all current entries from the signed-in user's journal. Durable when it returns.
  ///
  /// - Returns: The number of removed entries.
  /// - Throws: The errors of a commit.
  public func clearMisses() async throws -> Int {
    await recorder.flush()
    return try await recorder.perform(for: access.stores()) { transaction, documents in
      try transaction.deleteAll(from: documents.misses)
    }
  }

  // MARK: State

  /// Whether scans can be answered: a catalogue exists, of the signed-in user or the default one, and is readable.
  ///
  /// - Complexity: That of ``catalogue()``.
  public var isReady: Bool { unreadiness == nil }

  /// The reason why scans cannot be answered; `nil` if they can.
  package var unreadiness: String? {
    guard let catalogue = try? catalogue() else { return "the catalogue cannot be read" }
    return catalogue.sequence > 0 ? nil : "there is no catalogue"
  }
}
