import NIOSSL

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Creates the TLS configuration of connections.
enum TLSSettings {
  /// - Throws: `AttemptFailure` for a certificate authority file that cannot be used.
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
}
