import HTTPServer
import HTTPSupport
import HTTPTypes
import Testing

@testable import DaemonHTTP

@Suite struct BearerTokenTests {
  @Test(arguments: ["Bearer s3cret", "bearer s3cret", "BEARER s3cret", "Bearer   s3cret"])
  func `the token is admitted under its scheme`(header: String) throws {
    #expect(try #require(BearerToken("s3cret")).admits(header))
  }

  @Test(arguments: [
    "", "Bearer", "Bearer ", "s3cret", "Bearer s3cre", "Bearer s3crets", "Bearer S3CRET", "Basic s3cret",
    "Bearers3cret",
    "Bearer s3crets3cret", "Bearer s3cret s3cret", "Bearer s3cret ",
  ])
  func `nothing else is`(header: String) throws {
    #expect(try !#require(BearerToken("s3cret")).admits(header))
    #expect(try !#require(BearerToken("s3cret")).admits(nil))
  }

  @Test(arguments: ["", " ", "a b", "a\n", "ü", "a\u{7F}"])
  func `a token that no header can carry is none`(text: String) { #expect(BearerToken(text) == nil) }
}

@Suite struct LoopbackTests {
  @Test(arguments: [
    "localhost", "LOCALHOST", "localhost.", "127.0.0.1", "127.1.2.3", "::1", "[::1]", "0:0:0:0:0:0:0:1",
    "::ffff:127.0.0.1", "localhost:80", "127.0.0.1:8765", "[::1]:8765",
  ])
  func `names and addresses of this machine`(host: String) {
    #expect(Loopback.contains(host) || Loopback.contains(authority: host))
    #expect(Loopback.contains(authority: host) || host.contains("::") || host.contains("0:0"))
  }

  @Test(arguments: [
    "", "example.org", "localhost.example.org", "127.0.0.1.example.org", "128.0.0.1", "127.0.0", "127.0.0.256",
    "127.0.0.1.", "0.0.0.0", "::", "[::]", "192.168.0.1", "127.0.0.1@example.org", "localhost:80@example.org",
    "[::1]x", "[::1", "127.0.0.01111", "localhost:a", "127.+1.0.1", "xlocalhost",
  ])
  func `and others`(host: String) {
    #expect(!Loopback.contains(host))
    #expect(!Loopback.contains(authority: host))
    #expect(!Loopback.contains(origin: "http://" + host))
  }

  @Test func `an origin is a scheme and a host`() {
    #expect(Loopback.contains(origin: "http://localhost:3000"))
    #expect(Loopback.contains(origin: "https://[::1]"))
    #expect(!Loopback.contains(origin: "null"))
    #expect(!Loopback.contains(origin: "localhost"))
    #expect(!Loopback.contains(origin: "http://localhost/path"))
  }
}

@Suite struct AccessControlTests {
  func head(
    _ host: String? = "", origin: String? = nil, authorization: String? = nil
  ) -> HTTPRequest {
    var head = HTTPRequest(method: .get, scheme: "http", authority: host, path: "/")
    if let origin { head.headerFields[.origin] = origin }
    if let authorization { head.headerFields[.authorization] = authorization }
    return head
  }

  func accessControl(
    _ address: DaemonServer.Address, token: String? = nil, names: [String] = []
  ) throws -> AccessControl {
    var options = DaemonServer.Options()
    options.names = names
    options.address = address
    options.token = token
    return try DaemonServer.accessControl(options)
  }

  /// The status with which a request is refused, if it is.
  func status(_ accessControl: AccessControl, _ head: HTTPRequest, _ access: Route.Access? = .caller, now: Double = 0)
    -> Int?
  {
    do throws(ErrorResponse) {
      try accessControl.admit(head, to: access, caller: "a", now: now)
      return nil
    } catch {
      return error.status.code
    }
  }

  @Test func `without a token only pages of other sites are kept out on loopback`() throws {
    let accessControl = try accessControl(.host("127.0.0.1", port: 1))
    #expect(status(accessControl, head()) == nil)
    #expect(status(accessControl, head("localhost:8765")) == nil)
    #expect(status(accessControl, head("rebound.example.org")) == 403)
    #expect(status(accessControl, head("localhost", origin: "http://localhost:3000")) == nil)
    #expect(status(accessControl, head("localhost", origin: "https://example.org")) == 403)
    #expect(status(accessControl, head("localhost", origin: "null")) == 403)
    #expect(status(accessControl, head("rebound.example.org"), nil) == 403)
    #expect(status(accessControl, head("rebound.example.org"), .machine) == 403)
    #expect(status(accessControl, head("probe.example.org"), .anybody) == nil)
  }

  @Test func `a request names one host`() throws {
    for accessControl in [
      try accessControl(.host("127.0.0.1", port: 1)), try accessControl(.socket(path: "/s")),
      try accessControl(.host("0.0.0.0", port: 1), token: "s"),
    ] {
      for access in [Route.Access.caller, .machine, .anybody, nil] {
        #expect(status(accessControl, head(nil), access) == 400)
        var two = head("localhost")
        two.headerFields[AccessRules.furtherHost] = "localhost"
        #expect(status(accessControl, two, access) == 400)
        for host in ["local host", "localhost/", "a@localhost", "localhost\\", "ü"] {
          #expect(status(accessControl, head(host), access) == 400, "\(host)")
        }
      }
      for host in ["", "localhost", "[::1]:8765", "a-b.example.org:80", "xn--fsqu00a"] {
        #expect(status(accessControl, head(host, authorization: "Bearer s")) != 400, "\(host)")
      }
    }
  }

  @Test func `a Unix domain socket is out of a page's reach`() throws {
    let accessControl = try accessControl(.socket(path: "/s"))
    #expect(status(accessControl, head("anything", origin: "https://example.org")) == nil)
  }

  @Test func `forms of other pages are refused everywhere, as a proxy may lead to a Unix domain socket`() throws {
    for address in [DaemonServer.Address.host("127.0.0.1", port: 1), .socket(path: "/s")] {
      let accessControl = try accessControl(address, names: ["shop.example.org"])
      var form = head("localhost")
      form.method = .post
      form.headerFields[.contentType] = "text/plain"
      #expect(status(accessControl, form) == nil)
      form.headerFields[.origin] = "https://shop.example.org"
      #expect(status(accessControl, form) == nil)
      form.headerFields[.origin] = "https://evil.example"
      #expect([403, 415].contains(status(accessControl, form)))
    }
  }

  @Test func `a daemon answers to its names on any port, and to their pages`() throws {
    let accessControl = try accessControl(
      .host("127.0.0.1", port: 1), names: ["Shop.Example.org", "10.0.0.5", "[FE80::1]"])
    for host in [
      "shop.example.org", "SHOP.EXAMPLE.ORG:8443", "shop.example.org.", "shop.example.org.:80", "10.0.0.5:1",
      "[fe80::1]:8",
      "localhost:8765", "",
    ] {
      #expect(status(accessControl, head(host)) == nil, "\(host)")
    }
    for host in ["example.org", "a.shop.example.org", "shop.example.org.a", "10.0.0.50", "shop.example.org:8443x"] {
      #expect(status(accessControl, head(host)) == 403, "\(host)")
    }
    for origin in [
      "http://shop.example.org", "https://Shop.example.org:8443", "https://[fe80::1]", "http://10.0.0.5:3",
    ] {
      #expect(status(accessControl, head("127.0.0.1:8765", origin: origin)) == nil, "\(origin)")
    }
    for origin in ["null", "ftp://shop.example.org", "https://shop.example.org.a", "shop.example.org", "https://"] {
      #expect(status(accessControl, head("shop.example.org", origin: origin)) == 403, "\(origin)")
    }
  }

  @Test func `a daemon with names is behind a proxy, so its metrics need the token`() throws {
    for address in [DaemonServer.Address.host("127.0.0.1", port: 1), .socket(path: "/s")] {
      let named = try accessControl(address, token: "s", names: ["shop.example.org"])
      #expect(status(named, head(), .machine) == 401)
      #expect(status(named, head(authorization: "Bearer s"), .machine) == nil)
      #expect(status(try accessControl(address, names: ["shop.example.org"]), head(), .machine) == nil)
    }
  }

  @Test(arguments: [
    "", "shop.example.org:80", "https://shop.example.org", "shop.example.org/shop", "*.example.org", "ü.de",
  ])
  func `a name is that of a host`(name: String) {
    #expect(throws: DaemonServerError.nameUnusable(name)) {
      try accessControl(.host("127.0.0.1", port: 1), names: [name])
    }
  }

  @Test func `a token is asked for wherever one is configured`() throws {
    for address in [DaemonServer.Address.host("0.0.0.0", port: 1), .host("localhost", port: 1), .socket(path: "/s")] {
      let accessControl = try accessControl(address, token: "s3cret")
      #expect(status(accessControl, head()) == 401)
      #expect(status(accessControl, head(authorization: "Bearer wrong")) == 401)
      #expect(
        status(accessControl, head("example.org", origin: "https://example.org", authorization: "Bearer s3cret")) == nil
      )
      #expect(status(accessControl, head(), nil) == 401)
      #expect(status(accessControl, head(), .anybody) == nil)
    }
  }

  @Test func `metrics need no token where only this machine can ask`() throws {
    #expect(status(try accessControl(.host("::1", port: 1), token: "s"), head(), .machine) == nil)
    #expect(status(try accessControl(.socket(path: "/s"), token: "s"), head(), .machine) == nil)
    #expect(status(try accessControl(.host("0.0.0.0", port: 1), token: "s"), head(), .machine) == 401)
  }

  @Test(arguments: ["0.0.0.0", "::", "192.168.0.1", "example.org", ""])
  func `an address that others reach needs a token`(host: String) {
    #expect(throws: DaemonServerError.tokenMissing(host: host)) { try accessControl(.host(host, port: 1)) }
    #expect(throws: DaemonServerError.tokenUnusable) { try accessControl(.host(host, port: 1), token: "") }
    #expect(throws: DaemonServerError.tokenUnusable) { try accessControl(.host(host, port: 1), token: "a b") }
  }

  @Test(arguments: [-1, 65_536]) func `a port is one`(port: Int) {
    #expect(throws: DaemonServerError.self) { try accessControl(.host("127.0.0.1", port: port)) }
  }

  @Test func `guesses of a token are bounded as questions are`() throws {
    var options = DaemonServer.Options()
    options.token = "s3cret"
    options.requestsPerSecond = 0.1
    options.requestBurst = 2
    let accessControl = try DaemonServer.accessControl(options)
    #expect(status(accessControl, head(authorization: "Bearer 1")) == 401)
    #expect(status(accessControl, head(authorization: "Bearer 2")) == 401)
    #expect {
      try accessControl.admit(head(authorization: "Bearer s3cret"), to: .caller, caller: "a", now: 0)
    } throws: { error in
      let errorResponse = error as? ErrorResponse
      return errorResponse?.status == .tooManyRequests && errorResponse?.headers[.retryAfter] == "10"
    }
    #expect(status(accessControl, head(), .anybody) == nil)
    #expect(status(accessControl, head(authorization: "Bearer s3cret"), now: 10) == nil)
  }
}
