import NIOSSL

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How connections are encrypted, and why one was not.
enum TLSSettings {
  /// - Throws: `AttemptFailure` for an authority file that cannot be used.
  static func configuration(_ options: TransportOptions) throws(AttemptFailure) -> TLSConfiguration {
    var tls = TLSConfiguration.makeClientConfiguration()
    if !options.verifiesCertificates { tls.certificateVerification = .none }
    guard let path = options.certificateAuthorityFile else { return tls }
    func unusable(_ reason: String) -> AttemptFailure {
      AttemptFailure(error: .certificateFile(path: path, reason: reason), isRetryable: false)
    }
    guard FileManager.default.fileExists(atPath: path) else { throw unusable("no such file") }
    guard FileManager.default.isReadableFile(atPath: path) else {
      throw unusable("cannot be read; check who may read it")
    }
    let certificates: [NIOSSLCertificate]
    do { certificates = try NIOSSLCertificate.fromPEMFile(path) } catch {
      throw unusable("holds no certificates in PEM form")
    }
    if certificates.isEmpty { throw unusable("holds no certificate") }
    tls.trustRoots = .certificates(certificates)
    return tls
  }

  /// What BoringSSL calls a certificate that is not trusted, for whatever reason.
  private static let distrust = "CERTIFICATE_VERIFY_FAILED"

  /// Whether the server's certificate was not trusted.
  static func isDistrust(_ error: any Error) -> Bool { String(describing: error).contains(distrust) }

  /// What BoringSSL calls a fault, and what it means. The first that an error's text contains counts.
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
  static func reason(_ error: any Error, host: String) -> String {
    if let error = error as? NIOSSLExtraError, error == .failedToValidateHostname {
      return "the server's certificate is for another host name than \(host)"
    }
    let text = String(describing: error)
    if let fault = faults.first(where: { text.contains($0.sign) }) { return fault.meaning }
    return SystemReason.text(error)
  }
}
