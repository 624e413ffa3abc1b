import Catalog
import HTTPSupport
import HTTPServer
import HTTPTypes
import JSONFormat
import Platform
import ServiceLifecycle

/// The form of a streamed answer.
enum StreamFormat: String {
  case ndjson = "application/x-ndjson"
  case csv = "text/csv; charset=utf-8"
  case events = "text/event-stream"
}

extension Studio {
  /// An answer whose parts are written as they are made. If the stores fail on the way, the connection is closed, so
  /// that a reader sees that the answer is not complete.
  static func stream(
    _ format: StreamFormat,
    _ body: @escaping @Sendable (_ write: ([UInt8]) async throws -> Void) async throws -> Void
  ) -> Response {
    var headers: HTTPFields = [.contentType: format.rawValue]
    // Their readers show each part when it arrives. A proxy may collect a file.
    if format != .csv { headers.setUnbuffered() }
    return Response(
      status: .ok, headers: headers, body: .stream { writer in try await body { try await writer.write($0) } })
  }

  /// Lines of JSON.
  static func lines(_ values: [JSONText]) -> [UInt8] {
    var bytes: [UInt8] = []
    for value in values {
      value.append(to: &bytes)
      bytes.append(0x0A)
    }
    return bytes
  }

  private static var pollInterval: Duration { .milliseconds(200) }
  private static var heartbeat: Duration { .seconds(15) }

  func addEvents(to router: StudioRoutes) {
    addAsync(router, .get, "studio/api/events") { _ in
      let start = try await BlockingThread.run { try stores.snapshot().sequence }
      return Self.stream(.events) { write in
        var known = start
        var lastWrite = ContinuousClock.now
        try await write(ServerSentEvents.beginning)
        while !Task.isShuttingDownGracefully {
          try await Task.sleep(for: Self.pollInterval)
          // A store that cannot be read at this moment may be readable again later.
          if let now = try? await BlockingThread.run({ try stores.snapshot() }), now.sequence != known {
            let commits = now.sequence > known ? now.sequence - known : 0
            let data = JSONText.object([
              ("sequence", .uint(now.sequence)), ("products", .int(now.productCount)), ("commits", .uint(commits)),
            ])
            try await write(ServerSentEvents.bytes(kind: "commit", data: data.bytes))
            known = now.sequence
            lastWrite = .now
          } else if ContinuousClock.now - lastWrite > Self.heartbeat {
            try await write(ServerSentEvents.comment)
            lastWrite = .now
          }
        }
      }
    }
  }
}
