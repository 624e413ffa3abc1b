public import Catalog
public import Documents
public import LogStore
public import PageCache
import Storage

/// The open stores of a device: default ones that belong to nobody, and those of the user who is signed in.
///
///     let workspace = try Workspace.open(root)
///     try workspace.signIn("ana")
///     let ana = try workspace.stores()
///     let product = try ana.catalogue().products(barcode: scan).first
///     try ana.documents().collection("carts", of: Cart.self).insert(cart)
///
/// **One truth.** Who is signed in stands on the disk, in the default settings, and is looked at by each request: a sign-in by
/// another process, such as `catalogctl login`, counts from the next request on.
///
/// **A switch is atomic** for everyone who holds the workspace. ``stores()`` gives the old user's stores or the new one's, and each
/// of them leads to the data of one user only. From the moment at which the switch is durable on, the old ones give
/// nothing more: their calls throw, and who asks ``stores()`` again goes on with the new user. What was taken from them before stays what it was: a
/// snapshot is readable to its end, an update or a transaction that has begun is finished. A `DocumentStore` that an
/// application keeps is closed with the first request to the workspace after the switch, or while somebody observes, within
/// ``Options/pollInterval``.
///
/// **Nothing is opened eagerly**, so a switch costs a commit in the default settings, whatever the size of the stores.
///
/// What published applications keep among user defaults stands in the default settings and in the user's:
///
///     extension Setting where Value == Bool {
///       static var adShown: Setting { Setting("adShown", default: false) }
///       static var guideShown: Setting { Setting("guideShown", default: false) }
///     }
///     extension Setting where Value == Int? {
///       static var adToShow: Setting { Setting("adToShow", default: nil) }
///     }
///
///     let device = workspace.defaultStores.settings      // of nobody, before anybody signs in
///     if try !device.get(.guideShown) { try device.set(.guideShown, to: true) }
///     if let user = try workspace.current() {             // the signed-in user needs no setting
///       let own = try workspace.stores().settings
///       try own.change {                                  // one commit
///         try $0.set(.adShown, to: true)
///         try $0.set(.adToShow, to: 4711)
///       }
///     }
///
/// It closes with its last reference, and with it everything that came from it except snapshots. Hold it as long as you use
/// its stores: `defer { workspace.close() }` keeps a local variable, which the optimiser would release after its last use.
public final class Workspace: Sendable {
  /// How stores are used.
  public struct Options: Sendable {
    /// How long a change waits for another process to finish one.
    public var waiting = Duration.seconds(2)
    /// How often is looked, while somebody observes, for what other processes did.
    public var pollInterval = Duration.milliseconds(100)
    /// How long catalogues, and who is signed in, are read without a look at the directory that their files are in. Commits of
    /// any process are seen at once in any case, and so are new generations; only files that somebody removes or replaces by
    /// hand may stay unseen for this long.
    public var lookInterval: Duration = .zero
    /// Learns what stores do without being asked; see ``WorkspaceDirectory/notify``.
    public var notify: @Sendable (StoreNotice) -> Void = { _ in }
    /// How stores of documents are used.
    public var documents = DocumentStore.Options()
    /// How cached pages of remote lists are kept.
    public var pages = PageStore.Options()
    /// What the application expects of the documents of a user.
    public var schema = DocumentSchema()
    /// What it expects of the documents that belong to nobody.
    public var defaultSchema = DocumentSchema()

    public init() {}
  }

  /// The stores that belong to nobody: they stay open whoever signs in or out.
  public let defaultStores: UserStores
  private let directory: WorkspaceDirectory
  private let signedIn: SignedIn

  private init(_ directory: WorkspaceDirectory, _ options: Options) {
    self.directory = directory
    signedIn = SignedIn(directory, options)
    defaultStores = UserStores(nil, directory, options, StoreAccess())
  }

  deinit { close() }

  /// Opens the workspace in a root directory, which comes into being with the first change.
  ///
  /// The removal of a user that a crash interrupted is finished, where that is possible.
  ///
  /// - Throws: `WorkspaceError.settings` where it cannot be told who is signed in; `.store`.
  public static func open(_ root: String, options: Options = Options()) throws -> Workspace {
    var directory = WorkspaceDirectory(root: root)
    directory.waiting = options.waiting
    directory.notify = options.notify
    // On a medium that is read-only, or somebody else's, it waits; nobody sees half of it.
    try? directory.finishRemovals()
    let workspace = Workspace(directory, options)
    _ = try workspace.signedIn.look()
    return workspace
  }

  // MARK: Who is signed in

  /// Who is signed in now; `nil` for nobody.
  ///
  /// - Throws: `WorkspaceError.closed`, `.settings`, `.store`.
  /// - Complexity: with nothing new, one system call, or one for each ``Options/lookInterval``.
  public func current() throws -> String? { try signedIn.look()?.user }

  /// The stores of the user who is signed in now.
  ///
  /// - Throws: `WorkspaceError.nobodySignedIn`, `.closed`, `.settings`, `.store`.
  /// - Complexity: with nothing new, one system call, or one for each ``Options/lookInterval``.
  public func stores() throws -> UserStores {
    guard let stores = try signedIn.look() else { throw WorkspaceError.nobodySignedIn }
    return stores
  }

  /// The catalogue of the user who is signed in, at the last commit of any process; an empty one if the user has none.
  ///
  /// The snapshot stays readable after the workspace is closed and after the user was signed out.
  ///
  /// - Throws: As ``stores()`` and ``UserStores/catalogue()``.
  public func catalogue() throws -> CatalogSnapshot { try stores().catalogue() }

  /// Signs a user in, durably, in the place of whoever is; a user who is new on this device gets a directory.
  ///
  /// - Throws: `WorkspaceError.userID`, `.closed`, `.settings`, `.store`. Who was signed in before still is.
  /// - Complexity: one commit, whatever the size of the stores.
  public func signIn(_ id: String) throws {
    _ = try signedIn.look()
    try directory.signIn(id)
    _ = try signedIn.look()
  }

  /// As ``signIn(_:)``, for a user who has stores on this device.
  ///
  /// - Throws: `WorkspaceError.noSuchUser`; as ``signIn(_:)``.
  public func `switch`(to id: String) throws {
    _ = try signedIn.look()
    guard try directory.directory(of: id) != nil else { throw WorkspaceError.noSuchUser(id) }
    try signIn(id)
  }

  /// Signs out who is signed in, durably; the stores stay on the disk. Does nothing if nobody is.
  ///
  /// - Throws: `WorkspaceError.closed`, `.settings`, `.store`.
  public func signOut() throws {
    _ = try signedIn.look()
    try directory.signOut()
    _ = try signedIn.look()
  }

  /// Tells each time that another user is signed in, or nobody, by whichever process.
  public var changes: WorkspaceChanges { WorkspaceChanges(signedIn: signedIn) }

  // MARK: Users

  /// The ids of all users with stores on this device, bytewise.
  ///
  /// - Throws: `WorkspaceError.closed`, `.store`.
  public func users() throws -> [String] {
    try defaultStores.checkOpen()
    return try directory.users()
  }

  /// Removes a user with everything that the user has, whoever that is: one who is signed in is signed out first. What others share
  /// with the user stays theirs.
  ///
  /// - Returns: whether there was such a user.
  /// - Throws: `WorkspaceError.userID`, `.closed`, `.settings`, `.store`.
  @discardableResult
  public func remove(_ id: String) throws -> Bool {
    _ = try signedIn.look()
    defer { _ = try? signedIn.look() }
    return try directory.remove(id)
  }

  /// Lets go of all files. Everything that came from this workspace throws from now on, but for snapshots that were taken.
  public func close() {
    signedIn.close()
    defaultStores.close()
  }
}

/// Which version of the application's schema documents have, and how older ones become it; see `Migration`.
public struct DocumentSchema: Sendable {
  public var version: Int
  public var migrations: [Migration]

  public init(version: Int = 0, migrations: [Migration] = []) {
    self.version = version
    self.migrations = migrations
  }
}
