import HTTPSupport

/// A parsed request, classified by its head alone.
enum OriginRequest: Equatable {
  case catalogue(cursor: String)
  case health
  case refused(status: Int, message: String)

  /// - Parameters:
  ///   - token: The bearer token that `/` requires; `nil` if none is required.
  init(method: String, path: String, query: String?, authorization: String?, token: String?) {
    guard path == "/" || path == "/healthz" else {
      self = .refused(status: 404, message: "there is only / and /healthz here")
      return
    }
    guard method == "GET" || method == "HEAD" else {
      self = .refused(status: 405, message: "only GET and HEAD are possible")
      return
    }
    // A health check needs no token, and reveals nothing else.
    if path == "/healthz" {
      self = .health
      return
    }
    if let token, !Self.isBearer(authorization, of: token) {
      self = .refused(status: 401, message: "a valid bearer token is required")
      return
    }
    guard let cursor = Self.cursor(inQuery: query ?? "") else {
      self = .refused(status: 400, message: "updateTime is not percent-encoded UTF-8")
      return
    }
    self = .catalogue(cursor: cursor)
  }

  /// The first `updateTime` of a query, decoded; empty if it is missing, `nil` if it cannot be decoded.
  ///
  /// A plus is decoded as a blank, because forms and many clients encode it that way.
  static func cursor(inQuery query: String) -> String? {
    guard let item = QueryItem.items(of: Substring(query)).first(where: { $0.name == "updateTime" }) else { return "" }
    return item.value
  }

  /// Compares in a time that depends only on the lengths, so that a token cannot be guessed byte by byte.
  private static func isBearer(_ authorization: String?, of token: String) -> Bool {
    guard let authorization, authorization.prefix(7).lowercased() == "bearer " else { return false }
    let given = Array(authorization.dropFirst(7).drop { $0 == " " }.utf8)
    let wanted = Array(token.utf8)
    guard given.count == wanted.count else { return false }
    return zip(given, wanted).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
