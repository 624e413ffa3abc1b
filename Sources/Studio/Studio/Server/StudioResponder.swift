package import HTTPServer
package import HTTPTypes

/// A request to a studio.
struct StudioRequest: Sendable {
  let head: HTTPRequest
  let body: RequestBody
  /// The names of the parts of the route's path that are in braces.
  let names: [String]
  /// These parts of the request's path, percent-encoded.
  let parameters: [String]
}

/// The routes of a studio, while they are collected.
final class StudioRoutes {
  /// A function that answers the requests of one method and path.
  typealias Work = @Sendable (StudioRequest) async throws -> Response

  private(set) var routes: [(method: HTTPRequest.Method, path: String, work: Work)] = []

  /// Adds a route. Routes of `GET` answer `HEAD` too.
  ///
  /// - Parameter path: The path in the notation of `RouteTable`, without the slash at its beginning.
  func on(_ method: HTTPRequest.Method, _ path: String, _ work: @escaping Work) {
    routes.append((method, "/" + path, work))
  }
}

/// The function from requests to responses of a studio: it checks access, finds the route, answers errors as JSON, and
/// adds the security headers.
package struct StudioResponder: Sendable {
  private struct Route: Sendable {
    let names: [String]
    let work: StudioRoutes.Work
  }

  private let access: StudioAccess
  private let table: RouteTable
  private let routes: [Route]

  init(_ routes: [(method: HTTPRequest.Method, path: String, work: StudioRoutes.Work)], access: StudioAccess) {
    self.access = access
    table = RouteTable(routes.map { ($0.method, $0.path) })
    self.routes = routes.map { route in
      let names = route.path.split(separator: "/").filter { $0.hasPrefix("{") }.map {
        String($0.dropFirst().dropLast())
      }
      return Route(names: names, work: route.work)
    }
  }

  /// Answers a request. The response to `HEAD` has the body of that to `GET`, which is not to be written.
  ///
  /// - Throws: `RequestBodyError.interrupted` if the body of the request did not arrive; `CancellationError`.
  ///   Everything else is a response.
  package func respond(to request: HTTPRequest, _ body: RequestBody) async throws -> Response {
    var response: Response
    do {
      try access.check(request)
      response = try await answer(request, body)
    } catch RequestBodyError.interrupted {
      throw RequestBodyError.interrupted
    } catch {
      response = Response(ErrorResponse(ofStudio: error))
    }
    for (name, value) in StudioAccess.headers { response.headers[name] = value }
    if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
    return response
  }

  private func answer(_ request: HTTPRequest, _ body: RequestBody) async throws -> Response {
    // Slashes that follow each other count as one, and one at the end does not count.
    let parts = request.pathWithoutQuery.split(separator: "/").map(String.init)
    guard let match = table.match(parts), let index = match[request.method] else { throw ErrorResponse.noSuchPath }
    let route = routes[index]
    return try await route.work(
      StudioRequest(head: request, body: body, names: route.names, parameters: match.parameters))
  }
}
