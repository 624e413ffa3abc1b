/// The bearer token that clients must send.
package struct BearerToken: Sendable {
  private let bytes: [UInt8]

  /// - Returns: `nil` if the text is empty, or cannot be sent as a token in a header (RFC 6750).
  package init?(_ text: String) {
    bytes = Array(text.utf8)
    guard !bytes.isEmpty, bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
  }

  /// Creates a token from any text, such as one with blanks that clients of another kind send as it is.
  package init(secret: String) { bytes = Array(secret.utf8) }

  /// Whether an `Authorization` header contains the token.
  ///
  /// The comparison's time depends on the header's length, and not on how much of it is correct.
  package func admits(_ authorization: String?) -> Bool {
    guard let authorization else { return false }
    let header = Array(authorization.utf8)
    let scheme = Array("bearer ".utf8)
    guard header.count > scheme.count, zip(header, scheme).allSatisfy({ $0 | 0x20 == $1 }) else { return false }
    let shown = header[scheme.count...].drop { $0 == UInt8(ascii: " ") }
    var difference = shown.count ^ bytes.count
    for (index, byte) in shown.enumerated() { difference |= Int(byte ^ bytes[index % max(1, bytes.count)]) }
    return difference == 0
  }
}
