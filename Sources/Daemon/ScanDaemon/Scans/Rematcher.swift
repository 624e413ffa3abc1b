import Catalog
import Documents
import Essentials
import ServiceLifecycle
import UploadQueue
import Workspace

/// A service that repeats the lookup of scans that could not be looked up when they were read. As soon as the catalogue
/// is readable, it sends each as a second event that refers to the first one.
///
/// A second answer and the removal of its pending scan are one commit, so a crash neither loses a scan nor sends one
/// twice.
final class Rematcher: Service {
  /// The interval between checks for pending scans.
  static let interval: Duration = .seconds(30)
  /// The number of scans per commit.
  static let batchCount = 100

  private let isOn: Bool
  private let recorder: ScanRecorder
  private let webhooks: Webhooks
  private let context: DaemonContext
  /// Called with the user that uploads were recorded for.
  private let onRecorded: @Sendable (_ user: String?) -> Void
  private let wakes = WakeSignal()

  init(
    _ context: DaemonContext, isOn: Bool, recorder: ScanRecorder, webhooks: Webhooks,
    onRecorded: @escaping @Sendable (_ user: String?) -> Void
  ) {
    self.context = context
    self.isOn = isOn
    self.recorder = recorder
    self.webhooks = webhooks
    self.onRecorded = onRecorded
  }

  /// Triggers a check because the catalogue may be readable now.
  func wake() { wakes.wake() }

  func run() async throws {
    await wakes.untilShutdown {
      while !wakes.isFinished, !Task.isCancelled {
        await lookUpAll()
        await wakes.wait(isOn ? Self.interval : nil, context.time.sleep)
      }
    }
  }

  /// Looks up all pending scans of the signed-in user and records the results.
  func lookUpAll() async {
    guard isOn else { return }
    do {
      let stores = try context.access.stores()
      guard let documents = try await recorder.open(stores), try documents.pending.count() > 0 else {
        return context.problems.clear(.rematchFailing)
      }
      // Lookups need a catalogue that opens. If it does not, that is reported as a separate problem.
      guard let catalogue = try? context.access.catalogue(of: stores), catalogue.sequence > 0 else { return }
      let scans = try documents.pending.query().order(by: \.id).fetch()
      var start = 0
      while start < scans.count, !wakes.isFinished, !Task.isCancelled {
        let end = min(start + Self.batchCount, scans.count)
        try await lookUp(Array(scans[start..<end]), catalogue, stores)
        start = end
      }
      context.problems.clear(.rematchFailing)
    } catch {
      context.report(.rematchFailing, error, of: context.user)
    }
  }

  private func lookUp(_ scans: [PendingScan], _ catalogue: CatalogSnapshot, _ stores: UserStores) async throws {
    let age = context.access.age(catalogue, of: stores)
    let table = try context.access.matching.table(of: stores)
    // A scan that cannot be looked up stays pending; later ones are still processed.
    let answers = scans.compactMap { scan -> ScanAnswer? in
      guard let match = try? catalogue.match(scan.reading, table) else { return nil }
      return ScanAnswer(
        id: context.ids.next(now: context.time.now()), time: Date(timeIntervalSince1970: scan.time),
        reading: scan.reading, match: match, catalogue: age, rematches: scan.id, recording: .durable)
    }
    let hooks = webhooks
    let entered = try await recorder.perform(for: stores) { transaction, documents in
      var entered: [(answer: ScanAnswer, line: [UInt8])] = []
      for answer in answers {
        // Another process may have removed it in the meantime.
        guard let id = answer.rematches, try transaction.get(id, from: documents.pending) != nil else { continue }
        try transaction.delete(id, from: documents.pending)
        let line = answer.json.bytes
        for hook in hooks.wanting(answer) { try documents.enqueue(answer, line, for: hook.name, transaction) }
        if answer.isMiss { try documents.enter(NewMiss(answer, stores), transaction) }
        entered.append((answer, line))
      }
      return entered
    }
    for (answer, line) in entered {
      context.metrics.count("shelfmark_rematches_total", [("match", answer.kind)])
      context.events.publish(.scan, line)
    }
    if !entered.isEmpty, !webhooks.options.isEmpty { onRecorded(stores.user) }
  }
}

extension UserDocuments {
  /// Adds an answer to the queue of a webhook, within a transaction. Uploads of one webhook and one input are sent in
  /// order.
  fileprivate func enqueue(
    _ answer: ScanAnswer, _ line: [UInt8], for hook: String, _ transaction: DocumentTransaction
  ) throws {
    let payload = UploadPayload.json(UploadJSON(written: line))
    let key = hook + "/" + answer.reading.input.cut(to: 900)
    try queue.enqueue(payload: payload, kind: hook, orderKey: key, in: transaction)
  }
}
