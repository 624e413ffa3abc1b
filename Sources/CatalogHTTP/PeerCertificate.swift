import AsyncHTTPClient
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import TextFormat

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An untrusted server certificate, fetched once more to explain why: the library that verifies it reports only that
/// verification failed. Only the beginning of a handshake is sent to the server, which is then aborted.
struct PeerCertificate: Sendable {
  /// The validity period, in seconds since 1970.
  var validity: ClosedRange<Int64>

  /// Fetches the certificate of a server; `nil` if that fails or takes too long.
  static func of(_ url: RequestURL, timeout: Duration) async -> PeerCertificate? {
    let loop = HTTPClient.defaultEventLoopGroup.any()
    let found = loop.makePromise(of: PeerCertificate?.self)
    let isAnswered = Atomic(false)
    // The first result is used: the certificate, an error, or the timeout.
    @Sendable func answer(_ certificate: PeerCertificate?) {
      if !isAnswered.exchange(true, ordering: .acquiringAndReleasing) { found.succeed(certificate) }
    }
    let connecting = ClientBootstrap(group: loop)
      .connectTimeout(TimeAmount(timeout))
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let context = try NIOSSLContext(configuration: .makeClientConfiguration())
          let isAddress = (try? SocketAddress(ipAddress: url.host, port: 0)) != nil
          let look: NIOSSLCustomVerificationCallback = { certificates, verdict in
            answer(certificates.first.flatMap { PeerCertificate($0) })
            verdict.succeed(.failed)
          }
          let handler = try NIOSSLClientHandler(
            context: context, serverHostname: isAddress ? nil : url.host, customVerificationCallback: look)
          try channel.pipeline.syncOperations.addHandler(handler)
        }
      }
      .connect(host: url.host, port: url.port)
    let alarm = loop.scheduleTask(in: TimeAmount(timeout)) { answer(nil) }
    connecting.whenFailure { _ in answer(nil) }
    let certificate = (try? await found.futureResult.get()) ?? nil
    alarm.cancel()
    connecting.whenSuccess { $0.close(promise: nil) }
    return certificate
  }

  private init?(_ certificate: NIOSSLCertificate) {
    let (first, last) = (Int64(certificate.notValidBefore), Int64(certificate.notValidAfter))
    guard first <= last else { return nil }
    validity = first...last
  }

  /// Why the certificate is not trusted, at the time `now` in seconds since 1970.
  func reason(now: Int64) -> String {
    if now > validity.upperBound { return "the server's certificate expired on \(Self.day(validity.upperBound))" }
    if now < validity.lowerBound {
      return
        "the server's certificate is valid from \(Self.day(validity.lowerBound)) on, and this machine's clock says "
        + Self.day(now)
    }
    return "the server's certificate is signed by an authority that is not trusted here"
  }

  private static func day(_ seconds: Int64) -> String {
    // A time far outside of the years 1 to 9999 is clamped to them.
    let milliseconds = seconds.multipliedReportingOverflow(by: 1000)
    let time = CivilTime(milliseconds: milliseconds.overflow ? (seconds < 0 ? .min : .max) : milliseconds.partialValue)
    return String(time.secondsText.prefix(10))
  }
}
