import Testing

@testable import CatalogHTTP

@Suite struct RequestURLTests {
  @Test(arguments: [
    ("http://h/p", "2026-01-02 03:04:05", "http://h/p?updateTime=2026-01-02%2003%3A04%3A05"),
    ("http://h/p", "", "http://h/p?updateTime="),
    ("http://h", "1", "http://h/?updateTime=1"),
    ("http://h?a=1", "1", "http://h/?a=1&updateTime=1"),
    ("http://h/p?a=1&b=%20x", "a&b=c+d#%é", "http://h/p?a=1&b=%20x&updateTime=a%26b%3Dc%2Bd%23%25%C3%A9"),
    ("http://h/p?updateTime=old&a=1", "new", "http://h/p?a=1&updateTime=new"),
    ("http://h/p?updateTimes=1#top", "1", "http://h/p?updateTimes=1&updateTime=1"),
    ("HTTPS://H:443/p", "1", "https://h/p?updateTime=1"),
    ("http://u:p@h:8080/p", "1", "http://h:8080/p?updateTime=1"),
    ("http://[::1]:8080/p", "1", "http://[::1]:8080/p?updateTime=1"),
    ("http://h/a%2Fb/ü", "1", "http://h/a%2Fb/%C3%BC?updateTime=1"),
  ])
  func `the cursor joins the query percent-encoded`(url: String, cursor: String, expected: String) throws {
    #expect(try RequestURL(url).asking(cursor: cursor).text == expected)
  }

  @Test(arguments: [
    "", "example.com", "/path", "ftp://h/", "http:///p", "http://h:0/", "http://h:70000/", "file:///x",
  ])
  func `what is no http URL with a host is refused`(text: String) {
    #expect(throws: TransportError.self) { try RequestURL(text) }
  }

  @Test func `neither user nor password nor query is shown`() throws {
    let url = try RequestURL("https://ann:s%40cret@h/p?token=s%40cret")
    #expect(url.display == "https://h/p")
    #expect(url.credentials == "ann:s@cret")
    #expect(RequestURL.withoutSecrets("htp//ann:secret@h/?token=secret") == "…@h/")
  }

  @Test(arguments: [
    ("http://h/p", "/q?updateTime=1", "http://h/q?updateTime=1"),
    ("http://h/p", "http://h/q", "http://h/q?updateTime=1"),
    ("http://h/a/b", "c?x=2", "http://h/a/c?x=2&updateTime=1"),
    ("http://h/p", "https://h/p?updateTime=1", "https://h/p?updateTime=1"),
    ("http://h:8080/p", "https://h:8443/p", "https://h:8443/p?updateTime=1"),
    ("http://h/p", "//H/q", "http://h/q?updateTime=1"),
  ])
  func `a redirect on the same host is followed with the cursor`(
    url: String, location: String, expected: String
  ) throws {
    #expect(try RequestURL(url).redirected(to: location, cursor: "1").text == expected)
  }

  @Test func `a request without a cursor is redirected as the server says`() throws {
    #expect(try RequestURL("http://h/p/f").redirected(to: "g?x=1", cursor: nil).text == "http://h/p/g?x=1")
  }

  @Test(arguments: [
    ("http://h/p", "http://other/p", "which is another host"),
    ("http://h/p", "//h.evil.example/p", "which is another host"),
    ("http://h/p", "http://h@evil.example/p", "which is another host"),
    ("https://h/p", "http://h/p", "which gives up encryption"),
    ("https://h/p", "http://h:443/p", "which gives up encryption"),
    ("http://h/p", "http://h:8080/p", "which is another port"),
    ("https://h/p", "https://h:444/p", "which is another port"),
    ("http://h/p", "ftp://h/p", "which is no http or https URL"),
  ])
  func `a redirect that leaves the host or encryption is refused`(
    url: String, location: String, reason: String
  ) throws {
    let url = try RequestURL(url)
    #expect {
      try url.redirected(to: location, cursor: "1")
    } throws: { error in
      guard case .redirectRefused(_, _, reason) = error as? TransportError else { return false }
      return true
    }
  }
}
