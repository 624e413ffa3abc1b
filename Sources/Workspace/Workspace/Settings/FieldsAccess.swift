import Catalog
import LogStore
import Synchronization

/// The declared fields of one's own by which a user's catalogue is read.
///
/// The settings are looked at again when a store has a new commit, which is checked at most once in ``interval``. A value
/// that cannot be used counts as none.
final class FieldsAccess: Sendable {
  /// The minimum time between two checks of the settings: how long a change may take to have an effect.
  static let interval: Duration = .milliseconds(100)

  private struct Cached {
    var fields = DeclaredFields()
    var commits: (own: SettingsSnapshot, common: SettingsSnapshot)?
    var checked: ContinuousClock.Instant?
  }

  private let own: Settings
  private let common: Settings
  /// Guards what was read last. Not held while the stores are read.
  private let cached = Mutex(Cached())

  /// - Parameters:
  ///   - own: The settings of the user.
  ///   - common: The settings of the default store.
  init(own: Settings, common: Settings) {
    self.own = own
    self.common = common
  }

  /// The fields.
  ///
  /// - Complexity: Once in ``interval`` a system call for each of two files. After a commit, also some lookups in them.
  var fields: DeclaredFields {
    let now = ContinuousClock.now
    let recent = cached.withLock { cached -> DeclaredFields? in
      if let checked = cached.checked, now - checked < Self.interval { return cached.fields }
      // Other threads go on with what is cached while this one checks.
      cached.checked = now
      return nil
    }
    if let recent { return recent }
    guard let own = try? own.snapshot(), let common = try? common.snapshot() else { return cached.withLock(\.fields) }
    let unchanged = cached.withLock { cached -> DeclaredFields? in
      guard let read = cached.commits, own.isSameCommit(as: read.own), common.isSameCommit(as: read.common) else {
        return nil
      }
      return cached.fields
    }
    if let unchanged { return unchanged }
    let fields = Self.fields(of: own) ?? Self.fields(of: common) ?? DeclaredFields()
    cached.withLock { cached in
      cached.fields = fields
      cached.commits = (own, common)
    }
    return fields
  }

  /// The fields that a store declares; `nil` if it declares none.
  private static func fields(of snapshot: SettingsSnapshot) -> DeclaredFields? {
    guard let value = try? snapshot.value(named: IndexSettings.Name.fields.rawValue) else { return nil }
    return (try? DeclaredFields(value)) ?? DeclaredFields()
  }
}
