import DaemonHTTP
import HTTPSupport
import ScanInputs

extension SettingReader {
  /// The options of the HTTP server; `nil` if it is disabled.
  mutating func server() -> DaemonServer.Options? {
    let isEnabled = bool("http", "enabled") ?? true
    var options = DaemonServer.Options()
    let path = ["http", "address"]
    if let text = text(path) {
      switch HTTPAddress.parse(text) {
      case .success(let address): options.address = address
      case .failure(let problem): refuse(path, text, problem.description)
      }
    }
    if let mode = text("http", "socketMode").flatMap({ UInt16($0, radix: 8) }) {
      options.socketMode = mode
    }
    options.token = either(["http", "token"], orFile: ["http", "tokenFile"])
    if let token = options.token, token.isEmpty || !token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) {
      let source = isSet(["http", "token"]) ? "token" : "tokenFile"
      refuse(["http", source], nil, "is to be printable ASCII without blanks, as a header takes it")
    }
    options.maximumBodyByteCount = int("http", "maximumBodyBytes") ?? options.maximumBodyByteCount
    options.requestsPerSecond = number("http", "requestsPerSecond")
    options.requestBurst = int("http", "requestBurst") ?? options.requestBurst
    options.maximumEventStreams = int("http", "maximumEventStreams") ?? options.maximumEventStreams
    options.maximumConnections = int("http", "maximumConnections") ?? options.maximumConnections
    options.maximumConnectionsPerAddress = int("http", "maximumConnectionsPerAddress")
    options.names = hostNames(["http", "names"])
    options.allowedOrigins = origins(["http", "allowedOrigins"])
    if let seconds = number("http", "idleSeconds") { options.idleTimeout = .seconds(seconds) }
    options.servesStudio = bool("studio", "enabled")
    options.studioEdits = bool("studio", "edit") ?? false
    guard isEnabled else { return nil }
    let hasToken = isSet(["http", "token"]) || isSet(["http", "tokenFile"])
    if case .host(let host, _) = options.address, !Loopback.contains(host), !hasToken {
      refuse(
        path, host,
        "others reach this address, and there is no token: set http.tokenFile, or listen on 127.0.0.1 or unix:PATH")
    }
    return options
  }
}

extension SettingReader {
  private mutating func hostNames(_ path: [String]) -> [String] {
    let names = list(path) ?? []
    for name in names where HostNames.normalized(name) == nil {
      refuse(
        path, name,
        "is to be names of hosts as browsers send them, without a scheme and a port, such as shop.example.org or"
          + " xn--mnchen-3ya.example")
    }
    return names
  }

  private mutating func origins(_ path: [String]) -> [String] {
    let origins = list(path) ?? []
    for origin in origins where WebOrigin.normalized(origin) == nil {
      refuse(
        path, origin, "is to be origins of pages: a scheme, a host and, if need be, a port, as https://till.example.org"
      )
    }
    return origins
  }
}

/// A parser of addresses to listen on.
enum HTTPAddress {
  /// Whether two listeners would use the same port, as far as their host names show.
  static func collide(_ a: (host: String, port: Int), _ b: (host: String, port: Int)) -> Bool {
    /// Whether a socket bound to `host` also occupies the ports of `other`.
    func covers(_ host: String, _ other: String) -> Bool {
      host == other || host == "::" || host == "0.0.0.0" && !other.contains(":")
    }
    return a.port == b.port && a.port != 0 && (covers(a.host, b.host) || covers(b.host, a.host))
  }

  struct Problem: Error, CustomStringConvertible {
    let description: String
  }

  static func parse(_ text: String) -> Result<DaemonServer.Address, Problem> {
    if text.hasPrefix("unix:") {
      let path = String(text.dropFirst(5))
      guard path.hasPrefix("/") else {
        return .failure(Problem(description: "a Unix socket needs a whole path: unix:/run/…"))
      }
      guard path.utf8.count <= SocketFile.pathByteLimit else {
        return .failure(
          Problem(description: "the socket's path has at most \(SocketFile.pathByteLimit) bytes"))
      }
      return .success(.socket(path: path))
    }
    let example = "is to be HOST:PORT, [IPV6]:PORT or unix:PATH, such as 127.0.0.1:8765"
    guard let colon = text.lastIndex(of: ":") else { return .failure(Problem(description: example)) }
    var host = String(text[..<colon])
    let digits = text[text.index(after: colon)...]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = String(host.dropFirst().dropLast())
      guard host.contains(":") else { return .failure(Problem(description: example)) }
    } else if host.contains(":") {
      return .failure(Problem(description: "an IPv6 address stands in brackets: [::1]:8765"))
    }
    let isName = !host.isEmpty && host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/[]@".utf8.contains($0) }
    guard isName, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(digits), port <= 65_535 else {
      return .failure(Problem(description: example))
    }
    return .success(.host(host, port: port))
  }
}
