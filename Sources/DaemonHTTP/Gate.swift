import HTTPTypes

/// Who gets in.
struct Gate: Sendable {
  let token: BearerToken?
  /// Whether the address that is listened on is one that only this machine reaches.
  let isLocal: Bool
  /// Whether requests come over TCP, where a browser can make them for a page.
  let isOverNetwork: Bool
  let rate: RateBound?

  /// - Parameters:
  ///   - caller: who asks, for the bound; asked for only where there is one.
  ///   - now: seconds of a clock that never goes back.
  /// - Throws: a refusal with status 401, 403 or 429.
  func admit(
    _ head: HTTPRequest, to access: Route.Access?, caller: @autoclosure () -> String, now: @autoclosure () -> Double
  ) throws(Refusal) {
    if case .anybody? = access { return }
    // First, so that tokens are guessed no faster than questions are asked.
    if let rate, let wait = rate.take(caller(), now: now()) {
      let seconds = Int(min(max(1, wait.rounded(.up)), 86_400))
      throw Refusal(
        .tooManyRequests, "tooManyRequests", "too many requests; ask again in \(seconds) s",
        headers: [.retryAfter: "\(seconds)"])
    }
    try checkToken(head, access)
    if token == nil, isLocal, isOverNetwork { try checkPage(head) }
  }

  private func checkToken(_ head: HTTPRequest, _ access: Route.Access?) throws(Refusal) {
    guard let token else { return }
    if case .machine? = access, isLocal { return }
    if !token.admits(head.headerFields[.authorization]) {
      throw Refusal(
        .unauthorized, "unauthorized", "show the daemon's token: Authorization: Bearer TOKEN",
        headers: [.wwwAuthenticate: "Bearer realm=\"catalogd\""])
    }
  }

  /// Keeps out pages that a browser on this machine shows; see ``Loopback``.
  private func checkPage(_ head: HTTPRequest) throws(Refusal) {
    if let host = head.authority, !host.isEmpty, !Loopback.contains(authority: host) {
      throw Refusal(
        .forbidden, "foreignHost",
        "this daemon answers to localhost and 127.0.0.1 only, as it has no token; configure one to use another name")
    }
    if let origin = head.headerFields[.origin], !Loopback.contains(origin: origin) {
      throw Refusal(
        .forbidden, "foreignOrigin",
        "pages of other sites may not ask this daemon, as it has no token; configure one to let them")
    }
  }
}
