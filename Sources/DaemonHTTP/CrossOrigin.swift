import HTTPTypes

/// Which pages of other origins may ask, and what a browser has to be told for that (Fetch, 3.2: CORS).
struct CrossOrigin: Sendable {
  /// As ``WebOrigin/normalized(_:)`` gives them.
  let origins: Set<String>

  /// Whether a request comes from a page of an origin that is allowed.
  func allows(_ origin: String) -> Bool { origins.contains(origin) }

  /// The fields of each answer to a request; none where no origin is allowed.
  func fields(_ head: HTTPRequest) -> HTTPFields? {
    if origins.isEmpty { return nil }
    var fields: HTTPFields = [.vary: "Origin"]
    if let origin = head.headerFields[.origin], allows(origin) {
      fields[.accessControlAllowOrigin] = origin
      fields[.accessControlExposeHeaders] = "Allow, Location, Retry-After, WWW-Authenticate"
    }
    return fields
  }

  /// Whether a browser asks, before a request, whether it may be made.
  static func isPreflight(_ head: HTTPRequest) -> Bool {
    head.method == .options && head.headerFields[.origin] != nil
      && head.headerFields[.accessControlRequestMethod] != nil
  }

  /// The fields of the answer to that, besides those of each answer.
  ///
  /// - Parameter methods: The methods of the path.
  func preflightFields(_ head: HTTPRequest, methods: String) -> HTTPFields {
    var fields: HTTPFields = [
      .accessControlAllowMethods: methods,
      .accessControlAllowHeaders: "Authorization, Content-Type, Last-Event-ID",
      .accessControlMaxAge: "600",
    ]
    if head.headerFields[.accessControlRequestPrivateNetwork] == "true" {
      fields[.accessControlAllowPrivateNetwork] = "true"
    }
    return fields
  }

  /// Whether a request is made by a page of another origin than the server's.
  static func isForeign(_ head: HTTPRequest) -> Bool {
    // A browser says it, and no page can change it. A page at a name of its own that leads here is told from others by the host.
    if let site = head.headerFields[.secFetchSite] { return site != "same-origin" && site != "none" }
    guard let origin = head.headerFields[.origin] else { return false }
    return !WebOrigin.isSame(origin, host: head.authority ?? "")
  }
}

extension HTTPField.Name {
  static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")!
  static let accessControlRequestPrivateNetwork = HTTPField.Name("Access-Control-Request-Private-Network")!
  static let accessControlAllowPrivateNetwork = HTTPField.Name("Access-Control-Allow-Private-Network")!
}
