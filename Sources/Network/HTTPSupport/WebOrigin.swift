/// The origin of a page (RFC 6454): a scheme, a host and a port, for example `https://till.example.org`.
package enum WebOrigin {
  /// The origin as browsers send it: in lower case, without the default port of its scheme.
  ///
  /// - Returns: The origin; `nil` if `text` is not a single origin, for example `*`, `null`, or a URL with a path.
  package static func normalized(_ text: String) -> String? {
    let text = text.lowercased()
    guard let separator = text.firstRange(of: "://") else { return nil }
    let (scheme, authority) = (text[..<separator.lowerBound], text[separator.upperBound...])
    guard let first = scheme.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first),
      scheme.utf8.allSatisfy({ isLetterOrDigit($0) || "+-.".utf8.contains($0) }),
      !authority.isEmpty, authority.utf8.allSatisfy({ isLetterOrDigit($0) || "-._:[]".utf8.contains($0) })
    else { return nil }
    let host = withoutPort(authority)
    guard !host.isEmpty, !host.contains(":") || (host.hasPrefix("[") && host.hasSuffix("]")) else { return nil }
    if host.endIndex < authority.endIndex {
      guard let port = Int(authority[host.endIndex...].dropFirst()), (1...65_535).contains(port) else { return nil }
    }
    return "\(scheme)://" + withoutStandardPort(authority, scheme)
  }

  /// Whether a page comes from the server that it sends a request to.
  ///
  /// - Parameter host: The request's `Host`. The scheme is not compared, because a proxy in front that terminates TLS
  ///   changes it.
  package static func isSame(_ origin: String, host: String) -> Bool {
    guard let separator = origin.firstRange(of: "://") else { return false }
    let scheme = origin[..<separator.lowerBound].lowercased()[...]
    let authority = origin[separator.upperBound...].lowercased()[...]
    return withoutStandardPort(authority, scheme) == withoutStandardPort(host.lowercased()[...], scheme)
  }

  private static func withoutStandardPort(_ authority: Substring, _ scheme: Substring) -> Substring {
    switch scheme {
    case "http" where authority.hasSuffix(":80"): authority.dropLast(3)
    case "https" where authority.hasSuffix(":443"): authority.dropLast(4)
    default: authority
    }
  }

  private static func withoutPort(_ authority: Substring) -> Substring {
    guard let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") else { return authority }
    return authority[..<colon]
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
