public import Catalog
package import CoreMetrics
public import Logging
public import ScanInputs
public import ServiceLifecycle
import Storage
public import UploadQueue
public import Workspace

/// Everything that a daemon is, without its inputs and its HTTP interface.
///
///     let daemon = try Daemon(options, logger: logger)
///     let inputs = inputOptions.map { ScanInput($0, handler: daemon, logger: logger) }
///     let group = ServiceGroup(services: daemon.services + inputs, logger: logger)
///     try await group.run()
///
/// Scans are answered from the moment on at which it is made; their uploads go while ``services`` run.
public final class Daemon: ReadingHandler, Sendable {
  /// What ``status()`` says.
  public static let version = "0.1.0"

  /// The stores of all users. Scans see a sign-in by another process at once; it is told as an event within half a second.
  public let workspace: Workspace
  /// What happened lately, for those who listen.
  public let events: EventLog
  /// Sets that are being put together.
  public let sessions: SetSessions
  /// Keeps the catalogue current.
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
  /// `nil` where the root directory cannot be written, so that nobody records anything there.
  let lock: RootLock?
  /// What does not work now.
  package let problems: Problems
  let metrics: DaemonMetrics
  let rate = ScanRate()
  let ids: ScanIDs
  let options: DaemonOptions
  let environment: DaemonEnvironment
  let logger: Logger
  /// For commits of few words, such as a sign-in.
  let thread = BlockingThread("daemon.users")
  /// Microseconds since 1970, and the time since then.
  let started: (time: Int64, uptime: Duration)

  /// Locks the root directory, opens the stores, and signs in who is to be, if nobody is, which is a commit.
  ///
  /// - Parameters:
  ///   - options: what it does; see ``DaemonOptions``.
  ///   - recent: of the daemon in whose place this one goes on, if there was one; see ``recentScans``.
  ///   - logger: gets what begins and ends, and each problem once.
  /// - Throws: ``DaemonError/rootInUse(path:holder:)`` where another process runs a daemon on this root directory;
  ///   `StorageError`, `WorkspaceError`, `StoreError`; `UploadHTTPError`, `TransportError` for invalid addresses and headers.
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
    workspaceOptions.lookInterval = .milliseconds(1)
    workspaceOptions.notify = { [logger] notice in logger.warning("\(notice)") }
    workspace = try Workspace.open(options.root, options: workspaceOptions)
    if let user = options.user, try workspace.current() == nil { try workspace.signIn(user) }
    problems = Problems(logger, environment.metrics, now: environment.time.now)
    metrics = DaemonMetrics(environment.metrics)
    access = CatalogueAccess(workspace)
    events = EventLog(capacity: options.eventCapacity)
    inputs = InputTable(options, after: recent)
    ids = ScanIDs(random: environment.time.random)
    var directory = WorkspaceDirectory(root: options.root)
    directory.waiting = workspaceOptions.waiting
    directory.notify = workspaceOptions.notify
    var queueOptions = environment.queue
    let parkings = WakeSignal()
    queueOptions.trace = { [problems, metrics] event in
      metrics.uploads(event)
      switch event {
      case .storeFailed(let reason): problems.note(.queueNotWritten, reason)
      case .committed: problems.clear(.queueNotWritten)
      case .parked, .takenBack: parkings.wake()
      case .breakerClosed(let destination): problems.clear(.targetPaused, about: destination)
      default: break
      }
    }
    let table = UserDocumentsTable(directory, queueOptions, environment.time, metrics.documents)
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
    sync.afterSuccess { [weak health, weak rematcher] in
      // Both lead back to the synchronisation.
      health?.look()
      rematcher?.wake()
    }
    causes = CauseWatch(access, health, recorder, inputs, sync, problems, environment.queue, lock)
    compaction = CompactionService(
      options.compaction, access, table, rate, sync.turn, problems, environment, logger)
    gauges = GaugeService(access, causes, recorder, sessions, events, metrics, environment)
    started = (environment.time.now(), environment.uptime())
  }

  /// Makes the metrics.
  package var metricsFactory: any MetricsFactory { environment.metrics }

  /// What its inputs read a moment ago, for a daemon that goes on in its place.
  public var recentScans: RecentScans { inputs.recentScans(at: environment.uptime()) }

  /// What runs, in the order in which it starts; ends in the reverse one.
  public var services: [any Service] { [gauges, compaction, users, sync, queueWatch, uploads, network, rematcher] }

  /// The lock of the root directory; `nil` where that may not be written, so that no daemon records anything there.
  private static func lock(_ root: String, _ logger: Logger) throws -> RootLock? {
    do { return try RootLock.take(root) } catch let error as StorageError
      where [.permission, .noSpace].contains(error.kind)
    {
      logger.warning("the root directory is not locked: a second daemon on it would not be noticed", error: error)
      return nil
    }
  }

  // MARK: The catalogue

  /// The catalogue of who is signed in, or of nobody, as it is now.
  ///
  /// - Throws: `StoreError`, `CatalogError`, `WorkspaceError` where it cannot be read.
  /// - Complexity: with nothing new, three system calls for each millisecond in which somebody asks.
  public func catalogue() throws -> CatalogSnapshot { try access.withCatalogue { catalogue, _ in catalogue } }

  // MARK: Users

  /// Who is signed in; `nil` for nobody.
  ///
  /// - Throws: `WorkspaceError` where that cannot be read.
  public func user() throws -> String? { try workspace.current() }

  /// Signs a user in, in place of another one. Durable when it returns; scans are the new user's from then on.
  ///
  /// - Throws: `WorkspaceError`, where another process holds the lock for long as well.
  public func signIn(_ user: String) async throws {
    try await thread.run { [workspace, users] in
      try workspace.signIn(user)
      try users.look()
    }
  }

  /// Signs out who is signed in, if somebody is. Durable when it returns; what waits to be sent still goes.
  ///
  /// - Throws: as ``signIn(_:)``.
  public func signOut() async throws {
    try await thread.run { [workspace, users] in
      try workspace.signOut()
      try users.look()
    }
  }

  // MARK: Uploads

  /// The queue of who is signed in, to look at and to decide; its uploads are sent by ``services``.
  ///
  /// - Throws: `WorkspaceError`, `StoreError`, `DocumentStoreError` where the documents cannot be opened.
  public func queue() throws -> UploadQueue { try documents().queue }

  /// The documents of who is signed in. Where there is no directory for those of nobody, it is made.
  private func documents() throws -> UserDocuments {
    let stores = try access.stores()
    guard let documents = try recorder.table.documents(of: stores, creates: true) else {
      throw WorkspaceError.noSuchUser(stores.user ?? "")
    }
    return documents
  }

  // MARK: The miss journal

  /// Codes that found nothing, the last missed first: those of who is signed in.
  ///
  /// - Throws: as ``queue()``.
  /// - Complexity: reads the whole journal, which has ``DaemonOptions/maximumMisses`` entries at most, or a few more.
  public func misses(limit: Int) throws -> [Miss] {
    guard let documents = try recorder.table.documents(of: access.stores(), creates: false) else { return [] }
    return try documents.misses.query().order(by: \.last, descending: true).limit(max(0, limit)).fetch()
  }

  /// Empties the journal of who is signed in, of what was missed until now. Durable when it returns.
  ///
  /// - Returns: how many there were.
  /// - Throws: what a commit throws.
  public func clearMisses() async throws -> Int {
    await recorder.flush()
    return try await recorder.perform(for: access.stores()) { transaction, documents in
      try transaction.deleteAll(from: documents.misses)
    }
  }

  // MARK: State

  /// Whether scans can be answered: there is a catalogue, of who is signed in or of nobody, and it can be read.
  ///
  /// - Complexity: as ``catalogue()``.
  public var isReady: Bool { unreadiness == nil }

  /// Why scans cannot be answered; `nil` where they can.
  package var unreadiness: String? {
    guard let catalogue = try? catalogue() else { return "the catalogue cannot be read" }
    return catalogue.sequence > 0 ? nil : "there is no catalogue"
  }
}
