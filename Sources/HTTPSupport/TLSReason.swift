import NIOSSL

/// Descriptions of TLS errors.
package enum TLSReason {
  /// BoringSSL's name for an untrusted certificate, whatever the reason.
  private static let distrust = "CERTIFICATE_VERIFY_FAILED"

  /// Whether the server's certificate was not trusted.
  package static func isDistrust(_ error: any Error) -> Bool { String(describing: error).contains(distrust) }

  /// BoringSSL's names of errors, and their meanings. The first name that an error's text contains is used.
  private static let faults: [(sign: String, meaning: String)] = [
    (
      distrust,
      "the server's certificate is signed by an authority that is not trusted here, or it is not valid at this time"
    ),
    ("WRONG_VERSION_NUMBER", "the port does not speak TLS; an http URL may be meant"),
    ("HTTP_REQUEST", "the port speaks plain HTTP; an http URL may be meant"),
    ("PROTOCOL_VERSION", "the server speaks no version of TLS that is safe today"),
    ("UNSUPPORTED_PROTOCOL", "the server speaks no version of TLS that is safe today"),
    ("CERTIFICATE_REQUIRED", "the server asks for a certificate of the client, which is not supported"),
    ("UNRECOGNIZED_NAME", "the server does not know this host name"),
    ("HANDSHAKE_FAILURE", "the server and this program have no way of encryption in common"),
  ]

  /// Why a connection could not be encrypted, in a sentence for people.
  ///
  /// - Parameter host: The host whose certificate was expected.
  package static func reason(_ error: any Error, host: String) -> String {
    if let error = error as? NIOSSLExtraError, error == .failedToValidateHostname {
      return "the server's certificate is for another host name than \(host)"
    }
    let text = String(describing: error)
    if let fault = faults.first(where: { text.contains($0.sign) }) { return fault.meaning }
    return SystemReason.text(error)
  }
}
