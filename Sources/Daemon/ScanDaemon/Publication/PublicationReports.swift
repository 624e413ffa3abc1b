import Cryptography
import DocumentFormat
import Essentials
import JSONFormat
import PublicationFormat
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
    /// The state that the publisher has for this device.
    var target: UInt64?
    /// The number of the report; `nil` in a report of a former version, which had none.
    var number: UInt64?
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
  static func webhook(_ url: String, authorization: String?) -> WebhookOptions {
    var options = WebhookOptions(name: kind, url: url)
    if let authorization { options.headers = [("Authorization", authorization)] }
    options.takesScans = false
    return options
  }

  /// Reports what the stores have, if that is due.
  func report(_ stores: UserStores) async {
    do {
      guard let state = published.reportedState(stores) else { return }
      let now = Double(context.time.now()) / 1e6
      let last = try stores.settings.get(.lastPublicationReport)
      let new = Last(
        catalogue: state.catalogue, sequence: state.sequence, problem: state.problem?.code, target: state.target,
        number: (last?.number ?? 0) + 1, time: now)
      if let last {
        let isSame =
          (last.catalogue, last.sequence, last.problem, last.target)
          == (new.catalogue, new.sequence, new.problem, new.target)
        // A clock that was ahead does not silence the device.
        if isSame, (0..<Self.interval).contains(now - last.time) { return }
      }
      guard let documents = try context.userDocuments.documents(of: stores, creates: true) else { return }
      let json = try json(state, stores, number: new.number)
      try await documents.queue.enqueue(
        payload: .json(UploadJSON(written: json.bytes)), kind: Self.kind, replaceKey: Self.kind)
      try stores.settings.set(.lastPublicationReport, to: new)
      onRecorded(stores.user)
    } catch {
      context.logger.info("what this device has was not reported", metadata: ["reason": "\(error)"])
    }
  }

  private func json(
    _ state: PublishedCatalogue.ReportedState, _ stores: UserStores, number: UInt64?
  ) throws -> JSONText {
    let now = Date(microseconds: context.time.now())
    // The machine's own id is nobody else's business.
    let id = PublicationClient.deviceID(ofUser: stores.user ?? "")
    let device = Hexadecimal.text(try Hash.sha256(of: Array("shelfmark device \(id)".utf8)), .lowercase).prefix(32)
    let catalogue = try stores.catalogue()
    let since = catalogue.store.map { DateText.text(Date(microseconds: $0.time)) }
    let age = context.access.age(catalogue, of: stores).ageSeconds(at: now)
    return .object([
      ("device", .text(String(device))), ("sequence", .uint(state.sequence)), ("digest", .optional(state.digest)),
      ("since", .optional(since)), ("age", age.map { .int(Int($0)) } ?? .null), ("mirror", .optional(state.mirror)),
      ("problem", .optional(state.problem.map { "\($0.code): \($0.reason)" })), ("version", .text(Daemon.version)),
      ("catalogue", .text(state.catalogue)),
      ("ring", state.ring.map { .raw(Array(PublicationHead.Ring.text(ofPercent: $0).utf8)) } ?? .null),
      ("target", state.target.map(JSONText.uint) ?? .null), ("number", number.map(JSONText.uint) ?? .null),
      ("time", .text(now.precise)),
    ])
  }
}

extension Setting where Value == PublicationReports.Last? {
  /// What was last reported of the publication.
  fileprivate static var lastPublicationReport: Setting { Setting("daemon.lastPublicationReport", default: nil) }
}
