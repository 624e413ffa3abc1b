public import Catalog
import LogStore
import Storage

extension Setting where Value == Double? {
  /// For how many days the generation that a full update replaced is kept, so that the update can be undone: 0 keeps none.
  ///
  /// A user's value counts before that of the default store, and without either
  /// `CatalogWriter.defaultPreviousLifetime`.
  public static var keepPreviousDays: Setting { Setting("keepPreviousDays", default: nil) }
}

extension WorkspaceDirectory {
  /// How long the generation that a full update replaced is kept for a user: what the setting
  /// ``Setting/keepPreviousDays`` says. Damaged settings say nothing, and keep nobody from writing the catalogue; `verify`
  /// reports them.
  ///
  /// - Throws: `SettingsError.type` where the setting is not a number; `WorkspaceError`, `StoreError`.
  public func previousLifetime(of id: String?) throws -> Duration {
    for owner in id == nil ? [nil] : [id, nil] {
      let days: Double?
      do { days = try settings(of: owner).get(.keepPreviousDays) } catch let error as StoreError {
        guard error.isDamage else { throw error }
        continue
      }
      // A century is as good as for ever, and fits in every unit.
      if let days { return .seconds(max(0, min(days.isNaN ? 0 : days, 36_525)) * 86_400) }
    }
    return CatalogWriter.defaultPreviousLifetime
  }

  /// The writer of a user's catalogue, which keeps previous generations as the settings say. Directories are made where
  /// they are missing. The caller closes it.
  ///
  /// - Parameters:
  ///   - id: The user; `nil` for the default store.
  ///   - waiting: How long to wait for another writer to finish.
  ///   - replacesDamaged: Whether to begin anew where the catalogue cannot be opened; see `CatalogWriter`.
  /// - Throws: `WorkspaceError.userID`, `.store`; `SettingsError`; `StoreError.locked`, `.damaged`, `.unusable`, `.io`.
  public func catalogueWriter(
    of id: String?, waiting: Duration, replacesDamaged: Bool = false
  ) throws -> CatalogWriter {
    try catalogueWriter(of: id, waiting: waiting, replacesDamaged: replacesDamaged) { true }
  }

  func catalogueWriter(
    of id: String?, waiting: Duration, replacesDamaged: Bool = false,
    while isPermitted: @escaping @Sendable () -> Bool
  ) throws -> CatalogWriter {
    try CatalogWriter(
      makeStore("catalogue", of: id), waiting: waiting, previousLifetime: previousLifetime(of: id),
      replacesDamaged: replacesDamaged, while: isPermitted)
  }

  /// The files in a user's directory, or with `nil` in that of the default store, by name; none where there is no
  /// directory.
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
  /// What a file is for.
  public enum Role: String, Sendable {
    /// A store as it is now.
    case log
    /// The generation that the last full update replaced, which `rollback` reaches.
    case previous
    /// What a store shares with other users of its organisation.
    case base
    /// A store that was found damaged and set aside. Nothing needs it.
    case damaged
    /// A generation that is being written, or that a crash left; the next writer deletes it.
    case new
    /// An empty file that carries a lock.
    case lock
    /// Nothing that a store made.
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

  public let name: String
  public let byteCount: Int
  public let role: Role
}
