import HTTPServer
import HTTPSupport
import HTTPTypes

/// A parsed request, classified by its head alone.
enum OriginRequest: Equatable {
  case catalogue(cursor: String)
  case health
  case refused(ErrorResponse)

  /// - Parameter rules: The rules of who may request `/`.
  init(_ request: HTTPRequest, _ rules: AccessRules) {
    let path = request.pathWithoutQuery
    guard path == "/" || path == "/healthz" else {
      self = .refused(.notFound("there is only / and /healthz here"))
      return
    }
    guard request.method == .get || request.method == .head else {
      self = .refused(
        ErrorResponse(
          .methodNotAllowed, "methodNotAllowed", "only GET and HEAD are possible", headers: [.allow: "GET, HEAD"]))
      return
    }
    // A health check needs no token, and reveals nothing else.
    if path == "/healthz" {
      self = .health
      return
    }
    do { try rules.checkToken(request) } catch {
      self = .refused(error)
      return
    }
    guard let cursor = Self.cursor(inQuery: request.query ?? "") else {
      self = .refused(.badRequest("updateTime is not percent-encoded UTF-8"))
      return
    }
    self = .catalogue(cursor: cursor)
  }

  /// The first `updateTime` of a query, decoded; empty if it is missing, `nil` if it cannot be decoded.
  ///
  /// A plus is decoded as a blank, because forms and many clients encode it that way.
  static func cursor(inQuery query: Substring) -> String? {
    guard let item = QueryItem.items(of: query).first(where: { $0.name == "updateTime" }) else { return "" }
    return item.value
  }
}
