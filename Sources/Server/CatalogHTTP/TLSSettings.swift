import Essentials

/// Checks of the TLS options.
enum TLSSettings {
  /// - Throws: `AttemptFailure` for a certificate authority file that cannot be used.
  static func check(_ options: TransportOptions) throws(AttemptFailure) {
    guard let path = options.certificateAuthorityFile else { return }
    guard FileManager.default.fileExists(atPath: path) else { throw unusable(path, "no such file") }
    guard FileManager.default.isReadableFile(atPath: path) else {
      throw unusable(path, "cannot be read; check who may read it")
    }
    // Nothing comes from a device.
    let text = FileManager.default.contents(atPath: path) ?? Data()
    if text.isEmpty { throw unusable(path, "holds no certificate") }
    if text.firstRange(of: Data("-----BEGIN CERTIFICATE-----".utf8)) == nil { throw noCertificates(path) }
  }

  /// The failure for a file that the TLS library does not understand.
  static func noCertificates(_ path: String) -> AttemptFailure { unusable(path, "holds no certificates in PEM form") }

  private static func unusable(_ path: String, _ reason: String) -> AttemptFailure {
    AttemptFailure(error: .certificateFile(path: path, reason: reason), isRetryable: false)
  }
}
