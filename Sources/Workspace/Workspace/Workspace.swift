public import Catalog
public import Documents
public import LogStore
public import RemoteLists

/// The open stores of a device: the default ones, and those of the signed-in user.
///
///     let workspace = try Workspace.open(root)
///     try workspace.signIn("ana")
///     let ana = try workspace.stores()
///     let product = try ana.catalogue().products(barcode: scan).first
///     try ana.documents().collection("carts", of: Cart.self).insert(cart)
///
/// **The disk is the single source of truth.** The signed-in user is stored in the default settings and checked by each
/// request: a sign-in by another process, for example `catalogctl login`, takes effect with the next request.
///
/// **A switch is atomic** for all users of the workspace. ``stores()`` returns the old user's stores or the new one's,
/// and each of them gives access to the data of one user only. Once the switch is durable, calls on the old stores
/// throw, and ``stores()`` returns those of the new user. Existing objects stay valid: a snapshot stays readable, and a
/// running update or transaction is finished. A `DocumentStore` that an application keeps is closed by the first
/// request to the workspace after the switch or, while an observer is active, within ``Options/pollInterval``.
///
/// **Stores are opened lazily**, so a switch costs one commit in the default settings, whatever the size of the stores.
///
/// Values that applications usually keep in user defaults belong in the default settings and in the user's:
///
///     extension Setting where Value == Bool {
///       static var adShown: Setting { Setting("adShown", default: false) }
///       static var guideShown: Setting { Setting("guideShown", default: false) }
///     }
///     extension Setting where Value == Int? {
///       static var adToShow: Setting { Setting("adToShow", default: nil) }
///     }
///
///     let device = workspace.defaultStores.settings      // available before any user signs in
///     if try !device.get(.guideShown) { try device.set(.guideShown, to: true) }
///     if let user = try workspace.current() {             // the signed-in user needs no setting
///       let own = try workspace.stores().settings
///       try own.change {                                  // one commit
///         try $0.set(.adShown, to: true)
///         try $0.set(.adToShow, to: 4711)
///       }
///     }
///
/// The workspace, and every object from it, is closed when its last reference is released. Keep a reference as long as
/// you use its stores; `defer { workspace.close() }` keeps a local variable, which the optimiser may release after its
/// last use.
public final class Workspace: Sendable {
  /// The options of a workspace.
  public struct Options: Sendable {
    /// The longest time that a change waits for a writer in another process.
    public var lockTimeout = Duration.seconds(2)
    /// The interval at which observers poll for changes by other processes.
    public var pollInterval = Duration.milliseconds(100)
    /// The interval at which the directories of catalogues and of the default settings are checked. Commits and new
    /// generations by any process are always seen at once; only files that a person removes or replaces by hand may go
    /// unnoticed for this long.
    public var refreshInterval: Duration = .zero
    /// A callback for actions that stores take on their own; see ``WorkspaceDirectory/notify``.
    public var notify: @Sendable (StoreNotice) -> Void = { _ in }
    /// Where the key of sealed users comes from; `nil` if there is none.
    public var key: KeySource?
    /// Whether the stores of new users are sealed; see ``WorkspaceDirectory/sealsNewUsers``.
    public var sealsNewUsers: Bool?
    /// The keys that the workspace shares with other parts of the program; `nil` to open those of ``key``.
    package var keyRing: KeyRing?
    /// The options of document stores.
    public var documents = DocumentStore.Options()
    /// The options of the cached pages of remote lists.
    public var pages = PageStore.Options()
    /// The application's schema for the documents of a user.
    public var schema = DocumentSchema()
    /// The application's schema for the default documents.
    public var defaultSchema = DocumentSchema()

    /// Creates the default options.
    public init() {}
  }

  /// The default stores, which belong to no user. They stay open when users sign in or out.
  public let defaultStores: UserStores
  private let directory: WorkspaceDirectory
  private let signedIn: SignedIn

  private init(_ directory: WorkspaceDirectory, _ options: Options) {
    self.directory = directory
    signedIn = SignedIn(directory, options)
    defaultStores = UserStores(nil, directory, options, StoreAccess())
  }

  deinit { close() }

  /// Opens the workspace in a root directory. A new root is created by the first change.
  ///
  /// If a crash interrupted the removal of a user, the removal is finished if possible.
  ///
  /// - Throws: `WorkspaceError.settings` if the signed-in user cannot be determined; `.store`.
  public static func open(_ root: String, options: Options = Options()) throws -> Workspace {
    var directory = WorkspaceDirectory(root: root)
    directory.lockTimeout = options.lockTimeout
    directory.notify = options.notify
    directory.keyRing = options.keyRing ?? KeyRing(options.key)
    directory.sealsNewUsers = options.sealsNewUsers
    // On a read-only or foreign medium, the deletion is deferred. A partly removed user is never visible.
    try? directory.finishRemovals()
    let workspace = Workspace(directory, options)
    _ = try workspace.signedIn.refresh()
    return workspace
  }

  // MARK: The signed-in user

  /// The ID of the signed-in user; `nil` if no user is signed in.
  ///
  /// - Throws: `WorkspaceError.closed`, `.settings`, `.store`.
  /// - Complexity: One system call if nothing has changed, or one for each ``Options/refreshInterval``.
  public func current() throws -> String? { try signedIn.refresh()?.user }

  /// The stores of the signed-in user.
  ///
  /// - Throws: `WorkspaceError.notSignedIn`, `.closed`, `.settings`, `.store`.
  /// - Complexity: One system call if nothing has changed, or one for each ``Options/refreshInterval``.
  public func stores() throws -> UserStores {
    guard let stores = try signedIn.refresh() else { throw WorkspaceError.notSignedIn }
    return stores
  }

  /// The catalogue of the signed-in user, at the last commit of any process; an empty one if the user has none.
  ///
  /// The snapshot stays readable after the workspace is closed and after the user was signed out.
  ///
  /// - Throws: As ``stores()`` and ``UserStores/catalogue()``.
  public func catalogue() throws -> CatalogSnapshot { try stores().catalogue() }

  /// The cached pages of remote lists of the signed-in user; see `PageCache`. Those that belong to no user are
  /// `defaultStores.pages()`.
  ///
  ///     try workspace.pages().clear(["top", "list"])
  ///
  /// - Throws: As ``stores()`` and ``UserStores/pages()``.
  public func pages() throws -> PageStore { try stores().pages() }

  /// Signs a user in, durably, and signs out any other user. Creates a directory for a user who is new on this device.
  ///
  /// - Throws: `WorkspaceError.userID`, `.closed`, `.settings`, `.store`. The signed-in user has not changed then.
  /// - Complexity: One commit, whatever the size of the stores.
  public func signIn(_ id: String) throws {
    _ = try signedIn.refresh()
    try directory.signIn(id)
    _ = try signedIn.refresh()
  }

  /// Signs in a user who already has stores on this device, like ``signIn(_:)``.
  ///
  /// - Throws: `WorkspaceError.noSuchUser`; the same errors as ``signIn(_:)``.
  public func `switch`(to id: String) throws {
    _ = try signedIn.refresh()
    guard try directory.directory(of: id) != nil else { throw WorkspaceError.noSuchUser(id) }
    try signIn(id)
  }

  /// Signs out the current user, durably. The stores stay on the disk. Does nothing if no user is signed in.
  ///
  /// - Throws: `WorkspaceError.closed`, `.settings`, `.store`.
  public func signOut() throws {
    _ = try signedIn.refresh()
    try directory.signOut()
    _ = try signedIn.refresh()
  }

  /// A sequence of sign-ins and sign-outs, by any process.
  public var changes: WorkspaceChanges { WorkspaceChanges(signedIn: signedIn) }

  // MARK: Users

  /// The IDs of all users with stores on this device, in bytewise order.
  ///
  /// - Throws: `WorkspaceError.closed`, `.store`.
  public func users() throws -> [String] {
    try defaultStores.checkOpen()
    return try directory.users()
  }

  /// Removes a user and all of the user's data. A user who is signed in is signed out first. Data that other users
  /// share with the removed user stays available to them.
  ///
  /// - Returns: Whether the user existed.
  /// - Throws: `WorkspaceError.userID`, `.closed`, `.settings`, `.store`.
  @discardableResult
  public func remove(_ id: String) throws -> Bool {
    _ = try signedIn.refresh()
    defer { _ = try? signedIn.refresh() }
    return try directory.remove(id)
  }

  /// Closes all files. Later calls on every object from this workspace throw, except on existing snapshots.
  public func close() {
    signedIn.close()
    defaultStores.close()
  }
}

/// A version of the application's document schema, and the migrations from older versions; see `Migration`.
public struct DocumentSchema: Sendable {
  /// The version of the schema that this program expects, from 0.
  public var version: Int
  /// The migrations that lead from older versions to ``version``.
  public var migrations: [Migration]

  /// Creates a schema. Without arguments it is version 0, which needs no migration.
  public init(version: Int = 0, migrations: [Migration] = []) {
    self.version = version
    self.migrations = migrations
  }
}
