import Testing

@testable import CatalogHTTP

@Suite struct ProxyRulesTests {
  private func proxy(_ url: String, _ environment: [String: String]) throws -> String? {
    try ProxyRules(environment: environment).proxy(for: RequestURL(url))?.display
  }

  @Test func `each scheme has its proxy, and a name in lower case goes first`() throws {
    let environment = [
      "http_proxy": "http://one:3128", "HTTP_PROXY": "http://two:1", "HTTPS_PROXY": "three:8080",
    ]
    #expect(try proxy("http://a/", environment) == "one:3128")
    #expect(try proxy("https://a/", environment) == "three:8080")
    #expect(try proxy("http://a/", ["HTTP_PROXY": "two"]) == "two:80")
    #expect(try proxy("http://a/", ["https_proxy": "two"]) == nil)
    #expect(try proxy("http://a/", ["http_proxy": ""]) == nil)
    #expect(try proxy("http://a/", ["http_proxy": "http://[::1]:3128/"]) == "[::1]:3128")
  }

  @Test func `in a CGI script a header of the caller is no proxy`() throws {
    #expect(try proxy("http://a/", ["HTTP_PROXY": "evil:1", "REQUEST_METHOD": "GET"]) == nil)
    #expect(try proxy("http://a/", ["http_proxy": "good:1", "REQUEST_METHOD": "GET"]) == "good:1")
  }

  @Test func `a user and password are decoded, and shown to nobody`() throws {
    let proxy = try HTTPProxy("http://ann:s%40cret@proxy:3128", variable: "http_proxy")
    #expect(proxy.credentials == "ann:s@cret" && proxy.display == "proxy:3128")
    let error = #expect(throws: TransportError.self) {
      try HTTPProxy("ftp://ann:secret@proxy:1080", variable: "http_proxy")
    }
    let text = String(describing: error!)
    #expect(text.contains("http_proxy") && text.contains("not ftp") && !text.contains("secret"))
  }

  @Test(arguments: ["ftp://p:1", "socks://p:1", "http://", "http://p:99999", "http://p q"])
  func `a proxy that cannot be used is an error where it is needed, and nowhere else`(value: String) throws {
    #expect(throws: TransportError.self) { try proxy("http://a/", ["http_proxy": value]) }
    #expect(try proxy("https://a/", ["http_proxy": value]) == nil)
    #expect(try proxy("http://a/", ["http_proxy": value, "no_proxy": "a"]) == nil)
    var options = TransportOptions()
    options.proxies = ProxyRules(environment: ["http_proxy": value])
    #expect(throws: TransportError.self) { try HTTPTransport(url: "http://a/", options: options) }
  }

  @Test(arguments: [
    ("p", "http://p:80"), ("http://p", "http://p:80"), ("https://p", "https://p:443"), ("HTTPS://p:80", "https://p:80"),
    ("socks5h://p", "socks5h://p:1080"), ("socks4://ann@[::1]:9", "socks4://[::1]:9"),
  ])
  func `a proxy of each kind has its port`(value: String, expected: String) throws {
    #expect(try HTTPProxy(value, variable: "all_proxy").client.url == expected)
  }

  @Test func `all_proxy is for schemes without a variable of their own`() throws {
    let environment = ["all_proxy": "socks5://all", "https_proxy": "own:1", "no_proxy": "b"]
    #expect(try proxy("http://a/", environment) == "all:1080" && proxy("https://a/", environment) == "own:1")
    #expect(try proxy("http://b/", environment) == nil && proxy("http://a/", ["ALL_PROXY": "all"]) == "all:80")
  }

  @Test(arguments: [
    ("example.com", "example.com", true), ("example.com", "www.example.com", true),
    ("example.com", "badexample.com", false), ("example.com", "EXAMPLE.com", true),
    ("example.com", "example.com.", true),
    (".example.com", "example.com", true), (".example.com", "a.b.example.com", true),
    ("*.example.com", "a.example.com", true),
    ("*", "anything", true), ("other, example.com", "example.com", true), ("other example.com", "example.com", true),
    ("example.com:8080", "example.com", false), ("example.com:80", "example.com", true), ("", "example.com", false),
    ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "127.0.0.2", false), ("127.0.0.0/8", "127.3.2.1", true),
    ("10.0.0.0/12", "10.15.255.255", true), ("10.0.0.0/12", "10.16.0.0", false), ("10.0.0.0/33", "10.0.0.0", false),
    ("::1", "[::1]", true), ("[::1]:80", "[::1]", true), ("fe80::/10", "[fe90::7]", true),
    ("fe80::/10", "[::1]", false),
    ("0.0.0.0/0", "example.com", false), ("localhost", "localhost", true),
  ])
  func `no_proxy names the hosts that are asked directly`(list: String, host: String, isDirect: Bool) throws {
    for name in ["no_proxy", "NO_PROXY"] {
      let found = try proxy("http://\(host)/", ["http_proxy": "http://p:1", name: list])
      #expect(found == (isDirect ? nil : "p:1"), "\(list) and \(host)")
    }
  }
}
