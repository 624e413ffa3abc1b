public import Catalog
public import Documents
import LogStore
public import PageCache
import Storage
import Synchronization

/// Everything that one user has on this device, or that belongs to nobody: a catalogue, documents, cached pages, settings.
///
/// ``Workspace`` gives it. Nothing is opened before it is asked for. Any number of threads may use one. It serves for as long as
/// its user is signed in: from then on each call throws ``WorkspaceError/closed(user:)``, and so do its settings, documents
/// and writers with errors of their own, whichever process signed the user out. Snapshots that were taken stay readable; an
/// update or transaction that has begun is finished.
public final class UserStores: Sendable {
  /// Whose they are; `nil` for those that belong to nobody.
  public let user: String?
  /// Small values under names.
  public let settings: Settings

  let access: StoreAccess
  let directory: WorkspaceDirectory
  private let options: Workspace.Options

  private struct State {
    /// The user's directory, if there was one. As long as it is held no other directory has its identity.
    var home: PosixDirectory?
    var catalogue: CatalogReader?
    var documents: DocumentStore?
    var pages: PageStore?
    var isClosed = false
  }

  /// Guards what is open; held for a refresh, not while documents migrate.
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
    settings = directory.settings(of: user, access, pollInterval: options.pollInterval)
  }

  // MARK: The catalogue

  /// The catalogue at the last commit of any process; an empty one where there is none. Creates nothing.
  ///
  /// - Throws: `WorkspaceError.closed`; `StoreError`, `CatalogError`.
  /// - Complexity: with nothing new, one system call for the catalogue, and one for who is signed in, or one of each for
  ///   each ``Workspace/Options/lookInterval``.
  public func catalogue() throws -> CatalogSnapshot {
    try checkOpen()
    return try state.withLock { state in
      if state.isClosed { throw WorkspaceError.closed(user: user) }
      do { try state.catalogue?.refresh() } catch StoreError.replaced {
        // A damaged file was set aside and begun anew, or a person put back an older one: that is the catalogue now.
        state.catalogue = nil
      }
      if state.catalogue == nil, let location = try directory.store("catalogue", of: user) {
        state.catalogue = try CatalogReader.open(location, lookInterval: options.lookInterval)
      }
      return try state.catalogue?.snapshot() ?? .empty
    }
  }

  /// The writer of the catalogue; the one who is given it closes it. After its user was signed out it begins nothing more: it
  /// throws `StoreError.closed`, an increment when it is committed; an update that has begun is finished.
  ///
  /// - Parameter waiting: how long to wait for another writer to finish; ``Workspace/Options/waiting`` without it.
  /// - Throws: `WorkspaceError.closed`, `.store`; `StoreError.locked` after that time, `.damaged`, `.unusable`, `.io`.
  public func catalogueWriter(waiting: Duration? = nil) throws -> CatalogWriter {
    try checkOpen()
    let access = access
    return try directory.catalogueWriter(of: user, waiting: waiting ?? options.waiting) {
      (try? access.isGranted()) == true
    }
  }

  // MARK: Documents

  /// The documents, brought to the application's version of the schema when they are first asked for.
  ///
  /// The store is this object's: who signs the user out closes it.
  ///
  /// - Throws: `WorkspaceError.closed`, `.store`; `DocumentStoreError.newerSchema`, `.migration`, `.unknownState`; `StoreError`.
  /// - Complexity: the first time some ten system calls, and what the migrations take.
  public func documents() throws -> DocumentStore {
    try checkOpen()
    if let open = try openDocuments() { return open }
    let schema = user == nil ? options.defaultSchema : options.schema
    let opened = try DocumentStore.open(
      directory.makeStore("documents", of: user), schemaVersion: schema.version, migrations: schema.migrations,
      options: options.documents)
    // Opened without the lock, as migrations take long: another thread may have been faster, or the user signed out.
    let (kept, isClosed) = state.withLock { state in
      if !state.isClosed, state.documents == nil { state.documents = opened }
      return (state.documents ?? opened, state.isClosed)
    }
    if isClosed || kept !== opened { opened.close() }
    if isClosed { throw WorkspaceError.closed(user: user) }
    return kept
  }

  private func openDocuments() throws -> DocumentStore? {
    try state.withLock { state in
      if state.isClosed { throw WorkspaceError.closed(user: user) }
      return state.documents
    }
  }

  // MARK: Pages of remote lists

  /// The pages of remote lists that were fetched for this user; see `PageCache`.
  ///
  /// The store is this object's: who signs the user out closes it.
  ///
  /// - Throws: `WorkspaceError.closed`, `.store`.
  /// - Complexity: opens nothing; the file comes into being with the first page.
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

  /// Lets go of all files, and gives nothing more.
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
  }

  /// Whether `other` is the directory that the user had when these stores were given.
  func isAtHome(in other: PosixDirectory?) throws(StorageError) -> Bool {
    let home = state.withLock { $0.home }
    return try home?.identity() == other?.identity()
  }

  func checkOpen() throws {
    if try !access.isGranted() { throw WorkspaceError.closed(user: user) }
  }
}
