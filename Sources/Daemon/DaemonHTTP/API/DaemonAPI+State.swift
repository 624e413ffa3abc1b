import HTTPServer
import CatalogSync
import JSONFormat
import ScanDaemon
import ServiceLifecycle

extension DaemonAPI {
  var stateRoutes: [Route] {
    [
      Route(method: .get, path: "/healthz", access: .anybody, work: .immediate(health)),
      Route(method: .get, path: "/readyz", access: .anybody, work: .answer(readiness)),
      Route(method: .get, path: "/metrics", access: .machine, work: .answer(metricsText)),
      Route(method: .get, path: "/openapi.json", work: .immediate(describe)),
      Route(method: .get, path: "/v1/status", work: .answer(status)),
      Route(method: .get, path: "/v1/events", parameters: ["kinds", "lastEventId", "latency"], work: .events),
      Route(method: .get, path: "/v1/sync", work: .answer(syncState)),
      Route(method: .post, path: "/v1/sync", body: .optional, members: ["full"], work: .answer(syncNow)),
      Route(method: .get, path: "/v1/session", work: .answer(user)),
      Route(method: .post, path: "/v1/session", body: .required, members: ["user"], work: .answer(signIn)),
      Route(method: .delete, path: "/v1/session", work: .answer(signOut)),
    ]
  }

  @Sendable private func health(_ call: RouteCall) -> Response { Response(.object([("status", .text("ok"))])) }

  /// Reveals only where to find details, because no token is required here.
  @Sendable private func readiness(_ call: RouteCall) async throws -> Response {
    if let reason = try await aside({ daemon.unreadiness }) {
      throw ErrorResponse.unavailable("notReady", "\(reason); GET /v1/status says more")
    }
    return Response(.object([("status", .text("ready"))]))
  }

  @Sendable private func metricsText(_ call: RouteCall) async throws -> Response {
    guard let metrics else { throw ErrorResponse.notFound("this daemon keeps no metrics; configure it to") }
    var answer = Response(json: try await aside(metrics))
    answer.headers[.contentType] = "text/plain; version=0.0.4; charset=utf-8"
    return answer
  }

  @Sendable private func describe(_ call: RouteCall) -> Response { Response(json: document) }

  @Sendable private func status(_ call: RouteCall) async throws -> Response {
    try await aside { Response(daemon.status()) }
  }

  // MARK: Synchronisation

  @Sendable private func syncState(_ call: RouteCall) async throws -> Response {
    try await aside { Response(daemon.sync.json) }
  }

  @Sendable private func syncNow(_ call: RouteCall) async throws -> Response {
    let isFull = try call.body.bool("full") ?? false
    let sync = daemon.sync
    // A separate task, so that the server can shut down without waiting for the synchronisation.
    let (results, continuation) = AsyncStream.makeStream(
      of: Result<ImportReport, any Error>.self, bufferingPolicy: .bufferingOldest(1))
    Task {
      do {
        continuation.yield(.success(try await sync.syncNow(full: isFull)))
      } catch {
        continuation.yield(.failure(error))
      }
      continuation.finish()
    }
    for await result in results.cancelOnGracefulShutdown() {
      do {
        return Response(try result.get().json)
      } catch {
        let errorResponse = ErrorResponse(ofDaemon: error)
        // An error that is not the daemon's is the catalogue server's, or is in its response.
        throw errorResponse.code == "internal"
          ? ErrorResponse(.badGateway, "syncFailed", errorResponse.message) : errorResponse
      }
    }
    throw ErrorResponse.unavailable("shuttingDown", "the daemon ends; ask the next one")
  }

  // MARK: Users

  @Sendable private func user(_ call: RouteCall) async throws -> Response { try await aside { try userAnswer() } }

  @Sendable private func signIn(_ call: RouteCall) async throws -> Response {
    guard let user = try call.body.text("user") else { throw ErrorResponse.badRequest("user: a text, who signs in") }
    try await daemon.signIn(user)
    return try await aside { try userAnswer() }
  }

  @Sendable private func signOut(_ call: RouteCall) async throws -> Response {
    try await daemon.signOut()
    return try await aside { try userAnswer() }
  }

  private func userAnswer() throws -> Response { Response(.object([("user", .optional(try daemon.user()))])) }
}

extension ImportReport {
  /// The report of a synchronisation as JSON.
  fileprivate var json: JSONText {
    .object(update.fields(bytesIn: payload.bytesIn) + update.notices.fields)
  }
}
