import Platform
import ServiceLifecycle
import Synchronization
import UploadQueue

/// A service that reports uploads waiting for a person's decision in the queues of all users: parked uploads, and the
/// order keys that they hold. It also ends the problem of a failing webhook whose failed uploads are gone.
///
/// It reads the stores, so it also sees uploads that were parked before the daemon started, and those that another
/// process retries or drops.
final class QueueWatch: Service {
  /// The interval of checks of the signed-in user's queue, and of queues with failed uploads.
  static let interval: Duration = .seconds(5)
  /// The interval of checks of all other users' queues.
  static let intervalOfOthers: Duration = .seconds(60)
  /// The maximum number of failed uploads that are remembered for each webhook.
  static let maximumFailing = 100

  /// The uploads of one queue that wait for a decision.
  private struct Undecided {
    var counts: QueueCounts
    var parked: [ParkedUploads]
    var held: [HeldKey]
  }

  private struct State {
    /// Uploads whose last attempt failed, by webhook.
    var failing: [String: [UploadID: UploadQueue]] = [:]
    var undecided: [UserDocumentsTable.Key: Undecided] = [:]
    var othersAreDue: Duration = .zero
    /// The webhooks whose gauges have been set.
    var gauges: Set<String> = []
  }

  private let webhooks: Webhooks
  private let context: DaemonContext
  private let state = Mutex(State())
  private let wakes: WakeSignal
  private let thread = BlockingThread("daemon.queues")

  init(_ context: DaemonContext, webhooks: Webhooks) {
    self.context = context
    self.webhooks = webhooks
    wakes = context.parkings
    state.withLock { $0.gauges = Set(webhooks.options.map(\.name)) }
  }

  func run() async throws {
    // Without webhooks, the uploads in the queues belong to another program.
    if webhooks.options.isEmpty { return await wakes.untilShutdown { await wakes.wait(nil, context.time.sleep) } }
    await wakes.untilShutdown {
      while !wakes.isFinished, !Task.isCancelled {
        _ = try? await thread.run { [self] in check() }
        await wakes.wait(Self.interval, context.time.sleep)
      }
    }
  }

  // MARK: Reports from workers

  /// Records a failed attempt of an upload that will be retried.
  func failed(_ upload: UploadID, _ queue: UploadQueue, webhook: String, _ message: String) {
    state.withLock { state in
      if state.failing[webhook]?.count ?? 0 < Self.maximumFailing {
        state.failing[webhook, default: [:]][upload] = queue
      }
    }
    context.problems.report(.webhookFailing, message, about: webhook)
  }

  /// Records that an upload, which may have failed before, was delivered or parked.
  func ended(_ upload: UploadID, webhook: String) {
    let isLast = state.withLock { state in
      guard state.failing[webhook]?.removeValue(forKey: upload) != nil else { return false }
      return state.failing[webhook]?.isEmpty ?? true
    }
    if isLast { context.problems.clear(.webhookFailing, about: webhook) }
  }

  // MARK: Checks

  private func check() {
    forgetDecided()
    let now = context.uptime()
    let isFull = state.withLock { state in
      guard state.othersAreDue <= now else { return false }
      state.othersAreDue = now + Self.intervalOfOthers
      return true
    }
    let current = try? context.access.stores().user
    let users = isFull ? (try? context.userDocuments.users()) ?? [current ?? nil] : [current ?? nil]
    var seen: Set<UserDocumentsTable.Key> = []
    for user in users {
      let key = UserDocumentsTable.Key(user)
      seen.insert(key)
      // A queue that cannot be read is reported elsewhere, and keeps its numbers.
      guard let documents = try? context.userDocuments.documents(ofUser: user) else { continue }
      do {
        let undecided = try undecided(documents.queue, before: isFull ? nil : state.withLock { $0.undecided[key] })
        state.withLock { $0.undecided[key] = undecided }
      } catch { continue }
    }
    let (undecided, names) = state.withLock { state in
      // Remove users that no longer exist.
      if isFull { state.undecided = state.undecided.filter { seen.contains($0.key) } }
      let undecided = Array(state.undecided.values)
      state.gauges.formUnion(undecided.flatMap { $0.parked.map(\.kind) })
      return (undecided, state.gauges)
    }
    report(undecided, names)
  }

  private func undecided(_ queue: UploadQueue, before: Undecided?) throws -> Undecided {
    let counts = try queue.counts()
    // Nothing was parked, retried, dropped or replaced.
    if let before, before.counts.parked == counts.parked, before.counts.removed == counts.removed,
      before.counts.superseded == counts.superseded, before.counts.dropped == counts.dropped,
      counts.parked == 0 || before.counts.delivered == counts.delivered
    {
      return before
    }
    return Undecided(counts: counts, parked: try queue.parkedUploads(), held: try queue.heldKeys())
  }

  private func report(_ undecided: [Undecided], _ names: Set<String>) {
    var parked: [String: String] = [:]
    var held: [String: String] = [:]
    for name in names {
      let uploads = undecided.flatMap(\.parked).filter { $0.kind == name }
      let keys = undecided.flatMap(\.held).filter { $0.kind == name }
      let count = uploads.reduce(0) { $0 + $1.count }
      context.metrics.parked(name, uploads: count, keys: keys.count)
      if count > 0 {
        let reason = uploads.last?.failure.map { ": \($0.message)" } ?? ""
        let words = count == 1 ? "an upload is parked" : "\(count) uploads are parked; the last one"
        parked[name] = words + reason
      }
      if let first = keys.first {
        let reason = first.failure.map { ": \($0.message)" } ?? ""
        let more = keys.count == 1 ? "" : ", and \(keys.count - 1) more order keys wait"
        held[name] = "\(first.orderKey) waits for a decision about the parked upload \(first.upload)\(more)\(reason)"
      }
    }
    context.problems.set(.uploadsParked, parked)
    context.problems.set(.keysHeld, held)
  }

  /// Forgets failed uploads that another process dropped, or that are parked: they no longer mean that the webhook
  /// fails.
  private func forgetDecided() {
    for (webhook, uploads) in state.withLock({ $0.failing }) {
      for (id, queue) in uploads {
        guard let upload = try? queue.upload(id) else {
          // Either the upload is gone, or the store cannot be read now.
          if (try? queue.counts()) != nil { ended(id, webhook: webhook) }
          continue
        }
        if upload.state == .parked { ended(id, webhook: webhook) }
      }
    }
  }
}
