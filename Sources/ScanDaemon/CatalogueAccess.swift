import Catalog
import Synchronization
import Workspace

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Setting where Value == Double? {
  /// When the catalogue was last synchronised, in seconds since 1970: a server that had nothing newer leaves no commit.
  static var lastSynchronization: Setting { Setting("daemon.lastSynchronization", default: nil) }
}

/// Whose stores answer, and how old their catalogue is.
final class CatalogueAccess: Sendable {
  private struct Success {
    weak var stores: UserStores?
    /// Seconds since 1970.
    var time: Double?
  }

  let workspace: Workspace
  /// The last successful synchronisation of whom it was last asked for.
  private let success = Mutex(Success())

  init(_ workspace: Workspace) { self.workspace = workspace }

  /// The stores of who is signed in, or those that belong to nobody.
  func stores() throws -> UserStores {
    do { return try workspace.stores() } catch WorkspaceError.nobodySignedIn { return workspace.defaultStores }
  }

  /// The catalogue of these stores.
  func catalogue(of stores: UserStores) throws -> CatalogSnapshot { try stores.catalogue() }

  /// Runs `body` with a catalogue; once more where somebody signed in or out in that moment.
  func withCatalogue<Result>(_ body: (CatalogSnapshot, UserStores) throws -> Result) throws -> Result {
    do {
      let stores = try stores()
      return try body(stores.catalogue(), stores)
    } catch WorkspaceError.closed {
      let stores = try stores()
      return try body(stores.catalogue(), stores)
    }
  }

  // MARK: Age

  func age(_ snapshot: CatalogSnapshot, of stores: UserStores) -> CatalogueAge {
    let commit = snapshot.store.map { Double($0.time) / 1e6 }
    let latest = commit.map { max($0, lastSuccess(of: stores) ?? $0) }
    return CatalogueAge(
      user: stores.user, cursor: snapshot.cursor, sequence: snapshot.sequence,
      currentAt: latest.map(Date.init(timeIntervalSince1970:)))
  }

  /// When the catalogue of these stores was last synchronised, in seconds since 1970.
  func lastSuccess(of stores: UserStores) -> Double? {
    if let known = success.withLock({ $0.stores === stores ? Optional($0.time) : nil }) { return known }
    // What cannot be read is not known: the commit tells the age then.
    let time = (try? stores.settings.get(.lastSynchronization)) ?? nil
    success.withLock { success in
      // A synchronisation that ended meanwhile knows better.
      if success.stores !== stores { success = Success(stores: stores, time: time) }
    }
    return time
  }

  func succeeded(_ stores: UserStores, at time: Double) {
    success.withLock { $0 = Success(stores: stores, time: time) }
  }
}
