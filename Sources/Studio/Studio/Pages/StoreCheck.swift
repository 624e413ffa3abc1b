package import Bytes
import Catalog
import Documents
package import LogStore
import UploadQueue
package import Workspace

/// All stores of a user, or without a user the default directory's, as `verify` reads and repairs them.
package struct StoreCheck: Sendable {
  /// The stores next to the catalogue and the documents. They are not part of the digest.
  private static let others = ["settings", "origin", "cache"]

  private let workspace: WorkspaceDirectory
  /// The user's id; `nil` for the default store.
  private let id: String?

  /// - Parameters:
  ///   - workspace: The root directory.
  ///   - id: The user's id; `nil` for the default store.
  package init(workspace: WorkspaceDirectory, id: String?) {
    self.workspace = workspace
    self.id = id
  }

  /// Reads and checks all existing stores. Changes nothing.
  ///
  /// - Returns: The findings; if nothing was found, the digest of the catalogue, the documents and the queues.
  package func verify() throws -> (findings: [Finding], digest: ContentDigest?) {
    var findings: [Finding] = []
    let catalogue = try id.flatMap { try workspace.catalogue(of: $0) }
    if let catalogue { findings += try Self.verify(catalogue: catalogue).map(\.inCatalogueWords) }
    let documents = try workspace.store("documents", of: id)
    if let documents { findings += try Self.verify(documents: documents) }
    for name in Self.others {
      // The settings in the default directory are shared by all users, and are checked separately.
      if id == nil, name == "settings" { continue }
      guard let location = try workspace.store(name, of: id) else { continue }
      findings += try Verification.findings(in: location, of: Self.schema(of: name))
    }
    if !findings.isEmpty { return (findings, nil) }
    let snapshot = try catalogue.flatMap { try CatalogReader.open($0)?.snapshot() } ?? .empty
    let content = try CatalogDigest(snapshot).content
    guard let documents else { return ([], content) }
    let store = try DocumentStore.inspect(documents)
    let digest = try DocumentDigest(store.snapshot()).covering(catalogue: content)
    return ([], try QueueDigest(store).covering(digest))
  }

  private static func verify(catalogue location: StoreLocation) throws -> [Finding] {
    let previous = try Verification.findingsInPrevious(location)
    guard let verification = try Verification.run(location) else {
      return previous.map { [location.missingLog] + $0 } ?? []
    }
    let findings = verification.findings + (previous ?? [])
    if !findings.isEmpty { return findings }
    do {
      guard let history = try CatalogReader.open(location)?.history() else { return [] }
      return try history.verifyStates() + history.current.verify() + (history.previous?.verify() ?? [])
    } catch let error as CatalogError where !error.isNewer {
      return [Finding(path: location.path, offset: 0, what: "\(error)", lost: "the catalogue")]
    }
  }

  private static func verify(documents location: StoreLocation) throws -> [Finding] {
    guard let verification = try Verification.run(location) else { return [] }
    if !verification.findings.isEmpty { return verification.findings }
    do { return try DocumentStore.inspect(location).snapshot().verify() } catch DocumentStoreError.unknownState(
      let path)
    {
      return [
        Finding(
          path: path, offset: 0, what: "it is no store of documents", lost: "the documents")
      ]
    }
  }

  /// Repairs the damaged stores next to the catalogue, and calls `body` with each repaired one. Queues whose counts do
  /// not match their contents, for example after an interrupted repair, are recounted.
  ///
  /// - Parameter recounted: Called with the name of each queue that was recounted.
  package func repair(
    lockTimeout: Duration, recounted: (_ queue: String) -> Void, _ body: (_ name: String, _ repair: Repair) -> Void
  ) throws {
    if let location = try workspace.store("documents", of: id) {
      if let repair = try DocumentStore.repair(location, lockTimeout: lockTimeout), repair.damagedPath != nil {
        body("the documents", repair)
      }
      var options = DocumentStore.Options()
      options.lockTimeout = lockTimeout
      let store = try DocumentStore.inspect(location, options: options)
      for name in try UploadQueue.names(in: store)
      where try UploadQueue(in: store, name: name, isReadOnly: true).recount() { recounted(name) }
    }
    for name in Self.others where id != nil || name != "settings" {
      if let location = try workspace.store(name, of: id),
        let repair = try Repair.run(location, schema: Self.schema(of: name), lockTimeout: lockTimeout, setsAside: true),
        repair.damagedPath != nil
      {
        body("the store \(name)", repair)
      }
    }
  }

  /// The tables that a store next to the catalogue must have.
  private static func schema(of name: String) -> Schema {
    name == "cache" ? Schema([]) : WorkspaceDirectory.settingsSchema
  }
}
