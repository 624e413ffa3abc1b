import HTTPServer
import HTTPSupport
import HTTPTypes

/// The access control of the daemon: which of the rules apply to which route.
struct AccessControl: Sendable {
  let rules: AccessRules
  /// Whether the server listens on an address that only this machine can reach.
  let isLocal: Bool
  /// Whether requests come over TCP, so that a browser can make them for a page.
  let isOverNetwork: Bool

  init(token: BearerToken?, isLocal: Bool, isOverNetwork: Bool, rate: RateLimiter?, crossOrigin: CrossOrigin) {
    var words = AccessRules.Words(server: "daemon", tokenSource: "the daemon's token", realm: "catalogd")
    words.hostAdvice = ", as it has no token; configure one to use another name"
    words.originAdvice = "; http.allowedOrigins lists those that may"
    rules = AccessRules(words, token: token, rate: rate, crossOrigin: crossOrigin)
    self.isLocal = isLocal
    self.isOverNetwork = isOverNetwork
  }

  var token: BearerToken? { rules.token }
  var crossOrigin: CrossOrigin { rules.crossOrigin }

  /// - Parameters:
  ///   - caller: The client's address for the rate limiter; evaluated only if there is one.
  ///   - now: The time in seconds of a monotonic clock.
  /// - Throws: `ErrorResponse` with status 400, 401, 403, 415 or 429.
  func admit(
    _ head: HTTPRequest, to access: Route.Access?, caller: @autoclosure () -> String, now: @autoclosure () -> Double
  ) throws(ErrorResponse) {
    if case .anybody? = access { return try rules.checkHost(head) }
    // First, so that guessing tokens is limited like any other request.
    try rules.checkRate(caller(), now())
    try rules.checkHost(head)
    // Browsers send preflights without a token.
    if CrossOrigin.isPreflight(head) {
      if isOpenToPages { try rules.checkHostName(head) }
      return try rules.checkOrigin(head, allowsOwn: false)
    }
    if asksToken(for: access) { try rules.checkToken(head) }
    if isOpenToPages {
      try rules.checkHostName(head)
      if let origin = head.headerFields[.origin], !Loopback.contains(origin: origin) {
        try rules.checkOrigin(head, allowsOwn: false)
      }
    }
    if isOverNetwork { try rules.checkForm(head) }
  }

  /// Checks what the studio leaves to its server: the rate of requests, and that there is one host.
  ///
  /// - Throws: `ErrorResponse` with status 400 or 429.
  func admit(
    toStudio head: HTTPRequest, caller: @autoclosure () -> String, now: @autoclosure () -> Double
  ) throws(ErrorResponse) {
    try rules.checkRate(caller(), now())
    try rules.checkHost(head)
  }

  /// Whether nothing but the names of hosts and origins keeps pages out.
  private var isOpenToPages: Bool { token == nil && isLocal && isOverNetwork }

  /// Whether requests with this kind of access need a token.
  func asksToken(for access: Route.Access?) -> Bool {
    switch access {
    case .anybody?: false
    case .machine?: token != nil && !isLocal
    case .caller?, nil: token != nil
    }
  }
}
