import CurlClient
import Platform

/// The rules that select the proxy for a server.
///
/// | variable | meaning |
/// |---|---|
/// | `http_proxy`, `HTTP_PROXY` | the proxy for `http` URLs: `[SCHEME://][USER:PASSWORD@]HOST[:PORT]` |
/// | `https_proxy`, `HTTPS_PROXY` | the proxy for `https` URLs |
/// | `all_proxy`, `ALL_PROXY` | the proxy for URLs whose own variable is not set |
/// | `no_proxy`, `NO_PROXY` | hosts to connect to directly, separated by commas or blanks |
///
/// | scheme | the proxy | port, if none is given |
/// |---|---|---|
/// | `http`, or none | an HTTP proxy: a request for `http` contains the complete URL, and one for `https` requests a tunnel (`CONNECT`), so that the proxy sees only the host name | 80 |
/// | `https` | the same, reached by TLS | 443 |
/// | `socks4`, `socks5` | a SOCKS proxy; names are resolved here | 1080 |
/// | `socks4a`, `socks5h` | a SOCKS proxy, which resolves names | 1080 |
///
/// Lower-case names take precedence. `HTTP_PROXY` is ignored if `REQUEST_METHOD` is set, because in a CGI script it may
/// come from a header of the client. An entry of `no_proxy` is `*` for every host, a host name (which also matches all
/// its subdomains), an address, or an address range like `10.0.0.0/8`; each may have a port after a colon. A proxy of
/// another scheme is an error when it would be used.
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
    let all = variable("all_proxy", "ALL_PROXY")
    let own = environment["REQUEST_METHOD"] == nil ? variable("http_proxy", "HTTP_PROXY") : variable("http_proxy")
    http = own ?? all
    https = variable("https_proxy", "HTTPS_PROXY") ?? all
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
  /// The schemes of proxies, and their ports.
  private static let ports = [
    "http": 80, "https": 443, "socks4": 1080, "socks4a": 1080, "socks5": 1080, "socks5h": 1080,
  ]

  let scheme: String
  let host: String
  let port: Int
  /// The decoded text `user:password`.
  let credentials: String?

  /// The host and port, for people.
  var display: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }

  /// The proxy as the client takes it.
  var client: ClientProxy {
    let parts = credentials?.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false) ?? []
    return ClientProxy(
      url: "\(scheme)://\(display)", user: parts.first.map(String.init),
      password: parts.count == 2 ? String(parts[1]) : nil)
  }

  /// - Throws: ``TransportError/invalidProxy(variable:value:reason:)``.
  init(_ text: String, variable: String) throws(TransportError) {
    let separator = text.firstRange(of: "://")
    scheme = separator.map { text[..<$0.lowerBound].lowercased() } ?? "http"
    func invalid(_ reason: String) -> TransportError {
      .invalidProxy(variable: variable, value: RequestURL.withoutSecrets(text), reason: reason)
    }
    guard let standardPort = Self.ports[scheme] else {
      throw invalid("a proxy's scheme is http, https, socks4, socks4a, socks5 or socks5h, not \(scheme)")
    }
    let url: RequestURL
    do { url = try RequestURL("http://" + (separator.map { text[$0.upperBound...] } ?? text[...])) } catch {
      throw invalid("it is not of the form http://HOST:PORT")
    }
    host = url.host
    port = url.givenPort ?? standardPort
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
        let difference: UInt8 = address[bit / 8] ^ network[bit / 8]
        let mask: UInt8 = 0x80 >> UInt8(bit % 8)
        return difference & mask == 0
      }
    }
  }

  /// The bytes of an IP address; `nil` for any other text.
  private static func address(_ text: String) -> [UInt8]? {
    // inet_pton writes as many bytes as an address of the family has.
    for (family, byteCount) in [(AF_INET, 4), (AF_INET6, 16)] {
      var bytes = [UInt8](repeating: 0, count: byteCount)
      if unsafe inet_pton(family, text, &bytes) == 1 { return bytes }
    }
    return nil
  }
}
