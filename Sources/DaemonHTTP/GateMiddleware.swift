import HTTPTypes
import Hummingbird
import NIOCore

/// Lets requests in, or refuses them: the rate limit, the token, hosts and origins (``Gate``).
struct GateMiddleware: RouterMiddleware {
  let gate: Gate
  let access: Gate.Access

  func handle(
    _ request: Request, context: DaemonContext, next: (Request, DaemonContext) async throws -> Response
  ) async throws -> Response {
    try gate.admit(request.head, to: access, context.channel)
    return try await next(request, context)
  }
}

extension Gate {
  /// Admits a request of a connection, now.
  ///
  /// - Throws: A refusal with status 400, 401, 403, 415 or 429.
  func admit(_ head: HTTPRequest, to access: Access?, _ channel: any Channel) throws(Refusal) {
    try admit(
      head, to: access, caller: Caller.name(channel), now: Double(NIODeadline.now().uptimeNanoseconds) / 1e9)
  }
}
