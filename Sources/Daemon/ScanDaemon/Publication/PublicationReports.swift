import Cryptography
import DocumentFormat
import Essentials
import JSONFormat
import PublicationSync
import TextFormat
import UploadQueue
import Workspace

/// Tells a receiver of the publisher's what this device has: when that changes, and else at most once a day.
///
/// The reports go through the queue of uploads, where a new one takes the place of one that waits.
final class PublicationReports: Sendable {
  /// The name that the reports have in the queue, in place of that of a webhook.
  static let kind = "publication-reports"
  static let interval = 86_400.0

  /// What was reported last.
  struct Last: Codable, Sendable, Equatable {
    var catalogue: String
    var sequence: UInt64
    var problem: String?
    /// Seconds since 1970.
    var time: Double
  }

  private let published: PublishedCatalogue
  private let context: DaemonContext
  private let onRecorded: @Sendable (_ user: String?) -> Void

  init(
    _ published: PublishedCatalogue, _ context: DaemonContext,
    onRecorded: @escaping @Sendable (_ user: String?) -> Void
  ) {
    self.published = published
    self.context = context
    self.onRecorded = onRecorded
  }

  /// The target of the reports.
  static func webhook(_ url: String) -> WebhookOptions {
    var options = WebhookOptions(name: kind, url: url)
    options.takesScans = false
    return options
  }

  /// Reports what the stores have, if that is due.
  func report(_ stores: UserStores) async {
    do {
      guard let state = published.reportedState(stores) else { return }
      let now = Double(context.time.now()) / 1e6
      let new = Last(catalogue: state.catalogue, sequence: state.sequence, problem: state.problem?.code, time: now)
      if let last = try stores.settings.get(.lastPublicationReport) {
        let isSame = (last.catalogue, last.sequence, last.problem) == (new.catalogue, new.sequence, new.problem)
        // A clock that was ahead does not silence the device.
        if isSame, (0..<Self.interval).contains(now - last.time) { return }
      }
      guard let documents = try context.userDocuments.documents(of: stores, creates: true) else { return }
      let json = try json(state, stores)
      try await documents.queue.enqueue(
        payload: .json(UploadJSON(written: json.bytes)), kind: Self.kind, replaceKey: Self.kind)
      try stores.settings.set(.lastPublicationReport, to: new)
      onRecorded(stores.user)
    } catch {
      context.logger.info("what this device has was not reported", metadata: ["reason": "\(error)"])
    }
  }

  private func json(_ state: PublishedCatalogue.ReportedState, _ stores: UserStores) throws -> JSONText {
    // The machine's own id is nobody else's business.
    let id = PublicationClient.deviceID(ofUser: stores.user ?? "")
    let device = Hexadecimal.text(try Hash.sha256(of: Array("shelfmark device \(id)".utf8)), .lowercase).prefix(32)
    let catalogue = try stores.catalogue()
    let since = catalogue.store.map { DateText.text(Date(microseconds: $0.time)) }
    let age = context.access.age(catalogue, of: stores).ageSeconds(at: Date(microseconds: context.time.now()))
    return .object([
      ("device", .text(String(device))), ("sequence", .uint(state.sequence)), ("digest", .optional(state.digest)),
      ("since", .optional(since)), ("age", age.map { .int(Int($0)) } ?? .null), ("mirror", .optional(state.mirror)),
      ("problem", .optional(state.problem.map { "\($0.code): \($0.reason)" })), ("version", .text(Daemon.version)),
    ])
  }
}

extension Setting where Value == PublicationReports.Last? {
  /// What was last reported of the publication.
  fileprivate static var lastPublicationReport: Setting { Setting("daemon.lastPublicationReport", default: nil) }
}
