import Synchronization
import Workspace

/// How the scans of the signed-in user are matched: by the daemon's configuration, the user's settings and the default
/// store, in this order of precedence.
///
/// The settings are read again when a store has a new commit, which is checked at most once in ``interval``. All
/// other scans only load a reference. A stored value that cannot be used is a problem, and its default holds.
final class MatchingAccess: Sendable {
  /// The minimum time between two checks of the stores by scans: how long a change may take to have an effect.
  static let interval: Duration = .milliseconds(100)

  /// What was read last.
  private struct Cached {
    weak var stores: UserStores?
    var table: MatchingTable?
    /// The commits that were read; `nil` if one of the stores could not be read.
    var commits: (own: SettingsSnapshot, common: SettingsSnapshot)?
    /// When a scan last checked the stores.
    var checked: Duration
  }

  private let configured: MatchingSettings
  private let separators: [String: [String]]
  private let defaultStores: UserStores
  private let problems: Problems
  private let uptime: @Sendable () -> Duration
  /// Guards what was read last. Not held while the stores are read.
  private let cached: Mutex<Cached>

  init(
    _ options: DaemonOptions, _ workspace: Workspace, _ problems: Problems, _ uptime: @escaping @Sendable () -> Duration
  ) {
    configured = options.matching
    separators = options.inputSeparators
    defaultStores = workspace.defaultStores
    self.problems = problems
    self.uptime = uptime
    cached = Mutex(Cached(checked: uptime()))
  }

  /// How scans of these stores are matched.
  ///
  /// - Throws: `WorkspaceError.closed` if their user was signed out in the meantime.
  /// - Complexity: One load, and once in ``interval`` two system calls for each of two files. After a commit, also some
  ///   lookups in them.
  func table(of stores: UserStores) throws -> MatchingTable {
    let now = uptime()
    let recent = cached.withLock { cached -> MatchingTable? in
      if cached.stores === stores, let table = cached.table, now - cached.checked < Self.interval { return table }
      // Other scans go on with the cached table while this one checks.
      cached.checked = now
      return nil
    }
    return try recent ?? readSettings(of: stores)
  }

  /// How scans of these stores are matched; by the configuration alone if the stores are unknown, or their user was
  /// signed out in the meantime.
  func bestTable(of stores: UserStores?) -> MatchingTable {
    (try? stores.map { try table(of: $0) }) ?? MatchingTable(configured, separators: separators)
  }

  /// Checks the settings of these stores now, and reports what is wrong with them.
  func check(_ stores: UserStores?) {
    // If the user was signed out in the meantime, the next check is of the settings of the next user.
    if let stores { _ = try? readSettings(of: stores) }
  }

  private func readSettings(of stores: UserStores) throws -> MatchingTable {
    var faults: [String: String] = [:]
    var settings = configured
    var commits: (own: SettingsSnapshot, common: SettingsSnapshot)?
    do {
      let own = try stores.settings.snapshot()
      let common = stores === defaultStores ? own : try defaultStores.settings.snapshot()
      let unchanged = cached.withLock { cached -> MatchingTable? in
        guard cached.stores === stores, let read = cached.commits, own.isSameCommit(as: read.own),
          common.isSameCommit(as: read.common)
        else { return nil }
        return cached.table
      }
      if let unchanged { return unchanged }
      try settings.fill(from: own, of: stores.user) { faults[$0.name.rawValue] = "\($0)" }
      try settings.fill(from: common, of: nil) { faults[$0.name.rawValue] = "\($0)" }
      for snapshot in [common, own] {
        if let fault = IndexSettings.fieldsFault(in: snapshot) { faults[IndexSettings.Name.fields.rawValue] = fault }
      }
      commits = (own, common)
    } catch SettingsError.closed {
      throw WorkspaceError.closed(user: stores.user)
    } catch WorkspaceError.closed {
      throw WorkspaceError.closed(user: stores.user)
    } catch {
      // What was read before the error counts. A key is a problem of its own.
      if !error.isAboutKeys { faults[MatchingSettings.Name.prefix + "*"] = "the settings cannot be read: \(error)" }
    }
    problems.set(.settingsFaulty, faults)
    let table = MatchingTable(settings, separators: separators)
    cached.withLock { cached in
      cached = Cached(stores: stores, table: table, commits: commits, checked: cached.checked)
    }
    return table
  }
}
