import Hummingbird

/// Counts the answers (``ServerMetrics``).
struct MetricsMiddleware: RouterMiddleware {
  let metrics: ServerMetrics

  func handle(
    _ request: Request, context: DaemonContext, next: (Request, DaemonContext) async throws -> Response
  ) async throws -> Response {
    let response = try await next(request, context)
    metrics.count(request.method, route: context.route ?? ServerMetrics.noRoute, status: response.status)
    return response
  }
}
