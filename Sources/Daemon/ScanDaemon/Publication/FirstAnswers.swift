import Catalog
import CatalogHTTP
import Essentials
import JSONFormat
import PublicationSync
import ScanInputs
import Synchronization
import Workspace

/// Answers scans from a few parts of the publication while the catalogue has no rows yet.
///
/// Whatever fails, the answer is that of a device without a catalogue. A scan waits for at most ``timeout``, and for nothing
/// at all within ``pause`` after a failure, or if ``maximumCount`` others wait already.
final class FirstAnswers: Sendable {
  static let timeout: Duration = .seconds(5)
  static let pause: Duration = .seconds(10)
  static let maximumCount = 4

  private struct State {
    weak var stores: UserStores?
    var lookup: PublicationLookup?
    var waiting = 0
    /// When the next scan may ask after a failure, on the monotonic clock.
    var next: Duration?
    var count = 0
  }

  private let published: PublishedCatalogue
  private let context: DaemonContext
  private let state = Mutex(State())

  init(_ published: PublishedCatalogue, _ context: DaemonContext) {
    self.published = published
    self.context = context
  }

  /// The number of scans that were answered from the publication.
  var count: Int { state.withLock { $0.count } }

  /// The same answer, or that of the publication if there was no catalogue.
  func answer(_ answer: ScanAnswer) async -> ScanAnswer {
    // Without a user, nothing is synchronised.
    guard answer.lookup == .noCatalogue, let stores = try? context.access.workspace.stores(), begin(stores) else {
      return answer
    }
    defer { state.withLock { $0.waiting -= 1 } }
    do {
      guard let found = try await ask(answer.reading, stores) else { throw TimeoutError() }
      context.metrics.count(
        "shelfmark_first_answers_total",
        [("outcome", !found.isKnown ? "unknown" : found.match.isEmpty ? "missing" : "found")])
      guard found.isKnown else { return answer }
      state.withLock { $0.count += 1 }
      return answer.answered(
        found.match, asOf: PublishedRows(catalogue: found.head.catalogue, sequence: found.sequence))
    } catch {
      context.metrics.count("shelfmark_first_answers_total", [("outcome", "failed")])
      let isFirst = state.withLock { state in
        defer { state.next = context.uptime() + Self.pause }
        return state.next == nil
      }
      if isFirst {
        context.logger.notice(
          "scans cannot be answered from the publication yet",
          metadata: ["reason": "\((error as? PublicationFailure).map(PublishedCatalogue.namingSettings) ?? error)"])
      }
      return answer
    }
  }

  private struct TimeoutError: Error, CustomStringConvertible {
    var description: String { "it did not answer within \(FirstAnswers.timeout)" }
  }

  /// Whether a scan may ask the publication now.
  private func begin(_ stores: UserStores) -> Bool {
    let uptime = context.uptime()
    return state.withLock { state in
      if let next = state.next, uptime < next { return false }
      if state.waiting >= Self.maximumCount { return false }
      if state.stores !== stores || state.lookup == nil {
        guard let lookup = try? published.lookup(stores) else { return false }
        state.stores = stores
        state.lookup = lookup
      }
      state.waiting += 1
      return true
    }
  }

  /// What the publication says of a reading; `nil` if it took too long.
  private func ask(_ reading: Reading, _ stores: UserStores) async throws -> PublicationLookup.Answer? {
    guard let lookup = state.withLock({ $0.stores === stores ? $0.lookup : nil }) else { return nil }
    let table = try context.access.matching.table(of: stores)
    let fields = try stores.catalogue().fields
    return try await withThrowingTaskGroup(of: PublicationLookup.Answer?.self) { group in
      group.addTask { try await lookup.answer(fields: fields) { try $0.match(reading, table) } }
      group.addTask {
        try await Task.sleep(for: Self.timeout)
        return nil
      }
      defer { group.cancelAll() }
      return try await group.next() ?? nil
    }
  }
}

/// The published rows that an answer is from, if the catalogue had none yet.
public struct PublishedRows: Sendable, Equatable {
  /// The id of the published catalogue.
  public var catalogue: String
  /// The published state.
  public var sequence: UInt64

  var json: JSONText { .object([("catalogue", .text(catalogue)), ("sequence", .uint(sequence))]) }
}
