public import Catalog
import LogStore
import Platform

extension Setting where Value == Double? {
  /// The number of days for which the generation that a full update replaced is kept, so that the update can be undone;
  /// 0 to keep none.
  ///
  /// A user's value takes precedence over the default store's. If neither is set,
  /// `CatalogWriter.defaultPreviousLifetime` applies.
  public static var keepPreviousDays: Setting { Setting("keepPreviousDays", default: nil) }
}

extension WorkspaceDirectory {
  /// The time for which the generation that a full update replaced is kept for a user, according to the setting
  /// ``Setting/keepPreviousDays``. Damaged settings are ignored, so that the catalogue can still be written; `verify`
  /// reports them.
  ///
  /// - Throws: `SettingsError.type` if the setting is not a number; `WorkspaceError`, `StoreError`.
  package func previousLifetime(of id: String?) throws -> Duration {
    for owner in id == nil ? [nil] : [id, nil] {
      let days: Double?
      do { days = try settings(of: owner).get(.keepPreviousDays) } catch let error as StoreError {
        guard error.isDamage else { throw error }
        continue
      }
      // A century is long enough, and does not overflow in any unit.
      if let days { return .seconds(max(0, min(days.isNaN ? 0 : days, 36_525)) * 86_400) }
    }
    return CatalogWriter.defaultPreviousLifetime
  }

  /// Opens the writer of a user's catalogue, which keeps previous generations and writes indexes according to the
  /// settings. Creates missing directories. The caller must close the writer.
  ///
  /// - Parameters:
  ///   - id: The user's ID; `nil` for the default store.
  ///   - lockTimeout: The longest time to wait for another writer.
  ///   - replacesDamaged: Whether to replace a catalogue that cannot be opened with a new one; see `CatalogWriter`.
  /// - Throws: `WorkspaceError.userID`, `.store`; `SettingsError`; `StoreError.locked`, `.damaged`, `.unusable`, `.io`.
  public func catalogueWriter(
    of id: String?, lockTimeout: Duration, replacesDamaged: Bool = false
  ) throws -> CatalogWriter {
    try catalogueWriter(of: id, lockTimeout: lockTimeout, replacesDamaged: replacesDamaged) { true }
  }

  func catalogueWriter(
    of id: String?, lockTimeout: Duration, replacesDamaged: Bool = false,
    while isPermitted: @escaping @Sendable () -> Bool
  ) throws -> CatalogWriter {
    try CatalogWriter(
      makeStore("catalogue", of: id), lockTimeout: lockTimeout, previousLifetime: previousLifetime(of: id),
      indexes: indexes(of: id), replacesDamaged: replacesDamaged, while: isPermitted)
  }

  /// The files in a user's directory, or with `nil` in the default one, sorted by name; empty if there is no directory.
  ///
  /// - Throws: `WorkspaceError.userID`, `.store`.
  public func files(of id: String?) throws(WorkspaceError) -> [StoredFile] {
    guard let directory = try directory(of: id) else { return [] }
    return try wrapped { () throws(StoreError) in
      try io { () throws(StorageError) in
        var files: [StoredFile] = []
        for name in try directory.names() {
          guard let byteCount = try directory.byteCount(of: name) else { continue }
          files.append(StoredFile(name: name, byteCount: byteCount, role: StoredFile.Role(ofFileNamed: name)))
        }
        return files
      }
    }
  }
}

/// A file of a user's stores.
public struct StoredFile: Sendable, Equatable {
  /// The purpose of a file.
  public enum Role: String, Sendable {
    /// The current generation of a store.
    case log
    /// The generation that the last full update replaced. `rollback` restores it.
    case previous
    /// The part of a store that is shared with other users of its organisation.
    case base
    /// A damaged store that was renamed. It is no longer needed.
    case damaged
    /// A generation that is being written, or that a crash left behind. The next writer deletes it.
    case new
    /// A lock file, which is empty or names its holder.
    case lock
    /// A file that no store created.
    case other

    init(ofFileNamed name: String) {
      let suffix = name.split(separator: ".").last.map(String.init) ?? ""
      self =
        switch suffix {
        case "log": .log
        case "previous": .previous
        case "base": .base
        case "new": .new
        case "lock": .lock
        default: suffix.hasPrefix("damaged-") ? .damaged : suffix.hasPrefix("worker-") ? .lock : .other
        }
    }
  }

  /// The name of the file in its directory.
  public let name: String
  /// The size of the file in bytes. A base that several users share on the disk counts in full for each of them.
  public let byteCount: Int
  /// What the file is for.
  public let role: Role
}
