import CatalogSync
internal import CoreMetrics
import UploadHTTP
import UploadQueue
import Workspace

/// A daemon's clock, randomness, sleep and connections to servers. Tests replace them to avoid waiting.
struct DaemonEnvironment: Sendable {
  typealias Listen = @Sendable (_ onEvent: @escaping @Sendable (NetworkEvent) -> Void) throws -> @Sendable () -> Void

  /// The clock, randomness and sleep, also for uploads.
  var time = QueueEnvironment.live
  /// A monotonic time since an arbitrary fixed moment.
  var uptime: @Sendable () -> Duration = {
    let start = startOfProcess
    return ContinuousClock.now - start
  }
  /// Creates the transport of a webhook.
  var webhook: @Sendable (WebhookOptions) throws -> WebhookTransport = { try .http($0) }
  /// Synchronises a user's catalogue; `nil` to use ``SyncOptions``.
  var synchronize: CatalogueSync.Step?
  /// Starts listening for network changes and returns a closure that stops it. `nil` if the system does not support it.
  var listen: Listen? = NetworkListener.isSupported ? Self.kernel : nil
  /// The limits of queues.
  var queue = QueueOptions()
  /// The factory of the metrics.
  var metrics: any MetricsFactory = MetricsSystem.factory
  /// Called inside each transaction before its commit. An error thrown here is thrown by the commit.
  var beforeCommit: @Sendable () throws -> Void = {}

  private static let kernel: Listen = { onEvent in
    let listener = try NetworkListener(onEvent: onEvent)
    return { listener.stop() }
  }
}

private let startOfProcess = ContinuousClock.now

/// The transport of one webhook.
struct WebhookTransport: Sendable {
  var send: UploadWorker.Transport
  /// Sends several uploads in one request; `nil` to send each on its own.
  var sendBatch: UploadWorker.BatchTransport?
  var shutdown: @Sendable () async -> Void = {}

  static func http(_ webhook: WebhookOptions) throws -> WebhookTransport {
    var options = UploadHTTPOptions()
    options.headers = webhook.headers
    options.userAgent = "shelfmark-catalogd/\(Daemon.version)"
    options.secrets = webhook.secrets
    options.isCompressed = webhook.isCompressed
    options.timeout = webhook.timeout
    options.certificateAuthorityFile = webhook.certificateAuthorityFile
    options.names =
      webhook.takesScans
      ? UploadHTTPOptions.Names(
        url: "webhooks.\(webhook.name).url", certificateAuthorityFile: "webhooks.\(webhook.name).caFile")
      : UploadHTTPOptions.Names(url: "sync.reportsUrl", certificateAuthorityFile: "sync.caFile")
    options.readsResponses = webhook.success != nil
    options.batchFormat = webhook.batchFormat
    options.acceptsHTML = webhook.acceptsHTML
    let http = try UploadHTTPTransport(url: webhook.url, options: options)
    return WebhookTransport(
      send: { try await http.send($0) }, sendBatch: { try await http.send($0) },
      shutdown: { try? await http.shutdown() })
  }
}
