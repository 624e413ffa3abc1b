import HTTPSupport
import Testing

@Suite struct HostNamesTests {
  @Test(arguments: [
    ("shop.example.org", "shop.example.org"), ("Shop.Example.ORG.", "shop.example.org"), ("shop", "shop"),
    ("xn--mnchen-3ya.example", "xn--mnchen-3ya.example"), ("a_b-1.example", "a_b-1.example"), ("10.0.0.5", "10.0.0.5"),
    ("[FE80::1]", "[fe80::1]"), ("fe80::1", "[fe80::1]"), ("::1", "[::1]"), ("::ffff:10.0.0.5", "[::ffff:10.0.0.5]"),
  ])
  func `a name is written as browsers send it`(text: String, name: String) {
    #expect(HostNames.normalized(text) == name)
    #expect(HostNames([name]).contains(authority: name))
    #expect(HostNames([name]).contains(authority: name.uppercased() + ":8443"))
    #expect(HostNames([name]).contains(origin: "HTTPS://\(name):1"))
  }

  @Test(arguments: [
    "", ".", "*", "*.example.org", "a:80", "https://a", "a/b", "a b", "a@b", "münchen.example", ".a", "a..b", "[a]",
    "[::1",
    "::1]", "[::1]:80", "a,b", String(repeating: "a", count: 254),
  ])
  func `anything else is none`(text: String) { #expect(HostNames.normalized(text) == nil) }

  @Test func `no names contain nothing`() {
    #expect(HostNames().isEmpty)
    #expect(!HostNames().contains(authority: "") && !HostNames().contains(origin: "http://"))
    #expect(!HostNames(["a"]).contains(authority: "a:b") && !HostNames(["a"]).contains(authority: "b"))
    #expect(!HostNames(["a"]).contains(origin: "a") && !HostNames(["a"]).contains(origin: "http://b/a"))
  }
}
