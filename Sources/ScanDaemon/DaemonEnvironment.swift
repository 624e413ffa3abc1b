import CatalogSync
internal import CoreMetrics
import UploadHTTP
import UploadQueue
import Workspace

/// Clock, chance, sleep and the lines to servers: what a test replaces so that it waits for nothing.
struct DaemonEnvironment: Sendable {
  typealias Listen = @Sendable (_ onEvent: @escaping @Sendable (NetworkEvent) -> Void) throws -> @Sendable () -> Void

  /// Clock, chance and sleep, of uploads as well.
  var time = QueueEnvironment.live
  /// The time since any fixed moment; does not go back.
  var uptime: @Sendable () -> Duration = {
    let start = startOfProcess
    return ContinuousClock.now - start
  }
  /// Makes what sends to a webhook.
  var webhook: @Sendable (WebhookOptions) throws -> WebhookTransport = { try .http($0) }
  /// Synchronises the catalogue of a user; `nil` does it as ``SyncOptions`` says.
  var synchronize: CatalogueSync.Step?
  /// Listens to changes of the network; what it returns ends that. `nil` where the system has nothing to listen to.
  var listen: Listen? = NetworkListener.isSupported ? Self.kernel : nil
  /// What queues hold at most.
  var queue = QueueOptions()
  /// Makes the metrics.
  var metrics: any MetricsFactory = MetricsSystem.factory
  /// Called inside each transaction, before its commit; what it throws is what the commit throws.
  var beforeCommit: @Sendable () throws -> Void = {}

  private static let kernel: Listen = { onEvent in
    let listener = try NetworkListener(onEvent: onEvent)
    return { listener.stop() }
  }
}

private let startOfProcess = ContinuousClock.now

/// What sends to one webhook.
struct WebhookTransport: Sendable {
  var send: UploadWorker.Transport
  /// Sends several uploads at once; `nil` where each goes alone.
  var sendBatch: UploadWorker.BatchTransport?
  var shutdown: @Sendable () async -> Void = {}

  static func http(_ webhook: WebhookOptions) throws -> WebhookTransport {
    var options = UploadHTTPOptions()
    options.headers = webhook.headers
    options.userAgent = "shelfmark-catalogd/\(Daemon.version)"
    options.secrets = webhook.secrets
    options.isPacked = webhook.isPacked
    options.timeout = webhook.timeout
    options.readsResponses = webhook.success != nil
    options.batchFormat = webhook.batchFormat
    let http = try UploadHTTPTransport(url: webhook.url, options: options)
    return WebhookTransport(
      send: { try await http.send($0) }, sendBatch: { try await http.send($0) },
      shutdown: { try? await http.shutdown() })
  }
}
