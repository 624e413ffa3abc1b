import HTTPTypes
import Hummingbird

/// Refuses requests whose target is no path, and answers those for which the router has no route.
///
/// Hummingbird's router skips empty segments, checks no escapes, and answers 404 for a method that a path does not know. Here
/// `/v1//status` is not found, an invalid escape is refused with 400, another method with 405, and each path knows `OPTIONS`.
struct TargetMiddleware: RouterMiddleware {
  private let gate: Gate
  /// Answers `OPTIONS` for each path.
  private let options: RouterResponder<DaemonContext>

  /// - Parameter routes: All routes of the server.
  init(gate: Gate, routes: [Router<DaemonContext>.RouteDescription]) {
    self.gate = gate
    let router = Router(context: DaemonContext.self)
    for (path, routes) in Dictionary(grouping: routes, by: \.path.description) {
      let names = Set(routes.map(\.method.rawValue) + ["OPTIONS"])
      let allowed = names.union(names.contains("GET") ? ["HEAD"] : []).sorted().joined(separator: ", ")
      router.on(RouterPath(path), method: .options) { request, _ in
        Self.answer(request.head, allowed: allowed, gate.crossOrigin)
      }
    }
    options = router.buildResponder()
  }

  func handle(
    _ request: Request, context: DaemonContext, next: (Request, DaemonContext) async throws -> Response
  ) async throws -> Response {
    let target: RequestTarget
    do throws(Refusal) {
      target = try RequestTarget(request.head.path ?? "")
    } catch {
      context.route = nil
      try gate.admit(request.head, to: nil, context.channel)
      // RFC 9110, 9.3.7: a question about the server as a whole.
      guard request.method == .options, request.head.path == "*" else { throw error }
      let answer = Self.answer(request.head, allowed: "GET, HEAD, OPTIONS", gate.crossOrigin)
      return answer.response(from: request, context: context)
    }
    do {
      if !target.hasEmptySegment { return try await answer(request, context, target.query, next) }
    } catch let error as HTTPError where error.status == .notFound {
      if let answer = try await self.options(request, context) {
        try gate.admit(request.head, to: nil, context.channel)
        if request.method == .options { return answer }
        let allowed = answer.headers[.allow] ?? ""
        throw Refusal(.methodNotAllowed, "methodNotAllowed", "this path knows \(allowed)", headers: [.allow: allowed])
      }
    }
    context.route = nil
    try gate.admit(request.head, to: nil, context.channel)
    throw Refusal.notFound("there is nothing at this path; GET /openapi.json lists what there is")
  }

  private func answer(
    _ request: Request, _ context: DaemonContext, _ query: Query,
    _ next: (Request, DaemonContext) async throws -> Response
  ) async throws -> Response {
    // The hot path has no query, and saves a copy.
    if query.items.isEmpty { return try await next(request, context) }
    var context = context
    context.query = query
    return try await next(request, context)
  }

  /// The answer to `OPTIONS` for the path of a request. `nil` if no route has the path.
  private func options(_ request: Request, _ context: DaemonContext) async throws -> Response? {
    var head = request.head
    head.method = .options
    let answer = try await options.respond(to: Request(head: head, body: request.body), context: context)
    return answer.status == .notFound ? nil : answer
  }

  /// What may be asked of a path.
  private static func answer(_ head: HTTPRequest, allowed: String, _ crossOrigin: CrossOrigin) -> Answer {
    var answer = Answer.noContent
    if CrossOrigin.isPreflight(head) { answer.headers = crossOrigin.preflightFields(head, methods: allowed) }
    answer.headers[.allow] = allowed
    return answer
  }
}
