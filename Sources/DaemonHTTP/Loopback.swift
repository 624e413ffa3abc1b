/// Names and addresses that only this machine reaches.
///
/// A browser on this machine reaches them as well, on behalf of any page. What keeps pages out where no token does: the `Host`
/// of a request must be one of these, so that a name of the page's own that was made to lead here (DNS rebinding) is not, and
/// its `Origin`, if it has one, must be of this machine.
package enum Loopback {
  /// Whether a name or a numeric address is the machine's own; an IPv6 address with or without brackets.
  package static func contains(_ host: some StringProtocol) -> Bool {
    // As nearly everybody writes it: each request comes here.
    if host == "127.0.0.1" || host == "localhost" { return true }
    var name = host.lowercased()
    if name.hasPrefix("["), name.hasSuffix("]") { name = String(name.dropFirst().dropLast()) }
    if name == "localhost" || name == "localhost." { return true }
    if name.hasPrefix("::ffff:") { name = String(name.dropFirst(7)) }
    if name == "::1" || name == "0:0:0:0:0:0:0:1" { return true }
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127"
      && parts.allSatisfy { part in
        (1...3).contains(part.utf8.count) && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
          && (UInt16(part) ?? 256) < 256
      }
  }

  /// Whether the `Host` of a request, with or without a port, is of this machine.
  static func contains(authority: String) -> Bool {
    guard let host = host(of: authority[...]) else { return false }
    return contains(host)
  }

  /// Whether an `Origin` (RFC 6454), such as `http://localhost:3000`, is of this machine. `null` is not.
  static func contains(origin: String) -> Bool {
    guard let scheme = origin.firstRange(of: "://") else { return false }
    guard let host = host(of: origin[scheme.upperBound...]) else { return false }
    return contains(host)
  }

  /// The part before the port.
  private static func host(of authority: Substring) -> Substring? {
    let port: Substring
    let host: Substring
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else { return nil }
      host = authority[...end]
      port = authority[authority.index(after: end)...]
    } else {
      let colon = authority.firstIndex(of: ":") ?? authority.endIndex
      host = authority[..<colon]
      port = authority[colon...]
    }
    if port.isEmpty { return host }
    return port.first == ":" && port.dropFirst().utf8.allSatisfy { (0x30...0x39).contains($0) } ? host : nil
  }
}
