public import CatalogSync
public import JSONOutput
public import ServiceLifecycle

/// Keeps the catalogue of who is signed in current.
public final class CatalogueSync: Service, Sendable {
  /// Synchronises until graceful shutdown: at once, then on a schedule; after a failure sooner.
  public func run() async throws { fatalError("being built") }

  /// Synchronises now. Callers that come while one runs share the next one.
  ///
  /// - Throws: ``SyncUnavailable`` where no server is configured or nobody is signed in; what the synchronisation throws, after
  ///   which the catalogue is as it was.
  public func syncNow(full: Bool = false) async throws -> ImportReport { fatalError("being built") }

  /// What programs are told: when it was last tried and with what result, when next, since when the catalogue is old.
  public var json: JSONText { fatalError("being built") }
}

/// There is nothing to synchronise with, or for.
public enum SyncUnavailable: Error, Sendable, Equatable, CustomStringConvertible {
  case noServer, nobodySignedIn

  public var description: String { fatalError("being built") }
}
