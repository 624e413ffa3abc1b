import UploadQueue

/// The transports of all webhooks.
final class Webhooks: Sendable {
  let options: [WebhookOptions]
  private let transports: [String: WebhookTransport]

  /// - Throws: `UploadHTTPError` for an invalid address or header.
  init(_ options: [WebhookOptions], _ make: (WebhookOptions) throws -> WebhookTransport) throws {
    self.options = options
    var transports: [String: WebhookTransport] = [:]
    do {
      for webhook in options where transports[webhook.name] == nil { transports[webhook.name] = try make(webhook) }
    } catch {
      Self.shutdown(transports)
      throw error
    }
    self.transports = transports
  }

  deinit { Self.shutdown(transports) }

  /// Closes connections after the last reference is gone, when nothing is being sent.
  private static func shutdown(_ transports: [String: WebhookTransport]) {
    for transport in transports.values { Task { await transport.shutdown() } }
  }

  /// Sends an upload to the webhook whose name is its kind.
  ///
  /// - Throws: `UploadRefusal` if no webhook has that name any more.
  func send(_ upload: Upload) async throws -> UploadResponse { try await transport(upload.kind).send(upload) }

  /// Sends several uploads to the webhook whose name is their kind.
  ///
  /// - Throws: `UploadRefusal` if no webhook has that name any more, or it takes no batches.
  func send(_ batch: UploadBatch) async throws -> UploadResponse {
    guard let send = try transport(batch.kind).sendBatch else {
      throw UploadRefusal("the webhook \(batch.kind.debugDescription) takes no batches")
    }
    return try await send(batch)
  }

  private func transport(_ kind: String) throws(UploadRefusal) -> WebhookTransport {
    guard let transport = transports[kind] else {
      throw UploadRefusal("no webhook is named \(kind.debugDescription) now: configure one and retry it, or drop it")
    }
    return transport
  }

  /// The webhooks that want a scan: those for matches, those for misses, or all if the catalogue could not be read,
  /// because it is unknown which of the two the scan is.
  func wanting(_ answer: ScanAnswer) -> [WebhookOptions] {
    let options = options.filter(\.takesScans)
    if case .unreadable = answer.lookup { return options }
    return options.filter { answer.match.isEmpty ? $0.sendsMisses : $0.sendsMatches }
  }
}
