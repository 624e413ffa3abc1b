import Catalog
import LogStore
import Synchronization
import Workspace

/// Whether the catalogue of who is signed in can be read, and who repairs it.
///
/// A catalogue may be opened and still have damaged bytes that a lookup runs into. So a code whose lookup failed is looked up again
/// and again until it can be: one good answer to another code says nothing.
final class CatalogueHealth: Sendable {
  private struct Failure {
    /// Whose catalogue.
    weak var stores: UserStores?
    let code: String
  }

  private let access: CatalogueAccess
  private let problems: Problems
  /// Called for each look at a catalogue that is damaged, rather than out of reach for now.
  private let onDamage: @Sendable () -> Void
  /// Called when a catalogue can be read that has commits, after it could not be or had none.
  private let onReadable: @Sendable () -> Void
  /// The lookup that failed last.
  private let failure = Mutex<Failure?>(nil)
  private let wasReadable = Mutex(false)

  init(
    _ access: CatalogueAccess, _ problems: Problems, onDamage: @escaping @Sendable () -> Void,
    onReadable: @escaping @Sendable () -> Void
  ) {
    self.access = access
    self.problems = problems
    self.onDamage = onDamage
    self.onReadable = onReadable
  }

  /// A lookup failed.
  func failed(_ code: String, _ error: any Error) {
    let stores = try? access.stores()
    failure.withLock { $0 = Failure(stores: stores, code: code) }
    note(error)
  }

  /// Opens the catalogue, and repeats the lookup that failed, if one did.
  func look() {
    do {
      let sequence = try access.withCatalogue { catalogue, stores in
        if let failure = failure.withLock({ $0 }), failure.stores === stores { _ = try catalogue.match(failure.code) }
        return catalogue.sequence
      }
      failure.withLock { $0 = nil }
      problems.clear(.catalogueUnreadable)
      let message =
        sequence > 0
        ? nil
        : (try? access.stores().user).flatMap(\.self).map { "\($0) has no catalogue yet" }
          ?? "nobody is signed in, and there is no catalogue that belongs to nobody"
      problems.set(.catalogueNeverSynchronised, message)
      let isReadable = sequence > 0
      let isNews = wasReadable.withLock { was in
        defer { was = isReadable }
        return isReadable && !was
      }
      if isNews { onReadable() }
    } catch {
      note(error)
    }
  }

  private func note(_ error: any Error) {
    wasReadable.withLock { $0 = false }
    problems.note(.catalogueUnreadable, "\(error)")
    problems.clear(.catalogueNeverSynchronised)
    if Self.isDamage(error) { onDamage() }
  }

  /// Whether another copy of the catalogue is the remedy.
  static func isDamage(_ error: any Error) -> Bool {
    switch error {
    case let error as StoreError: error.isDamage
    case CatalogError.store(let error): error.isDamage
    case CatalogError.otherStore: true
    default: false
    }
  }
}
