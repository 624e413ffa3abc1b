public import Catalog
package import CoreMetrics
import Documents
public import Logging
import Platform
public import ScanInputs
public import ServiceLifecycle
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

  let options: DaemonOptions
  let context: DaemonContext
  let inputs: InputTable
  let recorder: ScanRecorder
  let webhooks: Webhooks
  let uploads: UploadService
  let users: UserWatch
  let network: NetworkWatch
  let compaction: CompactionService
  let gauges: GaugeService
  let survey: QueueSurvey
  let forgetting: Forgetting
  let queueWatch: QueueWatch
  let health: CatalogueHealth
  let rematcher: Rematcher
  let causes: CauseWatch
  let keys: KeyWatch
  /// The lock of the root directory; `nil` if the directory is not writable, so that no process can record anything in
  /// it.
  let lock: RootLock?
  let rate = ScanRate()
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
    var targets = options.webhooks
    if let publication = options.sync?.publication, let url = publication.reportsURL {
      var target = PublicationReports.webhook(url, authorization: publication.reportsAuthorization)
      target.certificateAuthorityFile = options.sync?.transport.certificateAuthorityFile
      targets.append(target)
    }
    webhooks = try Webhooks(targets, environment.webhook)
    lock = try Self.lock(options.root, logger)
    if let warning = WorkspaceDirectory(root: options.root).placeWarning() { logger.warning("\(warning)") }
    context = try DaemonContext(options, environment: environment, logger: logger)
    workspace = context.access.workspace
    events = context.events
    inputs = InputTable(options, after: recent)
    recorder = ScanRecorder(context, maximumMisses: options.maximumMisses)
    sessions = SetSessions(
      context, recorder: recorder, maximumScans: options.maximumScansPerSession, maximumCount: options.maximumSessions)
    sync = try CatalogueSync(context, options: options.sync)
    survey = QueueSurvey(context)
    forgetting = Forgetting(context, options: options.forgetting)
    queueWatch = QueueWatch(context, webhooks: webhooks, survey: survey)
    uploads = UploadService(
      context, webhooks: webhooks, watch: queueWatch, survey: survey, maximumWorkers: options.maximumUploadWorkers,
      drainTimeout: options.drainTimeout,
      onReconnect: { [sync] in sync.reconnected() })
    keys = KeyWatch(context) { [sync, uploads] in
      sync.userChanged()
      uploads.wake()
    }
    users = UserWatch(context) { [sync, uploads, keys] in
      keys.userChanged()
      sync.userChanged()
      uploads.wake()
    }
    let hasServers = options.sync != nil || !options.webhooks.isEmpty
    network = NetworkWatch(context, isWanted: options.watchesNetwork && hasServers) { [sync, uploads] in
      sync.reconnected()
      await uploads.networkReturned()
    }
    rematcher = Rematcher(context, isOn: options.rematches, recorder: recorder, webhooks: webhooks) { [uploads] user in
      uploads.recorded(user)
    }
    health = CatalogueHealth(context) { [sync] in
      sync.replaceCatalogue()
    } onReadable: { [rematcher] in
      rematcher.wake()
    }
    causes = CauseWatch(
      context, keys: keys, health: health, inputs: inputs, sync: sync, uploads: uploads, lock: lock)
    compaction = CompactionService(context, options: options.compaction, rate: rate, turn: sync.turn)
    gauges = GaugeService(context, causes: causes, recorder: recorder, sessions: sessions)
    sync.afterSuccess { [weak health, weak rematcher, weak gauges] in
      // They refer back to the synchronisation.
      health?.check()
      rematcher?.wake()
      gauges?.wake()
    }
    if let published = sync.published, published.options.reportsURL != nil {
      let reports = PublicationReports(published, context) { [weak uploads] user in uploads?.recorded(user) }
      sync.afterAttempt { await reports.report($0) }
    }
    started = (environment.time.now(), environment.uptime())
  }

  /// The current problems.
  package var problems: Problems { context.problems }

  /// The factory of the metrics.
  package var metricsFactory: any MetricsFactory { context.environment.metrics }

  /// The codes that the inputs have read recently, for a daemon that replaces this one.
  public var recentScans: RecentScans { inputs.recentScans(at: context.uptime()) }

  /// The services to run, in starting order; they end in the reverse order.
  public var services: [any Service] {
    [gauges, keys, compaction, forgetting, users, sync, queueWatch, uploads, network, rematcher]
  }

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
  public func catalogue() throws -> CatalogSnapshot { try context.access.withCatalogue { catalogue, _ in catalogue } }

  /// How scans of the signed-in user that come by HTTP are read and matched.
  ///
  /// - Throws: `WorkspaceError` if the user's settings cannot be read.
  package func matchingOptions() throws -> MatchingOptions {
    try context.access.matching.table(of: context.access.stores()).options(for: "http")
  }

  /// The root directory of the stores.
  package var root: String { options.root }

  /// The publication's files for neighbours; `nil` if they are not served.
  package var publicationMirror: PublicationMirror? {
    guard let published = sync.published, published.options.isMirror else { return nil }
    return PublicationMirror(published, turn: sync.turn, context)
  }

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
      try users.check()
    }
  }

  /// Signs out the signed-in user, if any. Durable when it returns; pending uploads are still sent.
  ///
  /// - Throws: The errors of ``signIn(_:)``.
  public func signOut() async throws {
    try await thread.run { [workspace, users] in
      try workspace.signOut()
      try users.check()
    }
  }

  /// Reads the key of sealed users again. If it cannot be read, or does not open the stores of the signed-in user, a
  /// former one that does goes on, and the problem is reported.
  public func renewKey() async {
    await keys.renew()
    health.check()
  }

  /// The root directory, with the key of sealed users.
  package var directory: WorkspaceDirectory { context.directory }

  // MARK: Uploads

  /// The signed-in user's queue, for reading it and for decisions; ``services`` send its uploads.
  ///
  /// - Throws: `WorkspaceError`, `StoreError`, `DocumentStoreError` if the documents cannot be opened.
  public func queue() throws -> UploadQueue { try documents().queue }

  /// The documents of the signed-in user. Creates the directory of the default documents if it is missing.
  private func documents() throws -> UserDocuments {
    let stores = try context.access.stores()
    guard let documents = try context.userDocuments.documents(of: stores, creates: true) else {
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
    let stores = try context.access.stores()
    guard let documents = try context.userDocuments.documents(of: stores, creates: false) else { return [] }
    return try documents.misses.query().order(by: \.last, descending: true).limit(max(0, limit)).fetch()
  }

  /// Removes all current entries from the signed-in user's journal. Durable when it returns.
  ///
  /// - Returns: The number of removed entries.
  /// - Throws: The errors of a commit.
  public func clearMisses() async throws -> Int {
    await recorder.flush()
    return try await recorder.perform(for: context.access.stores()) { transaction, documents in
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
    let catalogue: CatalogSnapshot
    do { catalogue = try self.catalogue() } catch {
      return error.isAboutKeys ? "no key opens the catalogue" : "the catalogue cannot be read"
    }
    return catalogue.sequence > 0 ? nil : "there is no catalogue"
  }
}
