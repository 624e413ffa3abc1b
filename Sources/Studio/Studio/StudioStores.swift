package import Catalog
package import Documents
package import JSONFormat
package import LogStore
package import RemoteLists
import Synchronization
package import UploadQueue
package import Workspace

/// What a verification of all stores found.
package struct StoreVerification: Sendable {
  /// The problems.
  package let findings: [Finding]
  /// The digest of the contents, in hexadecimal; `nil` if something was found.
  package let digest: String?

  /// Creates a result.
  package init(findings: [Finding], digest: String?) {
    self.findings = findings
    self.digest = digest
  }
}

/// What a daemon adds to the stores that it serves: scans as they happen, and its own view of them.
package struct StudioDaemon: Sendable {
  /// Whether requests may retry and drop uploads.
  package let decidesUploads: Bool
  /// The current problems, as a list of objects.
  package let problems: @Sendable () -> JSONText
  /// The names of the targets of uploads.
  package let targets: [String]
  /// The queue that the daemon sends, for decisions.
  package let queue: @Sendable () throws -> UploadQueue
  /// How the daemon reads and matches scans of its user.
  package let matchingOptions: @Sendable () throws -> MatchingOptions
  /// Whether the daemon keeps the catalogue from a server or another source.
  package let synchronises: Bool

  /// - Parameters:
  ///   - decidesUploads: Whether requests may retry and drop uploads.
  ///   - problems: The current problems, as a list of objects.
  ///   - targets: The names of the targets of uploads.
  ///   - queue: The queue that the daemon sends, for decisions.
  ///   - matchingOptions: How the daemon reads and matches scans of its user.
  ///   - synchronises: Whether the daemon keeps the catalogue from a server or another source.
  package init(
    decidesUploads: Bool, problems: @escaping @Sendable () -> JSONText, targets: [String],
    queue: @escaping @Sendable () throws -> UploadQueue,
    matchingOptions: @escaping @Sendable () throws -> MatchingOptions, synchronises: Bool
  ) {
    self.decidesUploads = decidesUploads
    self.problems = problems
    self.targets = targets
    self.queue = queue
    self.matchingOptions = matchingOptions
    self.synchronises = synchronises
  }
}

/// The stores of a user in a root directory, as a studio reads them.
///
/// Nothing here writes, upgrades or locks a file, except what the requests for editing ask for.
package final class StudioStores: Sendable {
  /// The program that serves: `catalogctl` or `catalogd`.
  package var program: String { daemon == nil ? "catalogctl" : "catalogd" }
  /// The version of the program.
  package let version: String
  /// Whether requests may change something.
  package let isEditable: Bool
  /// Whether requests may retry and drop uploads.
  var decidesUploads: Bool { isEditable || daemon?.decidesUploads == true }
  /// The daemon that serves; `nil` for a program that only shows.
  package let daemon: StudioDaemon?
  private let workspace: WorkspaceDirectory
  private let userID: @Sendable () throws -> String
  /// The reader of the catalogue and its user. Held while it moves to the last commit.
  private let reader = Mutex<(user: String, leases: Int, reader: CatalogReader)?>(nil)

  /// - Parameters:
  ///   - workspace: The root directory.
  ///   - version: The version of the program.
  ///   - isEditable: Whether requests may change something.
  ///   - daemon: The daemon that serves; `nil` for a program that only shows.
  ///   - user: The user whose stores are shown.
  package init(
    _ workspace: WorkspaceDirectory, version: String, isEditable: Bool, daemon: StudioDaemon? = nil,
    user: @escaping @Sendable () throws -> String
  ) {
    self.daemon = daemon
    self.version = version
    self.workspace = workspace
    self.isEditable = isEditable
    userID = user
  }

  /// The user whose stores are shown.
  package func user() throws -> String { try userID() }

  /// The commits of the catalogue that can be read, with the last one that any process has made; `nil` if there is no
  /// catalogue yet.
  package func history() throws -> CatalogHistory? {
    let user = try user()
    return try reader.withLock { open in
      // After a lease of the key, what was opened with it is closed.
      let leases = workspace.keyRing.endLease()
      if let known = open, known.user == user, known.leases == leases, try refresh(known.reader) {
        return try known.reader.history()
      }
      open = nil
      guard let location = try workspace.catalogue(of: user), let new = try CatalogReader.open(location) else {
        return nil
      }
      open = (user, leases, new)
      return try new.history()
    }
  }

  /// The catalogue at the last commit that any process has made; empty if there is none.
  func snapshot() throws -> CatalogSnapshot { try (history()?.current ?? .empty).declaring(fields()) }

  /// The declared fields of one's own. A stored value that cannot be used declares none, as for scans.
  func fields() throws -> DeclaredFields { (try? workspace.fields(of: user())) ?? DeclaredFields() }

  /// Whether the reader still reads the file that has the name.
  private func refresh(_ reader: CatalogReader) throws -> Bool {
    do {
      try reader.refresh()
      return !reader.isRemoved
    } catch StoreError.replaced { return false }
  }

  /// Reads and checks all stores, and changes nothing.
  package func verify() throws -> StoreVerification {
    let (findings, digest) = try StoreCheck(workspace: workspace, id: user()).verify()
    return StoreVerification(findings: findings, digest: digest.map { "\($0)" })
  }

  /// The files of the user.
  package func files() throws -> [StoredFile] { try workspace.files(of: user()) }

  /// The documents, for reading; `nil` if there are none yet.
  package func documents() throws -> DocumentStore? {
    try workspace.store("documents", of: user()).map { try DocumentStore.inspect($0) }
  }

  /// The documents, for writing.
  package func writableDocuments() throws -> DocumentStore {
    try DocumentStore.inspect(workspace.makeStore("documents", of: user()))
  }

  /// The cached lists; `nil` if there are none yet.
  package func cache() throws -> CacheInspector? {
    try workspace.store("cache", of: user()).map { try CacheInspector($0) }
  }

  /// How scans are read and matched.
  package func matchingOptions() throws -> MatchingOptions {
    if let daemon { return try daemon.matchingOptions() }
    return try MatchingSettings(of: user(), in: workspace).options
  }

  /// The settings of the user, or of the default store.
  package func settings(ofUser: Bool) throws -> Settings { try workspace.settings(of: ofUser ? user() : nil) }

  /// Whether the products of the last commit come from no server and no other source, which would undo changes of them.
  package func isOwn(_ snapshot: CatalogSnapshot) throws -> Bool {
    // A server's answer leaves its cursor, and so does a database that is asked for newer rows.
    if daemon?.synchronises == true || !snapshot.cursor.isEmpty { return false }
    return try SyncSettings(of: user(), in: workspace).url == nil
  }

  /// A writer of the catalogue, which the caller closes.
  package func catalogueWriter() throws -> CatalogWriter {
    try workspace.catalogueWriter(of: user(), lockTimeout: .seconds(2))
  }
}
