/// One step from a version of the application's schema to the next.
///
///     let store = try DocumentStore.open(location, schemaVersion: 2, migrations: [
///       Migration(to: 2, "split names") { transaction in … }
///     ])
///
/// Steps that a store still needs run in their order when it is opened, in one commit: all of them or none, and documents
/// that keep the cursor of a synchronisation move with the others.
public struct Migration: Sendable {
  /// The version that the store has behind the step.
  public let version: Int
  /// For messages.
  public let name: String
  let step: @Sendable (DocumentTransaction) throws -> Void

  /// - Parameters:
  ///   - version: the version that the store has behind the step.
  ///   - name: for messages.
  ///   - step: changes the documents; what it throws ends the opening, with nothing changed.
  public init(to version: Int, _ name: String, _ step: @escaping @Sendable (DocumentTransaction) throws -> Void) {
    self.version = version
    self.name = name
    self.step = step
  }
}

extension DocumentStore {
  /// Brings the store to the wanted version.
  func migrate(to version: Int, _ migrations: [Migration]) throws {
    // Who has nothing to change needs no lock, and no right to write.
    if try needsMigration(from: snapshot().schemaVersion, to: version) == false { return }
    try commit { transaction in
      // Another process may have been faster.
      let stored = transaction.description.schemaVersion
      guard try needsMigration(from: stored, to: version) else { return }
      for migration in migrations.sorted(by: { $0.version < $1.version })
      where migration.version > stored && migration.version <= version {
        do { try migration.step(transaction) } catch {
          throw DocumentStoreError.migration(
            path: path, to: migration.version, name: migration.name, reason: error)
        }
      }
      transaction.description.schemaVersion = version
    }
  }
  private func needsMigration(from stored: Int, to version: Int) throws -> Bool {
    if stored > version { throw DocumentStoreError.newerSchema(path: path, stored: stored, known: version) }
    return stored < version
  }
}
