import HTTPServer
package import HTTPSupport
import HTTPTypes

/// Who may ask a studio, and the security headers of every answer.
package struct StudioAccess: Sendable {
  private let rules: AccessRules
  /// Whether requests have to name this machine as their host.
  private let isLoopbackOnly: Bool

  /// - Parameters:
  ///   - token: The token that requests for data need; `nil` for none.
  ///   - isLoopbackOnly: Whether requests have to name this machine as their host. A page's own name may resolve to this
  ///     machine, so only a server that browsers on this machine do not reach, or that other machines reach, can do
  ///     without.
  ///   - tokenSource: Where the token comes from, for people.
  ///   - names: The names that the studio answers to besides those of this machine.
  ///   - namesSetting: What lists these names, for people.
  package init(
    token: BearerToken?, isLoopbackOnly: Bool = true,
    tokenSource: String = "the token that 'catalogctl studio' printed", names: HostNames = HostNames(),
    namesSetting: String = "--name"
  ) {
    var words = AccessRules.Words(server: "studio", tokenSource: tokenSource, realm: "studio")
    words.hostAdvice = "; give it that name with \(namesSetting)"
    words.originAdvice = "; behind a proxy, give it the name that browsers use with \(namesSetting)"
    rules = AccessRules(words, token: token, names: names)
    self.isLoopbackOnly = isLoopbackOnly
  }

  /// Refuses requests without one host, or under a name that is neither this machine's nor the studio's; requests of
  /// pages of other origins; and requests for data without the token.
  func check(_ request: HTTPRequest) throws(ErrorResponse) {
    try rules.checkHost(request)
    if isLoopbackOnly { try rules.checkHostName(request) }
    try rules.checkOrigin(request, allowsOwn: true)
    if request.pathWithoutQuery.hasPrefix("/studio/api") { try rules.checkToken(request) }
  }

  static let headers: [(HTTPField.Name, String)] = [
    (
      HTTPField.Name("Content-Security-Policy")!,
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        + "media-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        + "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    (HTTPField.Name("X-Content-Type-Options")!, "nosniff"),
    (HTTPField.Name("Referrer-Policy")!, "no-referrer"),
    (HTTPField.Name("Cross-Origin-Opener-Policy")!, "same-origin"),
    (HTTPField.Name("Cross-Origin-Resource-Policy")!, "same-origin"),
  ]
}
