package import HTTPSupport
package import HTTPTypes

/// The rules of who may ask a server. Each checks one thing about a request; a server applies those that it needs, in its
/// own order.
package struct AccessRules: Sendable {
  /// What a server is called in refusals, and what they advise.
  package struct Words: Sendable {
    /// The name of the server: `daemon`.
    package var server: String
    /// Where the token comes from: `the daemon's token`.
    package var tokenSource: String
    /// The name of the protected space that browsers show; `nil` for none.
    package var realm: String?
    /// What to do so that the server answers to another host name, after the sentence that it does not.
    package var hostAdvice = ""
    /// What to do to allow another origin, after the sentence that it is not allowed.
    package var originAdvice = ""

    package init(server: String, tokenSource: String, realm: String? = nil) {
      self.server = server
      self.tokenSource = tokenSource
      self.realm = realm
    }
  }

  /// The token that requests need; `nil` for none.
  package var token: BearerToken?
  /// The limit of requests of one client; `nil` for none.
  package var rate: RateLimiter?
  /// The origins whose pages may ask, besides the server's own.
  package var crossOrigin: CrossOrigin
  /// The names that the server answers to besides those of this machine. Pages of these names are the server's own: a
  /// proxy in front need not pass on the `Host` that the browser sent.
  package var names: HostNames
  package var words: Words

  package init(
    _ words: Words, token: BearerToken?, rate: RateLimiter? = nil, crossOrigin: CrossOrigin = CrossOrigin(),
    names: HostNames = HostNames()
  ) {
    self.words = words
    self.names = names
    self.token = token
    self.rate = rate
    self.crossOrigin = crossOrigin
  }

  /// Checks that a client has not made too many requests.
  ///
  /// - Parameters:
  ///   - caller: The client; evaluated only if there is a limit.
  ///   - now: The time in seconds of a monotonic clock.
  /// - Throws: `ErrorResponse` with status 429.
  package func checkRate(
    _ caller: @autoclosure () -> String, _ now: @autoclosure () -> Double
  ) throws(ErrorResponse) {
    guard let rate, let wait = rate.take(caller(), now: now()) else { return }
    let seconds = Int(min(max(1, wait.rounded(.up)), 86_400))
    throw ErrorResponse(
      .tooManyRequests, "tooManyRequests", "too many requests; ask again in \(seconds) s",
      headers: [.retryAfter: "\(seconds)"])
  }

  /// Checks that a request names exactly one host (RFC 9112, 3.2): if there are two, a proxy in front of this server may
  /// have checked the other one. The first `Host` is the authority; only further ones remain among the fields.
  ///
  /// - Throws: `ErrorResponse` with status 400.
  package func checkHost(_ head: HTTPRequest) throws(ErrorResponse) {
    guard let host = head.authority, head.headerFields[Self.furtherHost] == nil else {
      throw .badRequest("a request has one Host, and no more: Host: localhost")
    }
    guard host.utf8.allSatisfy(Self.isOfHost) else {
      throw .badRequest("Host: a name or an address, and a port: localhost:8765")
    }
  }

  /// This has the same name as the first `Host`, which is not among a request's fields.
  package static let furtherHost = HTTPField.Name("Host")!

  /// Whether a byte is allowed in a host and its port (RFC 3986, 3.2.2 and 3.2.3).
  private static func isOfHost(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "-._~%!$&'()*+,;=:[]".utf8.contains(byte)
    }
  }

  /// Refuses pages that a browser on this machine shows under a host name of their own; see ``Loopback``.
  ///
  /// - Throws: `ErrorResponse` with status 403.
  package func checkHostName(_ head: HTTPRequest) throws(ErrorResponse) {
    guard let host = head.authority, !host.isEmpty, !Loopback.contains(authority: host),
      !names.contains(authority: host)
    else { return }
    let name = String((HostNames.name(of: host) ?? host).prefix(200))
    let own = names.isEmpty ? "localhost and 127.0.0.1" : "localhost, 127.0.0.1 and the names that it was given"
    throw ErrorResponse(
      .forbidden, "foreignHost",
      "this \(words.server) answers to \(own), and not to \(name.debugDescription)\(words.hostAdvice)")
  }

  /// Refuses pages of origins that are not allowed.
  ///
  /// - Parameter allowsOwn: Whether pages from the server's own host are allowed.
  /// - Throws: `ErrorResponse` with status 403.
  package func checkOrigin(_ head: HTTPRequest, allowsOwn: Bool) throws(ErrorResponse) {
    guard let origin = head.headerFields[.origin], !crossOrigin.allows(origin),
      !(allowsOwn && (names.contains(origin: origin) || WebOrigin.isSame(origin, host: head.authority ?? "")))
    else { return }
    throw ErrorResponse(
      .forbidden, "foreignOrigin",
      "pages of the origin \(String(origin.prefix(200)).debugDescription) may not ask this"
        + " \(words.server)\(words.originAdvice)")
  }

  /// Checks that a request has the token, if there is one.
  ///
  /// - Throws: `ErrorResponse` with status 401.
  package func checkToken(_ head: HTTPRequest) throws(ErrorResponse) {
    guard let token, !token.admits(head.headerFields[.authorization]) else { return }
    throw ErrorResponse(
      .unauthorized, "unauthorized", "show \(words.tokenSource): Authorization: Bearer TOKEN",
      headers: [.wwwAuthenticate: "Bearer" + (words.realm.map { " realm=\"\($0)\"" } ?? "")])
  }

  /// Checks the form of a request that a page of another origin makes. A page can send a form anywhere without a
  /// preflight, but not as JSON: for that a browser sends a preflight first.
  ///
  /// - Throws: `ErrorResponse` with status 415.
  package func checkForm(_ head: HTTPRequest) throws(ErrorResponse) {
    guard head.method == .post, CrossOrigin.isForeign(head) else { return }
    if let origin = head.headerFields[.origin], names.contains(origin: origin) { return }
    if head.headerFields[.contentType].map(Self.isJSON) != true {
      throw ErrorResponse(
        .unsupportedMediaType, "unsupportedMediaType",
        "a page of another origin has to send Content-Type: application/json, with or without a body")
    }
  }

  /// Whether a `Content-Type` is JSON.
  package static func isJSON(_ type: String) -> Bool {
    type.prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" } == "application/json"
  }
}
