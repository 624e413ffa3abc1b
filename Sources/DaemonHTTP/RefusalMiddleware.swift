import Hummingbird
import ScanDaemon

/// Turns errors into answers: JSON with a code for programs and a message that says what to do.
struct RefusalMiddleware: RouterMiddleware {
  /// Told of answers that are 500. It bounds what is logged of them.
  let problems: Problems

  func handle(
    _ request: Request, context: DaemonContext, next: (Request, DaemonContext) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch let error as BodyMiddleware.Interruption {
      throw error
    } catch {
      let refusal = Refusal(error)
      if refusal.status == .internalServerError {
        let route = "\(request.method) \(context.route ?? ServerMetrics.noRoute)"
        problems.note(.requestsFailing, "\(error)", about: route, endsAfter: .seconds(60))
      }
      let response = Answer(refusal).response(from: request, context: context)
      // The routes of HEAD drop the body; a request without a route comes here.
      return request.method == .head ? response.createHeadResponse() : response
    }
  }
}
