public import Catalog
public import Documents
import LogStore
public import RemoteLists
import Platform
import Storage
import Synchronization

/// The stores of one user on this device, or the default ones: a catalogue, documents, cached pages and settings.
///
/// Get it from a ``Workspace``. Stores are opened lazily. Any number of threads may use one instance. It is valid while
/// its user is signed in. After that, each call throws ``WorkspaceError/closed(user:)``, and calls on its settings,
/// documents and writers throw errors of their own, whichever process signed the user out. Existing snapshots stay
/// readable, and a running update or transaction is finished.
public final class UserStores: Sendable {
  /// The user's ID; `nil` for the default stores.
  public let user: String?
  /// The settings: small values by name.
  public let settings: Settings

  let access: StoreAccess
  let directory: WorkspaceDirectory
  private let options: Workspace.Options
  private let fields: FieldsAccess
  /// The observers of the catalogue.
  private let catalogueObservers = Observers(interval: .seconds(1))

  private struct State {
    /// The user's directory, if it existed. While it is open, no other directory can have its identity (inode).
    var home: PosixDirectory?
    var catalogue: CatalogReader?
    var documents: DocumentStore?
    var pages: PageStore?
    var isClosed = false
  }

  /// Guards the open stores. Held during a refresh, but not while documents are migrated.
  private let state: Mutex<State>

  init(
    _ user: String?, _ directory: WorkspaceDirectory, _ options: Workspace.Options, _ access: StoreAccess,
    home: PosixDirectory? = nil
  ) {
    self.user = user
    self.directory = directory
    self.options = options
    self.access = access
    state = Mutex(State(home: home))
    let settings = directory.settings(of: user, access, pollInterval: options.pollInterval)
    self.settings = settings
    fields = FieldsAccess(
      own: settings,
      common: user == nil ? settings : directory.settings(of: nil, access, pollInterval: options.pollInterval))
  }

  // MARK: The catalogue

  /// The catalogue at the last commit of any process; an empty one if none exists. Creates nothing.
  ///
  /// It is read with the declared fields of the setting `fields`; a change of the setting takes effect within a tenth of a
  /// second.
  ///
  /// - Throws: `WorkspaceError.closed`; `StoreError`, `CatalogError`.
  /// - Complexity: If nothing has changed, one system call for the catalogue and one for the signed-in user, or one of
  ///   each for each ``Workspace/Options/refreshInterval``.
  public func catalogue() throws -> CatalogSnapshot {
    try checkOpen()
    let (snapshot, isNewer) = try state.withLock { state in
      if state.isClosed { throw WorkspaceError.closed(user: user) }
      var isNewer = false
      do { isNewer = try state.catalogue?.refresh() ?? false } catch StoreError.replaced {
        // A damaged file was renamed and replaced, or a person restored an older one. Use the current file.
        state.catalogue = nil
      } catch StoreError.sealed {
        // It was sealed meanwhile. Why no key opens it is said when the location is determined.
        state.catalogue = nil
      }
      if state.catalogue == nil, let location = try directory.store("catalogue", of: user) {
        state.catalogue = try CatalogReader.open(location, refreshInterval: options.refreshInterval)
        isNewer = state.catalogue != nil
      }
      return (try state.catalogue?.snapshot() ?? .empty, isNewer)
    }
    if isNewer { catalogueObservers.notify() }
    return snapshot.declaring(fields.fields)
  }

  /// The changes of the catalogue after the last commit, by any process; see `CatalogObservation`.
  ///
  ///     let catalogue = try stores.catalogue()
  ///     show(catalogue)
  ///     for try await change in stores.catalogueChanges(since: catalogue) { update(try change.differences()) }
  ///
  /// The sequence ends when the user is signed out, by any process, and when the workspace is closed: at once if this
  /// process notices it first, else at the next check. A user who signs in again gets new stores, and so a new
  /// sequence; `Workspace.changes` tells when.
  ///
  /// A catalogue that does not exist yet is waited for, and a file that takes the name of the catalogue is a change, as
  /// for `CatalogObservation.init(_:since:interval:)`. While the file is missing, ``catalogue()`` shows what it showed
  /// last, so there is no change. A call of ``catalogue()`` that sees a new commit wakes the sequence at once.
  ///
  /// - Parameters:
  ///   - snapshot: The state to begin after; `nil` for the last commit when the iteration begins.
  ///   - interval: The interval of checks: from a millisecond to a day. With ``Workspace/Options/refreshInterval``,
  ///     removed and replaced files are noticed after that time at the latest.
  public func catalogueChanges(
    since snapshot: CatalogSnapshot? = nil, interval: Duration = .seconds(1)
  ) -> CatalogObservation {
    CatalogObservation(
      since: snapshot, interval: interval, observers: catalogueObservers,
      current: {
        do { return try self.catalogue() } catch WorkspaceError.closed { return nil }
      })
  }

  /// Opens the writer of the catalogue. The caller must close it. After its user is signed out, it begins no more
  /// updates: it throws `StoreError.closed`, for an increment when it is committed. A running update is finished.
  ///
  /// - Parameter lockTimeout: The longest time to wait for another writer; ``Workspace/Options/lockTimeout`` by
  ///   default.
  /// - Throws: `WorkspaceError.closed`, `.store`; `StoreError.locked` after that time, `.damaged`, `.unusable`, `.io`.
  public func catalogueWriter(lockTimeout: Duration? = nil) throws -> CatalogWriter {
    try checkOpen()
    let access = access
    return try directory.catalogueWriter(of: user, lockTimeout: lockTimeout ?? options.lockTimeout) {
      (try? access.isGranted()) == true
    }
  }

  // MARK: Documents

  /// The documents. The first call opens the store and migrates it to the application's schema version.
  ///
  /// This object owns the store: signing the user out closes it.
  ///
  /// - Throws: `WorkspaceError.closed`, `.store`; `DocumentStoreError.newerSchema`, `.migration`, `.unknownState`;
  ///   `StoreError`.
  /// - Complexity: The first call makes about ten system calls and runs the migrations.
  public func documents() throws -> DocumentStore {
    try checkOpen()
    if let open = try openDocuments() { return open }
    let schema = user == nil ? options.defaultSchema : options.schema
    let opened = try DocumentStore.open(
      directory.makeStore("documents", of: user), schemaVersion: schema.version, migrations: schema.migrations,
      options: options.documents)
    // Migrations are slow, so the store is opened without the lock. Meanwhile another thread may have opened it too, or
    // the user may have been signed out.
    let (store, isClosed) = state.withLock { state in
      if !state.isClosed, state.documents == nil { state.documents = opened }
      return (state.documents ?? opened, state.isClosed)
    }
    if isClosed || store !== opened { opened.close() }
    if isClosed { throw WorkspaceError.closed(user: user) }
    return store
  }

  private func openDocuments() throws -> DocumentStore? {
    try state.withLock { state in
      if state.isClosed { throw WorkspaceError.closed(user: user) }
      return state.documents
    }
  }

  // MARK: Pages of remote lists

  /// The cached pages of remote lists for this user; see `PageCache`.
  ///
  /// This object owns the store: signing the user out closes it.
  ///
  /// - Throws: `WorkspaceError.closed`, `.store`.
  /// - Complexity: Opens no file. The first stored page creates it.
  public func pages() throws -> PageStore {
    try checkOpen()
    let location = try directory.makeStore("cache", of: user)
    return try state.withLock { state in
      if state.isClosed { throw WorkspaceError.closed(user: user) }
      let pages = state.pages ?? PageStore(location, options: options.pages)
      state.pages = pages
      return pages
    }
  }

  // MARK: Closing

  /// Closes all files. Later calls throw.
  func close() {
    access.revoke()
    let old = state.withLock { state in
      let old = state
      state = State(isClosed: true)
      return old
    }
    old.documents?.close()
    old.pages?.close()
    settings.close()
    catalogueObservers.finish()
  }

  /// Whether `other` is the user's directory at the time when this object was created.
  func isAtHome(in other: PosixDirectory?) throws(StorageError) -> Bool {
    let home = state.withLock { $0.home }
    return try home?.identity() == other?.identity()
  }

  func checkOpen() throws {
    if try !access.isGranted() { throw WorkspaceError.closed(user: user) }
  }
}
