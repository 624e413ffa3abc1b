import HTTPServer
package import HTTPSupport
import HTTPTypes
import JSONFormat

/// Who may ask a studio, and the security headers of every answer.
package struct StudioAccess: Sendable {
  /// The token that requests for data need; `nil` for none.
  let token: BearerToken?
  /// Whether requests have to name this machine as their host.
  let isLoopbackOnly: Bool
  /// Where the token comes from, for people.
  let tokenSource: String

  /// - Parameters:
  ///   - token: The token that requests for data need; `nil` for none.
  ///   - isLoopbackOnly: Whether requests have to name this machine as their host. A page's own name may resolve to this
  ///     machine, so only a server that browsers on this machine do not reach, or that other machines reach, can do
  ///     without.
  ///   - tokenSource: Where the token comes from, for people.
  package init(
    token: BearerToken?, isLoopbackOnly: Bool = true, tokenSource: String = "the token that 'catalogctl studio' printed"
  ) {
    self.token = token
    self.isLoopbackOnly = isLoopbackOnly
    self.tokenSource = tokenSource
  }

  /// Refuses requests under a name that is not this machine's, requests of pages of other origins, and requests for
  /// data without the token.
  func check(_ request: HTTPRequest) throws(StudioError) {
    guard let host = request.authority, !isLoopbackOnly || Loopback.contains(authority: host) else {
      throw StudioError(.forbidden, "foreignHost", "this studio answers to 127.0.0.1 and localhost only")
    }
    if let origin = request.headerFields[.origin], !WebOrigin.isSame(origin, host: host) {
      throw StudioError(.forbidden, "foreignOrigin", "pages of other origins may not ask this studio")
    }
    guard let token, request.pathWithoutQuery.hasPrefix("/studio/api") else { return }
    if !token.admits(request.headerFields[.authorization]) {
      throw StudioError(.unauthorized, "unauthorized", "show \(tokenSource): Authorization: Bearer TOKEN")
    }
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

extension Response {
  /// A response with JSON.
  init(_ json: JSONText, status: HTTPResponse.Status = .ok) {
    self.init(status: status, headers: [.contentType: "application/json"], body: .bytes(json.bytes))
  }

  init(_ error: StudioError) {
    self.init(error.json, status: error.status)
    if error.status == .unauthorized { headers[.wwwAuthenticate] = "Bearer realm=\"studio\"" }
  }
}
