package import Catalog
package import Documents
package import LogStore
package import PageCache
import Synchronization
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
  /// Whether scans are shown as they happen.
  var isLive: Bool { get }
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
}

/// The stores of a user in a root directory.
package final class WorkspaceStores: StudioStores {
  package let program = "catalogctl"
  package let version: String
  package let isEditable: Bool
  package let isLive = false
  private let workspace: WorkspaceDirectory
  private let userID: @Sendable () throws -> String
  private let verification: @Sendable (_ user: String) throws -> StoreVerification
  /// The reader of the catalogue and its user. Held while it moves to the last commit.
  private let reader = Mutex<(user: String, reader: CatalogReader)?>(nil)

  /// - Parameters:
  ///   - workspace: The root directory.
  ///   - version: The version of the program.
  ///   - isEditable: Whether requests may change something.
  ///   - user: The user whose stores are shown.
  ///   - verify: Reads and checks all stores of a user.
  package init(
    _ workspace: WorkspaceDirectory, version: String, isEditable: Bool,
    user: @escaping @Sendable () throws -> String,
    verify: @escaping @Sendable (_ user: String) throws -> StoreVerification
  ) {
    verification = verify
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

  package func verify() throws -> StoreVerification { try verification(user()) }

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

  package func matchingOptions() throws -> MatchingOptions { try MatchingSettings(of: user(), in: workspace).options }

  package func settings(ofUser: Bool) throws -> Settings { try workspace.settings(of: ofUser ? user() : nil) }

  package func catalogueWriter() throws -> CatalogWriter {
    try workspace.catalogueWriter(of: user(), lockTimeout: .seconds(2))
  }
}
