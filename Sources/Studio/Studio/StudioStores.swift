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

/// Where a studio finds its stores.
///
/// Nothing here writes, upgrades or locks a file, except what the requests for editing ask for.
package protocol StudioStores: Sendable {
  /// The program that serves: `catalogctl` or `catalogd`.
  var program: String { get }
  /// The version of the program.
  var version: String { get }
  /// Whether requests may change something.
  var isEditable: Bool { get }
  /// The daemon that serves; `nil` for a program that only shows.
  var daemon: StudioDaemon? { get }
  /// The user whose stores are shown.
  func user() throws -> String
  /// The commits of the catalogue that can be read, with the last one that any process has made; `nil` if there is no
  /// catalogue yet.
  func history() throws -> CatalogHistory?
  /// The files of the user.
  func files() throws -> [StoredFile]
  /// The documents, for reading; `nil` if there are none yet.
  func documents() throws -> DocumentStore?
  /// The documents, for writing.
  func writableDocuments() throws -> DocumentStore
  /// The cached lists; `nil` if there are none yet.
  func cache() throws -> CacheInspector?
  /// How scans are read and matched.
  func matchingOptions() throws -> MatchingOptions
  /// The settings of the user, or of the default store.
  func settings(ofUser: Bool) throws -> Settings
  /// Reads and checks all stores, and changes nothing.
  func verify() throws -> StoreVerification
  /// A writer of the catalogue, which the caller closes.
  func catalogueWriter() throws -> CatalogWriter
  /// Whether the products of the last commit come from no server and no other source, which would undo changes of them.
  func isOwn(_ snapshot: CatalogSnapshot) throws -> Bool
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

/// The stores of a user in a root directory.
package final class WorkspaceStores: StudioStores {
  package var program: String { daemon == nil ? "catalogctl" : "catalogd" }
  package let version: String
  package let isEditable: Bool
  package let daemon: StudioDaemon?
  private let workspace: WorkspaceDirectory
  private let userID: @Sendable () throws -> String
  /// The reader of the catalogue and its user. Held while it moves to the last commit.
  private let reader = Mutex<(user: String, reader: CatalogReader)?>(nil)

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

  package func user() throws -> String { try userID() }

  package func history() throws -> CatalogHistory? {
    let user = try user()
    return try reader.withLock { open in
      if let known = open, known.user == user, try refresh(known.reader) { return try known.reader.history() }
      open = nil
      guard let location = try workspace.catalogue(of: user), let new = try CatalogReader.open(location) else {
        return nil
      }
      open = (user, new)
      return try new.history()
    }
  }

  /// Whether the reader still reads the file that has the name.
  private func refresh(_ reader: CatalogReader) throws -> Bool {
    do {
      try reader.refresh()
      return !reader.isRemoved
    } catch StoreError.replaced { return false }
  }

  package func verify() throws -> StoreVerification {
    let (findings, digest) = try StoreCheck(workspace: workspace, id: user()).verify()
    return StoreVerification(findings: findings, digest: digest.map { "\($0)" })
  }

  package func files() throws -> [StoredFile] { try workspace.files(of: user()) }

  package func documents() throws -> DocumentStore? {
    try workspace.store("documents", of: user()).map { try DocumentStore.inspect($0) }
  }

  package func writableDocuments() throws -> DocumentStore {
    try DocumentStore.inspect(workspace.makeStore("documents", of: user()))
  }

  package func cache() throws -> CacheInspector? {
    try workspace.store("cache", of: user()).map { try CacheInspector($0) }
  }

  package func matchingOptions() throws -> MatchingOptions {
    if let daemon { return try daemon.matchingOptions() }
    return try MatchingSettings(of: user(), in: workspace).options
  }

  package func settings(ofUser: Bool) throws -> Settings { try workspace.settings(of: ofUser ? user() : nil) }

  package func isOwn(_ snapshot: CatalogSnapshot) throws -> Bool {
    // A server's answer leaves its cursor, and so does a database that is asked for newer rows.
    if daemon?.synchronises == true || !snapshot.cursor.isEmpty { return false }
    return try SyncSettings(of: user(), in: workspace).url == nil
  }

  package func catalogueWriter() throws -> CatalogWriter {
    try workspace.catalogueWriter(of: user(), lockTimeout: .seconds(2))
  }
}
