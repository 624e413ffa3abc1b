import HTTPSupport
import HTTPTypes

/// The access control of a server: rate limit, host, origin and token checks.
struct AccessControl: Sendable {
  let token: BearerToken?
  /// Whether the server listens on an address that only this machine can reach.
  let isLocal: Bool
  /// Whether requests come over TCP, so that a browser can make them for a page.
  let isOverNetwork: Bool
  let rate: RateLimiter?
  let crossOrigin: CrossOrigin

  /// - Parameters:
  ///   - caller: The client's address for the rate limiter; evaluated only if there is one.
  ///   - now: The time in seconds of a monotonic clock.
  /// - Throws: `ErrorResponse` with status 400, 401, 403, 415 or 429.
  func admit(
    _ head: HTTPRequest, to access: Route.Access?, caller: @autoclosure () -> String, now: @autoclosure () -> Double
  ) throws(ErrorResponse) {
    if case .anybody? = access { return try checkHost(head) }
    // First, so that guessing tokens is limited like any other request.
    try checkRate(caller(), now())
    try checkHost(head)
    // Browsers send preflights without a token.
    if CrossOrigin.isPreflight(head) {
      if token == nil, isLocal, isOverNetwork { try checkHostName(head) }
      return try checkOrigin(head)
    }
    try checkToken(head, access)
    if token == nil, isLocal, isOverNetwork {
      try checkHostName(head)
      if let origin = head.headerFields[.origin], !Loopback.contains(origin: origin) { try checkOrigin(head) }
    }
    if isOverNetwork { try checkForm(head) }
  }

  /// Checks what the studio leaves to its server: the rate of requests, and that there is one host.
  ///
  /// - Throws: `ErrorResponse` with status 400 or 429.
  func admit(
    toStudio head: HTTPRequest, caller: @autoclosure () -> String, now: @autoclosure () -> Double
  ) throws(ErrorResponse) {
    try checkRate(caller(), now())
    try checkHost(head)
  }

  private func checkRate(_ caller: @autoclosure () -> String, _ now: @autoclosure () -> Double) throws(ErrorResponse) {
    guard let rate, let wait = rate.take(caller(), now: now()) else { return }
    let seconds = Int(min(max(1, wait.rounded(.up)), 86_400))
    throw ErrorResponse(
      .tooManyRequests, "tooManyRequests", "too many requests; ask again in \(seconds) s",
      headers: [.retryAfter: "\(seconds)"])
  }

  /// A request names exactly one host (RFC 9112, 3.2): if there are two, a proxy in front of this server may have
  /// checked the other one. The first `Host` is the authority; only further ones remain among the fields.
  private func checkHost(_ head: HTTPRequest) throws(ErrorResponse) {
    guard let host = head.authority, head.headerFields[Self.furtherHost] == nil else {
      throw .badRequest("a request has one Host, and no more: Host: localhost")
    }
    guard host.utf8.allSatisfy(Self.isOfHost) else {
      throw .badRequest("Host: a name or an address, and a port: localhost:8765")
    }
  }

  /// This has the same name as the first `Host`, which is not among a request's fields.
  static let furtherHost = HTTPField.Name("Host")!

  /// Whether a byte is allowed in a host and its port (RFC 3986, 3.2.2 and 3.2.3).
  private static func isOfHost(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "-._~%!$&'()*+,;=:[]".utf8.contains(byte)
    }
  }

  /// Whether requests with this kind of access need a token.
  func asksToken(for access: Route.Access?) -> Bool {
    switch access {
    case .anybody?: false
    case .machine?: token != nil && !isLocal
    case .caller?, nil: token != nil
    }
  }

  private func checkToken(_ head: HTTPRequest, _ access: Route.Access?) throws(ErrorResponse) {
    guard let token, asksToken(for: access) else { return }
    if !token.admits(head.headerFields[.authorization]) {
      throw ErrorResponse(
        .unauthorized, "unauthorized", "show the daemon's token: Authorization: Bearer TOKEN",
        headers: [.wwwAuthenticate: "Bearer realm=\"catalogd\""])
    }
  }

  /// Refuses pages that a browser on this machine shows under a host name of their own; see ``Loopback``.
  private func checkHostName(_ head: HTTPRequest) throws(ErrorResponse) {
    if let host = head.authority, !host.isEmpty, !Loopback.contains(authority: host) {
      throw ErrorResponse(
        .forbidden, "foreignHost",
        "this daemon answers to localhost and 127.0.0.1 only, as it has no token; configure one to use another name")
    }
  }

  private func checkOrigin(_ head: HTTPRequest) throws(ErrorResponse) {
    guard let origin = head.headerFields[.origin], !crossOrigin.allows(origin) else { return }
    throw ErrorResponse(
      .forbidden, "foreignOrigin",
      "pages of the origin \(String(origin.prefix(200)).debugDescription) may not ask this daemon; http.allowedOrigins lists those"
        + " that may")
  }

  /// A page can send a form anywhere without a preflight, but not as JSON: for that a browser sends a preflight first.
  private func checkForm(_ head: HTTPRequest) throws(ErrorResponse) {
    guard head.method == .post, CrossOrigin.isForeign(head) else { return }
    if head.headerFields[.contentType].map(RequestHandler.isJSON) != true {
      throw ErrorResponse(
        .unsupportedMediaType, "unsupportedMediaType",
        "a page of another origin has to send Content-Type: application/json, with or without a body")
    }
  }
}
