import Essentials
import TextFormat

/// A parsed and validated request URL, to which the cursor can be added, and which can be shown without secrets.
struct RequestURL: Sendable, Equatable {
  enum Scheme: String, Sendable {
    case http, https
    var defaultPort: Int { self == .http ? 80 : 443 }
  }

  let scheme: Scheme
  /// The host in lower case, without the brackets of an IPv6 address.
  let host: String
  let port: Int
  /// The port, if the text has one.
  let givenPort: Int?
  /// The percent-encoded path, at least `/`.
  private(set) var path: String
  /// The percent-encoded query, without the question mark.
  private(set) var query: String?
  /// The decoded text `user:password`, if the URL contains it.
  let credentials: String?

  /// - Throws: ``TransportError/invalidURL(url:reason:)`` for everything except http and https URLs with a host.
  init(_ text: String) throws(TransportError) {
    guard let url = Self.parse(text), let url = Self(url) else {
      throw .invalidURL(url: Self.withoutSecrets(text), reason: "not an http or https URL with a host")
    }
    self = url
  }

  private init?(_ url: URL) {
    guard let scheme = url.scheme.flatMap({ Scheme(rawValue: $0.lowercased()) }),
      var host = url.host(percentEncoded: true), !host.isEmpty
    else { return nil }
    if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    let port = url.port ?? scheme.defaultPort
    let isName = host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "%") }
    guard isName, (1...65_535).contains(port) else { return nil }
    self.scheme = scheme
    self.host = host.lowercased()
    self.port = port
    givenPort = url.port
    let path = url.path(percentEncoded: true)
    self.path = path.isEmpty ? "/" : path
    query = url.query(percentEncoded: true)
    credentials = url.user(percentEncoded: false).map { "\($0):\(url.password(percentEncoded: false) ?? "")" }
  }

  /// The URL to request: everything except the credentials, which are sent in a header.
  var text: String { display + (query.map { "?\($0)" } ?? "") }

  /// The URL without credentials and query, which may contain a token, for people.
  var display: String { "\(scheme.rawValue)://\(authority)\(path)" }

  /// The host and port as in a `Host` header: the scheme's default port is omitted.
  var authority: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return name + (port == scheme.defaultPort ? "" : ":\(port)")
  }

  /// Whether the query already has an `updateTime`.
  var hasCursor: Bool {
    query?.split(separator: "&").contains { $0 == "updateTime" || $0.hasPrefix("updateTime=") } ?? false
  }

  /// The same URL with `cursor` in its query. The rest of the query is kept; an existing `updateTime` is replaced,
  /// because a server might read the wrong one of two.
  func asking(cursor: String) -> RequestURL {
    let others = (query ?? "").split(separator: "&").filter {
      $0 != "updateTime" && !$0.hasPrefix("updateTime=")
    }
    var asking = self
    asking.query = (others.map(String.init) + ["updateTime=\(PercentEncoding.encoded(cursor))"])
      .joined(separator: "&")
    return asking
  }

  /// The URL of the folder that this URL names, with or without a slash at its end.
  var folder: RequestURL {
    var folder = self
    if !path.hasSuffix("/") { folder.path += "/" }
    return folder
  }

  /// The URL of a file in this folder or in one below it, with the query of this URL.
  ///
  /// - Parameter name: The path of the file, not encoded.
  /// - Returns: `nil` if the name is empty, or a part of it is empty, `.` or `..`, which could lead to another folder.
  func file(_ name: String) -> RequestURL? {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard !parts.contains(where: { ["", ".", ".."].contains($0) }) else { return nil }
    var file = folder
    file.path += parts.map(PercentEncoding.encoded).joined(separator: "/")
    return file
  }

  /// The target of a redirect from this URL.
  ///
  /// A redirect must stay at the host and port that the caller gave the credentials for; only the step from http to
  /// https on the same host may change the port. If the target lost the cursor, it is added again, because without it
  /// the server would answer another request.
  ///
  /// - Parameter cursor: The cursor that was asked for; `nil` for a request without one.
  func redirected(to location: String, cursor: String?) throws(TransportError) -> RequestURL {
    guard let base = Self.parse(text), let url = Self.parse(location, relativeTo: base),
      let target = Self(url)
    else {
      throw .redirectRefused(
        url: display, target: Self.withoutSecrets(location), reason: "which is no http or https URL")
    }
    func refused(_ reason: String) -> TransportError {
      .redirectRefused(url: display, target: target.display, reason: reason)
    }
    guard target.host == host else { throw refused("which is another host") }
    if scheme == .https, target.scheme == .http { throw refused("which gives up encryption") }
    guard target.port == port || (scheme == .http && target.scheme == .https) else {
      throw refused("which is another port")
    }
    guard let cursor, !target.hasCursor else { return target }
    return target.asking(cursor: cursor)
  }

  /// Parses a URL as people write it: blanks and non-ASCII characters are encoded first, and existing encodings are
  /// kept.
  private static func parse(_ text: String, relativeTo base: URL? = nil) -> URL? {
    var ascii = ""
    for scalar in text.unicodeScalars {
      let isURLCharacter =
        scalar.value > 0x20 && scalar.value < 0x7F && !"\"<>\\^`{|}".unicodeScalars.contains(scalar)
      ascii += isURLCharacter ? String(scalar) : PercentEncoding.encoded(String(scalar))
    }
    return URL(string: ascii, relativeTo: base)?.absoluteURL
  }

  /// An invalid URL for messages, shortened and without possible secrets: the part before an `@`, and everything from a
  /// `?` or `#`.
  static func withoutSecrets(_ text: String) -> String {
    let address = text.prefix { $0 != "?" && $0 != "#" }
    guard let at = address.lastIndex(of: "@") else { return String(address.prefix(200)) }
    return "…\(address[at...].prefix(200))"
  }
}
