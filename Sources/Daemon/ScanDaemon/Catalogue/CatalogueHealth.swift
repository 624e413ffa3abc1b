import Catalog
import LogStore
import ScanInputs
import Synchronization
import Workspace

/// A health check of the signed-in user's catalogue, which also requests its repair.
///
/// A catalogue may open without error and still have damaged bytes that only some lookups reach. A code whose lookup
/// failed is therefore looked up again until that succeeds; a successful lookup of another code does not clear the
/// failure.
final class CatalogueHealth: Sendable {
  private struct Failure {
    /// The stores that the catalogue belongs to.
    weak var stores: UserStores?
    let reading: Reading
  }

  private let context: DaemonContext
  /// Called for each check that finds the catalogue damaged, but not for one that finds it temporarily unreadable.
  private let onDamage: @Sendable () -> Void
  /// Called when a catalogue that has commits becomes readable, after it was unreadable or empty.
  private let onReadable: @Sendable () -> Void
  /// The last lookup that failed.
  private let failure = Mutex<Failure?>(nil)
  private let wasReadable = Mutex(false)

  init(
    _ context: DaemonContext, onDamage: @escaping @Sendable () -> Void, onReadable: @escaping @Sendable () -> Void
  ) {
    self.context = context
    self.onDamage = onDamage
    self.onReadable = onReadable
  }

  /// Records a failed lookup.
  func failed(_ reading: Reading, _ error: any Error) {
    let stores = try? context.access.stores()
    failure.withLock { $0 = Failure(stores: stores, reading: reading) }
    report(error)
  }

  /// Opens the catalogue, and repeats the lookup that failed last, if any.
  func check() {
    do {
      let sequence = try context.access.withCatalogue { catalogue, stores in
        if let failure = failure.withLock({ $0 }), failure.stores === stores {
          _ = try catalogue.match(failure.reading, context.access.matching.table(of: stores))
        }
        return catalogue.sequence
      }
      failure.withLock { $0 = nil }
      context.problems.clear(.catalogueUnreadable)
      let message =
        sequence > 0
        ? nil
        : (try? context.access.stores().user).flatMap(\.self).map { "\($0) has no catalogue yet" }
          ?? "nobody is signed in, and there is no catalogue that belongs to nobody"
      context.problems.set(.catalogueNeverSynchronised, message)
      let isReadable = sequence > 0
      let isNews = wasReadable.withLock { was in
        defer { was = isReadable }
        return isReadable && !was
      }
      if isNews { onReadable() }
    } catch {
      report(error)
    }
  }

  private func report(_ error: any Error) {
    wasReadable.withLock { $0 = false }
    if error.isAboutKeys { context.problems.clear(.catalogueUnreadable) }
    context.report(.catalogueUnreadable, error, of: context.user)
    context.problems.clear(.catalogueNeverSynchronised)
    if Self.isDamage(error) { onDamage() }
  }

  /// Whether replacing the catalogue would fix the error.
  static func isDamage(_ error: any Error) -> Bool {
    switch error {
    case let error as StoreError: error.isDamage
    case CatalogError.store(let error): error.isDamage
    case CatalogError.otherStore: true
    default: false
    }
  }
}
