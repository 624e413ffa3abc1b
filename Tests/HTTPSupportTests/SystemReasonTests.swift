import AsyncHTTPClient
import HTTPSupport
import NIOSSL
import Testing

@Suite struct SystemReasonTests {
  struct Foreseen: Error, CustomStringConvertible {
    let description: String
  }

  @Test func `errors are told in a few plain words`() {
    #expect(SystemReason.text(HTTPClientError.connectTimeout, host: "a") == "no connection in time")
    #expect(SystemReason.text(HTTPClientError.remoteConnectionClosed, host: "a") == "closed without an answer")
    #expect(SystemReason.text(NIOSSLError.uncleanShutdown, host: "a") == "closed without an answer")
    #expect(SystemReason.text(Foreseen(description: "Broken\nline"), host: "a") == "broken line")
    #expect(SystemReason.text(Foreseen(description: "TLS failed"), host: "a") == "TLS failed")
  }

  @Test func `a certificate for another host names the host`() {
    #expect(
      SystemReason.text(NIOSSLExtraError.failedToValidateHostname, host: "shop.example")
        == "no secure connection: the server's certificate is for another host name than shop.example")
  }

  @Test func `what BoringSSL says is explained`() {
    let error = Foreseen(description: "error:WRONG_VERSION_NUMBER at tls_record.cc")
    #expect(TLSReason.reason(error, host: "a") == "the port does not speak TLS; an http URL may be meant")
    #expect(!TLSReason.isDistrust(error))
    #expect(TLSReason.isDistrust(Foreseen(description: "CERTIFICATE_VERIFY_FAILED")))
  }
}
