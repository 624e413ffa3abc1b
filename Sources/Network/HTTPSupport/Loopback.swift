/// Host names and addresses that only this machine can reach.
///
/// A browser on this machine reaches them too, on behalf of any page. If no token keeps pages out, two checks do: the
/// `Host` of a request must be one of these names, which a page's own name that resolves to this machine (DNS
/// rebinding) is not; and its `Origin`, if present, must be of this machine.
package enum Loopback {
  /// Whether a name or numeric address is the machine's own. An IPv6 address may be in brackets.
  package static func contains(_ host: some StringProtocol) -> Bool {
    // The most common spellings, checked first because each request comes here.
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

  /// Whether a request's `Host`, with or without a port, is of this machine.
  package static func contains(authority: String) -> Bool {
    guard let host = host(of: authority[...]) else { return false }
    return contains(host)
  }

  /// Whether an `Origin` (RFC 6454), for example `http://localhost:3000`, is of this machine. `null` is not.
  package static func contains(origin: String) -> Bool {
    guard let scheme = origin.firstRange(of: "://") else { return false }
    guard let host = host(of: origin[scheme.upperBound...]) else { return false }
    return contains(host)
  }

  /// The host without the port; `nil` if what follows the host is not a port.
  static func host(of authority: Substring) -> Substring? {
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
