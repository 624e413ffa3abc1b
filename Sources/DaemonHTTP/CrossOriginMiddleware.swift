import Hummingbird

/// Tells the browsers of allowed origins that their pages may read the answer.
///
/// Hummingbird's `CORSMiddleware` answers the preflight of any path and of any caller, and knows no private networks. Here the
/// preflight passes the gate, and names the methods of its path (``TargetMiddleware``).
struct CrossOriginMiddleware: RouterMiddleware {
  let crossOrigin: CrossOrigin

  func handle(
    _ request: Request, context: DaemonContext, next: (Request, DaemonContext) async throws -> Response
  ) async throws -> Response {
    var response = try await next(request, context)
    if let fields = crossOrigin.fields(request.head) { response.headers.append(contentsOf: fields) }
    return response
  }
}
