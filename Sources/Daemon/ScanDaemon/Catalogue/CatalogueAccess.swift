import Catalog
import Essentials
import Synchronization
import UploadQueue
import Workspace

extension Setting where Value == Double? {
  /// The time of the last synchronisation, in seconds since 1970. It is stored because a synchronisation that finds
  /// nothing new makes no commit.
  static var lastSynchronization: Setting { Setting("daemon.lastSynchronization", default: nil) }
}

/// The stores of the signed-in user, the age of their catalogue, and how their scans are matched.
final class CatalogueAccess: Sendable {
  private struct Success {
    weak var stores: UserStores?
    /// Seconds since 1970.
    var time: Double?
  }

  let workspace: Workspace
  /// How the scans of the signed-in user are matched.
  let matching: MatchingAccess
  /// The last successful synchronisation of the stores that were read last.
  private let success = Mutex(Success())
  /// When the time of a success was last written, in seconds since 1970.
  private let written = Mutex(0.0)
  /// How often the time of a success without changes is written.
  private static let writePeriod = 300.0
  /// How far a time may be in the future before it counts as written by a clock that was ahead, in seconds.
  private static let tolerance = 10.0

  /// A commit whose time is in the future, and when it was first seen, on the clock that only goes forward.
  private struct Future {
    weak var stores: UserStores?
    var sequence: UInt64 = 0
    var since: Int64 = 0
  }

  private let time: QueueEnvironment
  private let future = Mutex(Future())

  init(_ workspace: Workspace, _ matching: MatchingAccess, _ time: QueueEnvironment) {
    self.time = time
    self.workspace = workspace
    self.matching = matching
  }

  /// The stores of the signed-in user; the default stores if no user is signed in.
  func stores() throws -> UserStores {
    do { return try workspace.stores() } catch WorkspaceError.notSignedIn { return workspace.defaultStores }
  }

  /// The catalogue of the given stores.
  func catalogue(of stores: UserStores) throws -> CatalogSnapshot { try stores.catalogue() }

  /// Calls `body` with the current catalogue. Calls it a second time if a user signed in or out in the meantime.
  func withCatalogue<Result>(_ body: (CatalogSnapshot, UserStores) throws -> Result) throws -> Result {
    do {
      return try withCatalogue(of: stores(), body)
    } catch WorkspaceError.closed {
      return try withCatalogue(of: stores(), body)
    }
  }

  /// Calls `body` with the catalogue, and again if it found damage in a file over which another one was written meanwhile:
  /// what is there now may be whole.
  private func withCatalogue<Result>(
    of stores: UserStores, _ body: (CatalogSnapshot, UserStores) throws -> Result
  ) throws -> Result {
    let shown = try stores.catalogue()
    do { return try body(shown, stores) } catch {
      guard CatalogueHealth.isDamage(error), let now = try? stores.catalogue(), now.store !== shown.store else {
        throw error
      }
      return try body(now, stores)
    }
  }

  // MARK: Age

  /// The age of a catalogue. A time from the future, which a clock that was ahead has left, does not count. If there is
  /// no other, the age counts from when the daemon first saw this commit.
  func age(_ snapshot: CatalogSnapshot, of stores: UserStores) -> CatalogueAge {
    let latest = snapshot.store.map { commit in
      let now = Double(time.now()) / 1e6
      let known = [Double(commit.time) / 1e6, lastSuccess(of: stores)].compactMap(\.self)
      return known.filter { $0 <= now + Self.tolerance }.max() ?? now - timeSinceSeen(commit.sequence, stores)
    }
    return CatalogueAge(
      user: stores.user, cursor: snapshot.cursor, sequence: snapshot.sequence,
      currentAt: latest.map(Date.init(timeIntervalSince1970:)))
  }

  /// The seconds since a commit from the future was first seen.
  private func timeSinceSeen(_ sequence: UInt64, _ stores: UserStores) -> Double {
    let uptime = time.uptime()
    return future.withLock { future in
      if future.stores !== stores || future.sequence != sequence {
        future = Future(stores: stores, sequence: sequence, since: uptime)
      }
      return Double(uptime - future.since) / 1e6
    }
  }

  /// The time of the last successful synchronisation of the given stores, in seconds since 1970.
  func lastSuccess(of stores: UserStores) -> Double? {
    if let cached = success.withLock({ $0.stores === stores ? Optional($0.time) : nil }) { return cached }
    // If the setting cannot be read, the age is computed from the time of the commit.
    let time = (try? stores.settings.get(.lastSynchronization)) ?? nil
    success.withLock { success in
      // A synchronisation that ended in the meantime has a newer value; keep it.
      if success.stores !== stores { success = Success(stores: stores, time: time) }
    }
    return time
  }

  /// Whether the time of a success was written so recently that another one need not be.
  func isWritten(at time: Double) -> Bool { abs(time - written.withLock { $0 }) < Self.writePeriod }

  func wrote(at time: Double) { written.withLock { $0 = time } }

  func succeeded(_ stores: UserStores, at time: Double) {
    success.withLock { $0 = Success(stores: stores, time: time) }
  }
}
