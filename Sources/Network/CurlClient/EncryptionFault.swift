import TextFormat

/// Why a request got no secure connection, and what helps, in words for people.
package struct EncryptionFault: Sendable, Equatable {
  /// What is wrong, without what helps: `the server's certificate expired on 2021-01-01`.
  package let reason: String
  private let cause: Cause

  private enum Cause: Sendable, Equatable {
    /// An authority that is not trusted, or one of these or the time where the dates could not be read.
    case authority
    /// The dates of the certificate, or this machine's clock.
    case dates
    case host
    /// The file of authorities.
    case file
    case other
  }

  /// The fault that a client's error tells of; `nil` for an error that has nothing to do with encryption.
  ///
  /// If the certificate is not trusted, this asks the server for it once more, to tell by its dates whether the reason is
  /// the authority or the time.
  ///
  /// - Parameters:
  ///   - error: The error of the request.
  ///   - request: The request.
  ///   - host: The name or address of the server, or of the proxy if that is the one without TLS.
  ///   - timeout: How long to wait for the server at most.
  ///   - now: The time in seconds since 1970.
  package init?(_ error: ClientError, of request: ClientRequest, host: String, timeout: Duration, now: Int64) async {
    switch error {
    case .untrusted:
      if let certificate = await ServerCertificate.of(request, timeout: timeout) {
        self.init(certificate, now: now)
      } else {
        self.init(error, host: host, request)
      }
    case .otherHost, .noEncryption, .authorityFile, .proxyEncryption: self.init(error, host: host, request)
    default: return nil
    }
  }

  /// The fault of a certificate that is not trusted.
  ///
  /// - Parameter now: The time in seconds since 1970.
  package init(_ certificate: ServerCertificate, now: Int64) {
    let validity = certificate.validity
    if now > validity.upperBound {
      reason = "the server's certificate expired on \(Self.day(validity.upperBound))"
      cause = .dates
    } else if now < validity.lowerBound {
      reason =
        "the server's certificate is valid from \(Self.day(validity.lowerBound)) on, and this machine's clock says "
        + Self.day(now)
      cause = .dates
    } else {
      reason = "the server's certificate is signed by an authority that is not trusted here"
      cause = .authority
    }
  }

  private init(_ error: ClientError, host: String, _ request: ClientRequest) {
    switch error {
    case .authorityFile:
      reason =
        request.certificateAuthorityFile.map { "\($0) cannot be read, or holds no certificates in PEM form" }
        ?? error.encryptionReason(host: host)
      cause = .file
    default:
      reason = error.encryptionReason(host: host)
      cause = error == .untrusted ? .authority : error == .otherHost ? .host : .other
    }
  }

  /// What helps; empty if only the server's operator can do something.
  ///
  /// - Parameters:
  ///   - authorityFile: The program's setting that names the file of authorities to trust.
  ///   - url: The program's setting of the server's URL.
  ///   - now: The time in seconds since 1970.
  package func advice(authorityFile: String?, url: String?, now: Int64) -> String {
    switch cause {
    case .authority:
      "name the PEM file of the authority that signed it" + (authorityFile.map { " with \($0)" } ?? "")
        + ", or have the server send the whole chain of its certificates"
    case .dates:
      "have the server's certificate renewed, or set the clock of this machine, which says \(Self.day(now))"
    case .host: "use a name of the certificate" + (url.map { " in \($0)" } ?? " in the URL")
    case .file: authorityFile.map { "correct \($0)" } ?? ""
    case .other: ""
    }
  }

  private static func day(_ seconds: Int64) -> String {
    // A time far outside of the years 1 to 9999 is clamped to them.
    let milliseconds = seconds.multipliedReportingOverflow(by: 1000)
    let time = CivilTime(milliseconds: milliseconds.overflow ? (seconds < 0 ? .min : .max) : milliseconds.partialValue)
    return String(time.secondsText.prefix(10))
  }
}
