/// A step from one version of the application's schema to the next.
///
///     let store = try DocumentStore.open(location, schemaVersion: 2, migrations: [
///       Migration(to: 2, "split names") { transaction in … }
///     ])
///
/// When a store is opened, the steps that it still needs run in order, in one atomic commit. Documents with the cursor
/// of a synchronisation change in the same commit.
public struct Migration: Sendable {
  /// The schema version after the step.
  public let version: Int
  /// The name of the step, for messages.
  public let name: String
  let step: @Sendable (DocumentTransaction) throws -> Void

  /// Creates a step.
  ///
  /// - Parameters:
  ///   - version: The schema version after the step.
  ///   - name: The name of the step, for messages.
  ///   - step: A closure that changes the documents. If it throws, the store is not opened and nothing has changed.
  public init(to version: Int, _ name: String, _ step: @escaping @Sendable (DocumentTransaction) throws -> Void) {
    self.version = version
    self.name = name
    self.step = step
  }
}

extension DocumentStore {
  /// Migrates the store to this version.
  func migrate(to version: Int, _ migrations: [Migration]) throws {
    // Without a migration, opening needs neither the lock nor write permission.
    if try needsMigration(from: snapshot().schemaVersion, to: version) == false { return }
    try commit { transaction in
      // Another process may have migrated the store meanwhile.
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
