import Catalog
import CatalogHTTP
import CatalogSources
import CatalogSync
import LogStore
import PublicationSync
import Synchronization
import Workspace

extension CatalogueSync {
  /// What a synchronisation requests.
  enum Extent: Sendable {
    /// Only the changes since the last synchronisation.
    case increment
    /// The full catalogue.
    case full
    /// The full catalogue. An existing catalogue that cannot be opened is set aside.
    case replacement
  }

  /// A function that synchronises the given stores.
  typealias Step = @Sendable (_ stores: UserStores, _ extent: Extent) async throws -> Synchronization

  /// The step that the options ask for: from a server, or from a file, a folder or a database.
  ///
  /// - Throws: `TransportError` for an invalid address or header.
  static func step(_ options: SyncOptions, _ environment: DaemonEnvironment) throws -> Step {
    if let source = options.source { return rows(of: source, options, environment.time.sleep) }
    return try environment.synchronize ?? http(options)
  }

  private static func http(_ options: SyncOptions) throws -> Step {
    var transport = options.transport
    // The schedule retries and reports; the transport only retries failures that pass within moments.
    transport.retry.maximumAttempts = min(2, transport.retry.maximumAttempts)
    let http = try HTTPTransport(url: options.url, options: transport)
    let origin = options.organisation.map { CatalogueOrigin(source: options.url, organisation: $0) }
    return { stores, extent in
      var synchronizer = Synchronizer(http)
      synchronizer.options.threshold = options.threshold
      synchronizer.options.lossLimit = options.lossLimit
      synchronizer.options.extraKeys = options.extraKeys
      if options.lossLimit.share >= 1 { synchronizer.options.rowLimits = .acceptingCollapse }
      // ``CompactionService`` normally compacts while the daemon is idle; this policy bounds the file if it is never
      // idle.
      synchronizer.compaction = CompactionPolicy(share: 3, floor: 64 << 20)
      do {
        return try await stores.synchronize(
          synchronizer, from: origin, source: http.url, full: extent != .increment,
          replacesDamaged: extent == .replacement)
      } catch let error as TransportError {
        throw SyncFailure(description: error.description(naming: options.transport.names))
      }
    }
  }

  /// A step that imports what changed in a file, a folder or a database.
  private static func rows(
    of source: CatalogueSource, _ options: SyncOptions, _ sleep: @escaping @Sendable (Duration) async throws -> Void
  ) -> Step {
    let importers = SourceImporters(source, options.lossLimit)
    return { stores, extent in
      // A catalogue that cannot be read is compared with nothing.
      let last = try? stores.catalogue()
      let destination = SourceDestination(location: try stores.catalogueLocation(), last: last) {
        try stores.importWriter(replacesDamaged: extent == .replacement)
      } willCommit: {
        try stores.forgetOrigin()
      }
      let done = try await importers.importer(for: stores).run(
        extent == .increment ? .difference : .everything, into: destination, sleep: sleep)
      var synchronization = Synchronization(
        done.report, damagedPath: done.damagedPath, isUnchanged: done.isUnchanged)
      synchronization.notices = done.notices
      return synchronization
    }
  }

  /// Returns the same error, except that an error whose remedy is an option of `catalogctl` names the daemon's setting
  /// instead.
  static func namingSettings(_ error: any Error) -> any Error {
    // Faults of a file of one's own name the option of an import that takes it.
    if let error = error as? SourceRefused, error.description.contains(" --") {
      return SourceRefused(
        error.description + " (an option of 'catalogctl import' is a key of the mapping in sync.mapFile, such as"
          + " \"onDuplicate\": \"last\")")
    }
    if let error = error as? PublicationFailure { return PublishedCatalogue.namingSettings(error) }
    guard let error = error as? CatalogError else { return error }
    return switch error {
    case .wouldLose, .wouldLoseCodes:
      SyncFailure(description: error.description(acceptingLoss: "a larger share in sync.maximumLoss, and a reload"))
    case .wouldCollapse:
      SyncFailure(description: error.description(acceptingLoss: "sync.maximumLoss of 1, and a reload"))
    default: error
    }
  }
}

/// The importer of the stores that are synchronised, which remembers what it has imported into them.
private final class SourceImporters: Sendable {
  private struct State {
    weak var stores: UserStores?
    var importer: SourceImport
  }

  private let source: CatalogueSource
  private let lossLimit: LossLimit
  private let state: Mutex<State>

  init(_ source: CatalogueSource, _ lossLimit: LossLimit) {
    self.source = source
    self.lossLimit = lossLimit
    state = Mutex(State(importer: SourceImport(source, lossLimit)))
  }

  func importer(for stores: UserStores) -> SourceImport {
    state.withLock { state in
      if state.stores !== stores { state = State(stores: stores, importer: SourceImport(source, lossLimit)) }
      return state.importer
    }
  }
}
