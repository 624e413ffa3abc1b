import HTTPSupport

/// Where a URL has the bucket.
package enum S3Style: String, Sendable, CaseIterable {
  /// `https://HOST/BUCKET/KEY`, which most stores other than Amazon's want.
  case path
  /// `https://BUCKET.HOST/KEY`.
  case virtualHost = "virtual-host"
}

/// The URLs of a bucket's objects.
struct S3Endpoint: Sendable, Equatable {
  /// What comes before the key, with a slash at its end.
  let base: String
  /// The host, for messages.
  let host: String

  /// - Parameters:
  ///   - endpoint: The URL of the server; `nil` for Amazon's in `region`.
  ///   - style: `nil` for what the server is most likely to take: Amazon's has the bucket in its host, unless a dot in
  ///     its name would make the certificate a wrong one, others have it in the path.
  ///   - source: The name of the setting that gave `endpoint`, for messages.
  /// - Throws: `ObjectStoreError.invalidSetting`.
  init(
    bucket: String, region: String, endpoint: String?, style: S3Style?, source: String
  ) throws(ObjectStoreError) {
    let url = endpoint ?? "https://s3.\(region).amazonaws.com\(region.hasPrefix("cn-") ? ".cn" : "")"
    let (scheme, authority, path) = try Self.parts(url, source: source)
    let style = style ?? (endpoint == nil && !bucket.contains(".") ? .virtualHost : .path)
    switch style {
    case .path:
      host = authority
      base = "\(scheme)://\(authority)\(path)/\(bucket)/"
    case .virtualHost:
      guard !Self.isAddress(authority) else {
        throw .invalidSetting(
          name: source, value: url, reason: "a bucket cannot stand before an address in a URL; use the path style")
      }
      host = "\(bucket).\(authority)"
      base = "\(scheme)://\(bucket).\(authority)\(path)/"
    }
  }

  /// The parts of `SCHEME://HOST[:PORT][/PATH]`; the path has no slash at its end.
  private static func parts(
    _ url: String, source: String
  ) throws(ObjectStoreError) -> (scheme: String, authority: String, path: String) {
    func invalid(_ reason: String) -> ObjectStoreError {
      // A URL with a password in it is not repeated.
      .invalidSetting(name: source, value: url.contains("@") ? "a URL with a user" : url, reason: reason)
    }
    guard let scheme = ["https", "http"].first(where: { url.lowercased().hasPrefix($0 + "://") }) else {
      throw invalid("an endpoint is a URL that begins with https:// or http://")
    }
    var rest = url.dropFirst(scheme.count + 3)
    while rest.hasSuffix("/") { rest.removeLast() }
    if rest.contains("@") { throw invalid("an endpoint has no user; the key and its secret are settings of their own") }
    if rest.contains(where: { $0 == "?" || $0 == "#" }) { throw invalid("an endpoint has no query") }
    let slash = rest.firstIndex(of: "/") ?? rest.endIndex
    let (authority, path) = (rest[..<slash], rest[slash...])
    let isPlain = rest.utf8.allSatisfy { byte in
      (0x21...0x7E).contains(byte) && !"\"<>\\^`{|}%".utf8.contains(byte)
    }
    guard !authority.isEmpty, !authority.hasPrefix(":"), isPlain else {
      throw invalid("an endpoint is https://HOST, with a port and a path if need be")
    }
    return (scheme, String(authority), String(path))
  }

  /// Whether the host of an authority is an address.
  private static func isAddress(_ authority: String) -> Bool {
    if authority.hasPrefix("[") { return true }
    let host = authority.split(separator: ":").first ?? ""
    return host.allSatisfy { $0.isNumber || $0 == "." }
  }
}
