import NIOCore

/// The rules that select the proxy for a server.
///
/// Proxies are HTTP proxies: a request for `http` contains the complete URL, and one for `https` requests a tunnel
/// (`CONNECT`), so that the proxy sees only the host name.
///
/// | variable | meaning |
/// |---|---|
/// | `http_proxy`, `HTTP_PROXY` | the proxy for `http` URLs: `http://[USER:PASSWORD@]HOST[:PORT]` or `HOST[:PORT]`, port 80 |
/// | `https_proxy`, `HTTPS_PROXY` | the proxy for `https` URLs |
/// | `no_proxy`, `NO_PROXY` | hosts to connect to directly, separated by commas or blanks |
///
/// Lower-case names take precedence. `HTTP_PROXY` is ignored if `REQUEST_METHOD` is set, because in a CGI script it may
/// come from a header of the client. An entry of `no_proxy` is `*` for every host, a host name (which also matches all
/// its subdomains), an address, or an address range like `10.0.0.0/8`; each may have a port after a colon. `all_proxy`,
/// SOCKS proxies and proxies that use TLS themselves are not supported; the latter two are an error when they would be
/// used.
public struct ProxyRules: Sendable {
  /// A variable and its value, parsed when it is needed.
  private struct Variable: Sendable {
    var name: String
    var value: String
  }

  private var http: Variable?
  private var https: Variable?
  private var exceptions: [ProxyException] = []

  /// Creates rules without proxies.
  public init() {}

  /// Creates the rules from environment variables.
  public init(environment: [String: String]) {
    func variable(_ names: String...) -> Variable? {
      for name in names {
        if let value = environment[name], !value.isEmpty { return Variable(name: name, value: value) }
      }
      return nil
    }
    http =
      environment["REQUEST_METHOD"] == nil ? variable("http_proxy", "HTTP_PROXY") : variable("http_proxy")
    https = variable("https_proxy", "HTTPS_PROXY")
    let list = variable("no_proxy", "NO_PROXY")?.value ?? ""
    exceptions = list.split { $0 == "," || $0.isWhitespace }.compactMap { ProxyException(String($0)) }
  }

  /// The proxy for `url`; `nil` to connect directly.
  ///
  /// - Throws: ``TransportError/invalidProxy(variable:value:reason:)``.
  func proxy(for url: RequestURL) throws(TransportError) -> HTTPProxy? {
    guard let variable = url.scheme == .http ? http : https,
      !exceptions.contains(where: { $0.covers(host: url.host, port: url.port) })
    else { return nil }
    return try HTTPProxy(variable.value, variable: variable.name)
  }
}

/// A proxy's address and credentials.
struct HTTPProxy: Sendable, Equatable {
  let host: String
  let port: Int
  /// The decoded text `user:password`.
  let credentials: String?

  /// The host and port, for people.
  var display: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }

  /// - Throws: ``TransportError/invalidProxy(variable:value:reason:)``.
  init(_ text: String, variable: String) throws(TransportError) {
    let scheme = text.firstRange(of: "://").map { text[..<$0.lowerBound].lowercased() }
    func invalid(_ reason: String) -> TransportError {
      .invalidProxy(variable: variable, value: RequestURL.withoutSecrets(text), reason: reason)
    }
    guard scheme == nil || scheme == "http" else {
      throw invalid("only HTTP proxies (http://HOST:PORT) are supported, not \(scheme ?? "")")
    }
    let url: RequestURL
    do { url = try RequestURL(scheme == nil ? "http://" + text : text) } catch {
      throw invalid("it is not of the form http://HOST:PORT")
    }
    host = url.host
    port = url.port
    credentials = url.credentials
  }
}

/// An entry of `no_proxy`.
struct ProxyException: Sendable {
  private enum Hosts: Sendable {
    case all
    /// A host name, and all its subdomains.
    case name(String)
    /// All addresses with this prefix.
    case addresses([UInt8], bits: Int)
  }

  private let hosts: Hosts
  private let port: Int?

  /// Creates an entry; `nil` if it names nothing.
  init?(_ entry: String) {
    var host = Substring(entry.lowercased())
    var port: Int?
    if host == "*" {
      (hosts, self.port) = (.all, nil)
      return
    }
    // A colon begins a port, unless there are several, as in an IPv6 address without brackets.
    if let colon = host.lastIndex(of: ":"),
      host.hasPrefix("[") ? host[..<colon].hasSuffix("]") : host.firstIndex(of: ":") == colon
    {
      guard let number = Int(host[host.index(after: colon)...]) else { return nil }
      port = number
      host = host[..<colon]
    }
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    self.port = port
    let parts = host.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    if let address = parts.first.flatMap({ Self.address(String($0)) }) {
      let bits = parts.count == 2 ? Int(parts[1]) : address.count * 8
      guard let bits, (0...address.count * 8).contains(bits) else { return nil }
      hosts = .addresses(address, bits: bits)
      return
    }
    if host.hasPrefix("*.") { host = host.dropFirst(2) } else if host.hasPrefix(".") { host = host.dropFirst() }
    guard !host.isEmpty else { return nil }
    hosts = .name(String(host))
  }

  /// Whether connections to a server bypass the proxy because of this entry.
  ///
  /// - Parameter host: The host in lower case; an IPv6 address without brackets.
  func covers(host: String, port: Int) -> Bool {
    if let own = self.port, own != port { return false }
    // A trailing dot marks a fully qualified name.
    let host = host.hasSuffix(".") ? String(host.dropLast()) : host
    switch hosts {
    case .all: return true
    case .name(let name): return host == name || host.hasSuffix("." + name)
    case .addresses(let network, let bits):
      guard let address = Self.address(host), address.count == network.count else { return false }
      return (0..<bits).allSatisfy { bit in
        (address[bit / 8] ^ network[bit / 8]) & (0x80 >> UInt8(bit % 8)) == 0
      }
    }
  }

  /// The bytes of an IP address; `nil` for any other text.
  private static func address(_ text: String) -> [UInt8]? {
    switch try? SocketAddress(ipAddress: text, port: 0) {
    case .v4(let address): unsafe withUnsafeBytes(of: address.address.sin_addr) { unsafe Array($0) }
    case .v6(let address): unsafe withUnsafeBytes(of: address.address.sin6_addr) { unsafe Array($0) }
    default: nil
    }
  }
}
