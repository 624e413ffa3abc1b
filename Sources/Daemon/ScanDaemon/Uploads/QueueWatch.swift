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
  /// The interval of checks of the signed-in user's queue, and of queues with failed uploads. ``QueueSurvey`` finds what
  /// changed in the queues of the others.
  static let interval: Duration = .seconds(5)
  /// The maximum number of failed uploads that are remembered for each webhook.
  static let maximumFailing = 100

  private struct State {
    /// Uploads whose last attempt failed, by webhook.
    var failing: [String: [UploadID: UploadQueue]] = [:]
    /// The webhooks whose gauges have been set.
    var gauges: Set<String> = []
  }

  private let webhooks: Webhooks
  private let survey: QueueSurvey
  private let context: DaemonContext
  private let state = Mutex(State())
  private let wakes: WakeSignal
  private let thread = BlockingThread("daemon.queues")

  init(_ context: DaemonContext, webhooks: Webhooks, survey: QueueSurvey) {
    self.context = context
    self.survey = survey
    self.webhooks = webhooks
    wakes = context.parkings
    state.withLock { $0.gauges = Set(webhooks.options.map(\.name)) }
  }

  func run() async throws {
    // Without webhooks, the uploads in the queues belong to another program, or are of webhooks that were configured
    // before. They are not touched, and shown.
    if webhooks.options.isEmpty {
      return await wakes.untilShutdown {
        while !wakes.isFinished, !Task.isCancelled {
          _ = try? await thread.run { [self] in showUnsent() }
          await wakes.wait(Self.interval, context.time.sleep)
        }
      }
    }
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

  /// Shows what waits in the queue of the current user, though there is no webhook that it could be sent to.
  private func showUnsent() {
    guard let stores = try? context.access.stores(),
      let documents = (try? context.userDocuments.documents(ofUser: stores.user)) ?? nil
    else { return }
    try? survey.refresh(documents)
    let waiting = survey.summaries.flatMap(\.waiting)
    let isFirst = state.withLock { state in
      let isFirst = state.gauges.isEmpty && !waiting.isEmpty
      state.gauges.formUnion(waiting.map(\.kind))
      return isFirst
    }
    let now = context.time.now()
    for kind in state.withLock({ $0.gauges }) {
      let uploads = waiting.first { $0.kind == kind }
      context.metrics.waiting(
        kind, uploads: uploads?.count ?? 0,
        oldestSeconds: uploads.map { max(0, Double(now) - Double($0.oldest)) / 1e6 } ?? 0)
    }
    if !isFirst { return }
    let count = waiting.reduce(0) { $0 + $1.count }
    context.logger.warning(
      "uploads wait, and no webhook is configured: configure those that they are for, or send them with 'catalogctl queue run'",
      metadata: ["uploads": "\(count)", "webhooks": "\(waiting.map(\.kind).joined(separator: ", "))"])
  }

  private func check() {
    forgetDecided()
    // A queue that cannot be read is reported elsewhere, and keeps its numbers.
    if let stores = try? context.access.stores(),
      let documents = (try? context.userDocuments.documents(ofUser: stores.user)) ?? nil
    {
      try? survey.refresh(documents)
    }
    let summaries = survey.summaries
    let names = state.withLock { state in
      state.gauges.formUnion(summaries.flatMap { $0.parked.map(\.kind) + $0.waiting.map(\.kind) })
      return state.gauges
    }
    report(summaries, names)
  }

  private func report(_ summaries: [QueueSummary], _ names: Set<String>) {
    let waiting = Dictionary(grouping: summaries.flatMap(\.waiting), by: \.kind)
    let parkedByKind = Dictionary(grouping: summaries.flatMap(\.parked), by: \.kind)
    let heldByKind = Dictionary(grouping: summaries.flatMap(\.held), by: \.kind)
    let now = context.time.now()
    var parked: [String: String] = [:]
    var held: [String: String] = [:]
    for name in names {
      let uploads = parkedByKind[name] ?? []
      let keys = heldByKind[name] ?? []
      let count = uploads.reduce(0) { $0 + $1.count }
      context.metrics.parked(name, uploads: count, keys: keys.count)
      let oldest = waiting[name]?.lazy.map(\.oldest).min()
      context.metrics.waiting(
        name, uploads: waiting[name]?.reduce(0) { $0 + $1.count } ?? 0,
        // The clock may have been set back since.
        oldestSeconds: oldest.map { max(0, Double(now) - Double($0)) / 1e6 } ?? 0)
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
