import HTTPServer
import HTTPTypes

/// A route: a method, a path, who may call it, and the function that answers it.
///
/// Routes are values in a table, so the OpenAPI document can be compared with them.
struct Route: Sendable {
  let method: HTTPRequest.Method
  /// The path in the notation of the OpenAPI document: `/v1/products/{id}`.
  let path: String
  var access = Access.caller
  /// The names of the query parameters.
  var parameters: [String] = []
  var body = Body.none
  /// The names that the body's object may have; `nil` if others are ignored.
  var members: [String]? = []
  let work: Work

  /// The clients that may use a route.
  enum Access: Sendable {
    /// Clients that send the token, if one is configured.
    case caller
    /// Any client if only this machine can reach the server; otherwise clients that send the token.
    case machine
    /// Any client, without a rate limit.
    case anybody
  }

  /// Whether a request has a body, which is a JSON object.
  enum Body: Sendable {
    case none, optional, required
  }

  /// Checks the names of a request's query parameters. A mistyped parameter would otherwise change nothing, and of one
  /// that is given twice only one value could count.
  ///
  /// - Throws: `ErrorResponse` with status 400 for a name that the route does not have, and for one that occurs twice.
  func check(_ query: QueryParameters) throws(ErrorResponse) {
    var seen: Set<String> = []
    for item in query.items {
      guard parameters.contains(item.name) else {
        throw .badRequest("there is no parameter \(Self.shown(item.name)); \(Self.list(parameters))")
      }
      if !seen.insert(item.name).inserted {
        throw .badRequest(
          "the parameter \(item.name) is given twice, and nobody can tell which one was meant; give it once")
      }
    }
  }

  /// Checks the names of the members of a body.
  ///
  /// - Throws: `ErrorResponse` with status 400 for a name that the body of this route does not have.
  func check(_ body: BodyMembers) throws(ErrorResponse) {
    guard let members, let unknown = body.names.sorted().first(where: { !members.contains($0) }) else { return }
    throw .badRequest("the body has no member \(Self.shown(unknown)); \(Self.list(members))")
  }

  private static func shown(_ name: String) -> String { String(name.prefix(200)).debugDescription }

  private static func list(_ names: [String]) -> String {
    switch names.count {
    case 0: "there are none here"
    case 1: "there is \(names[0])"
    default: "there are \(names.joined(separator: ", "))"
    }
  }

  enum Work: Sendable {
    /// A function that answers without waiting.
    case immediate(@Sendable (RouteCall) throws -> Response)
    case answer(@Sendable (RouteCall) async throws -> Response)
    /// The event stream.
    case events
  }
}

/// A request for a route.
struct RouteCall: Sendable {
  /// The values of the path's parameters.
  var parameters: [String] = []
  var query = QueryParameters()
  var body = BodyMembers()

  /// The value of the path's parameter. Each path has at most one.
  var parameter: String { parameters.first ?? "" }
}
