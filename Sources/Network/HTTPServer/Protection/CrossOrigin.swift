import HTTPSupport
package import HTTPTypes

/// The origins whose pages may make requests, and the headers that browsers need for that (CORS; Fetch, 3.2).
package struct CrossOrigin: Sendable {
  /// The allowed origins, normalised by ``WebOrigin/normalized(_:)``.
  package let origins: Set<String>

  /// - Parameter origins: The allowed origins, normalised by ``WebOrigin/normalized(_:)``.
  package init(origins: Set<String> = []) { self.origins = origins }

  /// Whether a request comes from a page of an origin that is allowed.
  package func allows(_ origin: String) -> Bool { origins.contains(origin) }

  /// The fields to add to each response to a request; `nil` if no origin is allowed.
  package func fields(_ head: HTTPRequest) -> HTTPFields? {
    if origins.isEmpty { return nil }
    var fields: HTTPFields = [.vary: "Origin"]
    if let origin = head.headerFields[.origin], allows(origin) {
      fields[.accessControlAllowOrigin] = origin
      fields[.accessControlExposeHeaders] = "Allow, Location, Retry-After, WWW-Authenticate"
    }
    return fields
  }

  /// Whether a request is a CORS preflight.
  package static func isPreflight(_ head: HTTPRequest) -> Bool {
    head.method == .options && head.headerFields[.origin] != nil
      && head.headerFields[.accessControlRequestMethod] != nil
  }

  /// The fields of a preflight response, in addition to those of each response.
  ///
  /// - Parameter methods: The methods of the path.
  package func preflightFields(_ head: HTTPRequest, methods: String) -> HTTPFields {
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
  package static func isForeign(_ head: HTTPRequest) -> Bool {
    // Browsers set this field, and pages cannot change it. A page under a host name of its own that resolves to this
    // machine is detected by the `Host` field.
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
