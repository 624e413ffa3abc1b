import AsyncHTTPClient
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A server's certificate that was not trusted, looked at once more to say why: the library that checks it says only
/// that it does not pass. Nothing is sent to the server but the beginning of a handshake, which is broken off.
struct PeerCertificate: Sendable {
  /// Seconds since 1970 from which on, and until which, it is valid.
  var validity: ClosedRange<Int64>

  /// The certificate of a server; `nil` if it cannot be had in time.
  static func of(_ url: RequestURL, timeout: Duration) async -> PeerCertificate? {
    let loop = HTTPClient.defaultEventLoopGroup.any()
    let found = loop.makePromise(of: PeerCertificate?.self)
    let isAnswered = Atomic(false)
    // The first answer counts: the certificate, a fault, or the end of the time.
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

  /// Why it is not trusted, by a clock that shows `now`, in seconds since 1970.
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
    Date(timeIntervalSince1970: Double(seconds)).formatted(Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day())
  }
}
