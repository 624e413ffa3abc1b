import CatalogSync
import Hummingbird
import JSONFormat
import ScanDaemon
import ServiceLifecycle

extension DaemonAPI {
  /// What anybody may ask.
  func addHealthRoutes(to routes: RouterGroup<DaemonContext>) {
    routes.get("healthz", use: health)
    routes.get("readyz", use: readiness)
  }

  func addMetricsRoute(to routes: RouterGroup<DaemonContext>) { routes.get("metrics", use: metricsText) }

  func addStateRoutes(to routes: RouterGroup<DaemonContext>) {
    routes.get("openapi.json", use: describe)
    routes.get("v1/status", use: status)
    routes.get("v1/events", use: listen)
    // Hummingbird's own answer to HEAD would announce a length of 0.
    routes.head("v1/events", use: listen)
    routes.get("v1/sync", use: syncState)
    routes.group().add(middleware: optionalBody).post("v1/sync", use: syncNow)
    routes.get("v1/session", use: user)
    routes.group().add(middleware: requiredBody).post("v1/session", use: signIn)
    routes.delete("v1/session", use: signOut)
  }

  @Sendable private func health(_ request: Request, _ context: DaemonContext) -> Answer {
    Answer(.object([("status", .text("ok"))]))
  }

  /// Says to whoever asks no more than where to look: no token is needed here.
  @Sendable private func readiness(_ request: Request, _ context: DaemonContext) async throws -> Answer {
    if let reason = try await aside({ daemon.unreadiness }) {
      throw Refusal.unavailable("notReady", "\(reason); GET /v1/status says more")
    }
    return Answer(.object([("status", .text("ready"))]))
  }

  @Sendable private func metricsText(_ request: Request, _ context: DaemonContext) async throws -> Answer {
    guard let metrics else { throw Refusal.notFound("this daemon keeps no metrics; configure it to") }
    var answer = Answer(json: try await aside(metrics))
    answer.contentType = "text/plain; version=0.0.4; charset=utf-8"
    return answer
  }

  @Sendable private func describe(_ request: Request, _ context: DaemonContext) -> Answer { Answer(json: document) }

  @Sendable private func status(_ request: Request, _ context: DaemonContext) async throws -> Answer {
    try await aside { Answer(daemon.status()) }
  }

  @Sendable private func listen(_ request: Request, _ context: DaemonContext) throws -> Response {
    try events.response(to: request, context)
  }

  // MARK: Synchronisation

  @Sendable private func syncState(_ request: Request, _ context: DaemonContext) async throws -> Answer {
    try await aside { Answer(daemon.sync.json) }
  }

  @Sendable private func syncNow(_ request: Request, _ context: DaemonContext) async throws -> Answer {
    let isFull = try context.body.bool("full") ?? false
    let sync = daemon.sync
    // The synchronisation goes on when the server ends, and nobody waits for it then.
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
        return Answer(try result.get().json)
      } catch {
        let refusal = Refusal(error)
        // What is no fault of ours is one of the server's, or of its answer.
        throw refusal.code == "internal" ? Refusal(.badGateway, "syncFailed", refusal.message) : refusal
      }
    }
    throw Refusal.unavailable("shuttingDown", "the daemon ends; ask the next one")
  }

  // MARK: Users

  @Sendable private func user(_ request: Request, _ context: DaemonContext) async throws -> Answer {
    try await aside { try userAnswer() }
  }

  @Sendable private func signIn(_ request: Request, _ context: DaemonContext) async throws -> Answer {
    guard let user = try context.body.text("user") else { throw Refusal.badRequest("user: a text, who signs in") }
    try await daemon.signIn(user)
    return try await aside { try userAnswer() }
  }

  @Sendable private func signOut(_ request: Request, _ context: DaemonContext) async throws -> Answer {
    try await daemon.signOut()
    return try await aside { try userAnswer() }
  }

  private func userAnswer() throws -> Answer { Answer(.object([("user", .optional(try daemon.user()))])) }
}

extension ImportReport {
  /// What programs are told of a synchronisation.
  fileprivate var json: JSONText {
    .object(update.fields(bytesIn: payload.bytesIn) + update.notices.fields)
  }
}
