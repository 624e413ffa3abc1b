import Testing

@testable import CurlClient

@Suite struct ClientErrorTests {
  private func error(
    _ code: Int32, _ message: String, system: Int32 = 0, proxy: Int32 = 0, isProxySecure: Bool = false
  ) -> ClientError {
    ClientError(code: code, systemError: system, proxyStatus: proxy, isProxySecure: isProxySecure, message: message)
  }

  /// What libcurl says with OpenSSL and with GnuTLS.
  @Test(
    arguments: [
      (60, "SSL certificate problem: self-signed certificate", ClientError.untrusted),
      (60, "server certificate verification failed. CAfile: /a.pem CRLfile: none", .untrusted),
      (60, "SSL: no alternative certificate subject name matches target host name 'a.example'", .otherHost),
      (60, "SSL: certificate subject name (b) does not match target host name 'a.example'", .otherHost),
      (
        35, "error:0A00010B:SSL routines::wrong version number",
        .noEncryption("the port does not speak TLS; an http URL may be meant")
      ),
      (
        35, "gnutls_handshake() failed: An unexpected TLS packet was received.",
        .noEncryption("the port does not speak TLS; an http URL may be meant")
      ),
      (
        35, "error:0A00042E:SSL routines::tlsv1 alert protocol version",
        .noEncryption("the server speaks no version of TLS that is safe today")
      ),
      (35, "OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to localhost:7", .closed),
      (1, "Received HTTP/0.9 when not allowed", .notHTTP), (8, "Weird server reply", .notHTTP),
      (6, "Could not resolve host: a.example", .nameNotFound(isProxy: false)),
      (5, "Could not resolve proxy: p.example", .nameNotFound(isProxy: true)),
      (52, "Empty reply from server", .closed), (18, "transfer closed", .closed), (56, "Recv failure", .closed),
      (77, "error setting certificate file", .authorityFile),
    ] as [(Int32, String, ClientError)])
  func `what libcurl says is understood`(code: Int32, message: String, expected: ClientError) {
    #expect(error(code, message) == expected)
  }

  @Test func `an error of the system goes before libcurl's words, and a proxy's before both`() {
    #expect(error(7, "Failed to connect", system: 111) == .other("Connection refused"))
    #expect(error(56, "Recv failure", system: 104) == .other("Connection reset by peer"))
    #expect(error(56, "CONNECT tunnel failed, response 407", proxy: 407) == .proxyAuthentication)
    #expect(error(56, "CONNECT tunnel failed, response 403", proxy: 403) == .proxyRefused)
    #expect(error(35, "error", proxy: 200) == .noEncryption("error"))
    let selfSigned = "SSL certificate problem: self-signed certificate"
    #expect(error(60, selfSigned, isProxySecure: true) == .proxyEncryption(.untrusted))
    #expect(error(60, selfSigned, proxy: 200, isProxySecure: true) == .untrusted)
    #expect(error(7, "Failed to connect", system: 111, isProxySecure: true) == .other("Connection refused"))
  }

  @Test func `reasons are short, for people, and in one line`() {
    #expect(ClientError.other("Connection refused").reason(host: "a") == "connection refused")
    #expect(ClientError.other("TLS failed").reason(host: "a") == "TLS failed")
    #expect(ClientError.timedOut(.connect).reason(host: "a") == "no connection in time")
    #expect(ClientError.closed.reason(host: "a") == "closed without an answer")
    #expect(ClientError.nameNotFound(isProxy: true).reason(host: "a", proxy: "p") == "the name p was not found")
    #expect(
      ClientError.otherHost.reason(host: "shop.example")
        == "no secure connection: the server's certificate is for another host name than shop.example")
    #expect(
      ClientError.proxyEncryption(.otherHost).reason(host: "shop.example", proxy: "p.example")
        == "no secure connection to the proxy: the proxy's certificate is for another host name than p.example")
    let noTLS = error(35, "error:0A00010B:SSL routines::wrong version number", isProxySecure: true)
    #expect(noTLS.encryptionReason(host: "p") == "the proxy's port does not speak TLS; an http URL may be meant")
    #expect(error(99, "one\ntwo") == .other("one two"))
  }
}

@Suite struct ServerCertificateTests {
  @Test(
    arguments: [
      ("Jan  1 00:00:00 2021 GMT", 1_609_459_200), ("Nov 27 10:11:12 2026 GMT", 1_795_774_272),
      ("2021-01-01 00:00:00 GMT", 1_609_459_200), ("", nil), ("Foo  1 00:00:00 2021 GMT", nil),
      ("2021-13-01 00:00:00 GMT", nil),
    ] as [(String, Int64?)])
  func `dates are read as OpenSSL and GnuTLS write them`(text: String, expected: Int64?) {
    #expect(ServerCertificate.seconds(text) == expected)
  }
}

@Suite struct ResponseHeadTests {
  @Test func `fields are found by their names in any case, and the first one decides`() {
    let head = ResponseHead(
      status: 200, text: "HTTP/1.1 200 OK\r\nLocation: /a b \r\nX-Empty:\r\nx-two: 1\r\nX-Two:\t2\r\nno field\r\n\r\n")
    #expect(head.status == 200 && head["location"] == "/a b" && head["X-EMPTY"] == "" && head["x-two"] == "1")
    #expect(head["other"] == nil)
    #expect(head.byteCount == 76)
  }

  @Test func `a name that is not found is named as such each time`() async throws {
    let client = HTTPClient()
    for _ in 0..<4 {
      let error = await #expect(throws: ClientError.self) {
        _ = try await client.begin(ClientRequest(url: "http://nowhere.invalid:9/")).head()
      }
      #expect(error == .nameNotFound(isProxy: false))
    }
    client.shutdown()
  }
}
