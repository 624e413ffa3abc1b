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

  init(
    token: BearerToken?, isLocal: Bool, isOverNetwork: Bool, rate: RateLimiter?, crossOrigin: CrossOrigin,
    names: HostNames = HostNames()
  ) {
    var words = AccessRules.Words(server: "daemon", tokenSource: "the daemon's token", realm: "catalogd")
    words.hostAdvice = "; list that name in http.names, or configure a token"
    words.originAdvice =
      "; http.names lists the names that the daemon has behind a proxy, http.allowedOrigins other pages"
    rules = AccessRules(words, token: token, rate: rate, crossOrigin: crossOrigin, names: names)
    self.isLocal = isLocal
    self.isOverNetwork = isOverNetwork
  }

  var token: BearerToken? { rules.token }
  var crossOrigin: CrossOrigin { rules.crossOrigin }
  var names: HostNames { rules.names }

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
      if let origin = head.headerFields[.origin], !Loopback.contains(origin: origin), !names.contains(origin: origin) {
        try rules.checkOrigin(head, allowsOwn: false)
      }
    }
    // Also on a Unix domain socket, which a proxy may make reachable for browsers.
    try rules.checkForm(head)
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

  /// Checks a request for a file of the publication, which anybody may read.
  ///
  /// - Throws: `ErrorResponse` if the client asks too often, or for what is no host.
  func admit(
    toPublication head: HTTPRequest, caller: @autoclosure () -> String, now: @autoclosure () -> Double
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
    // With a name of its own, the daemon is behind a proxy, which other machines reach.
    case .machine?: token != nil && !(isLocal && names.isEmpty)
    case .caller?, nil: token != nil
    }
  }
}
