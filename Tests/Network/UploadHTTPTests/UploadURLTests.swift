import Testing
import UploadQueue

@testable import UploadHTTP

@Suite struct UploadURLTests {
  @Test func `a kind and an id stand where the template says, and a kind does not leave its place`() throws {
    let id = try #require(UploadID("018bcfe5-6800-7001-8e99-bbbeb2116625"))
    let url = try UploadURL("http://h:1/v1/{kind}?id={id}&again={id}")
    #expect(try url.url(id: id.text, kind: "scan") == "http://h:1/v1/scan?id=\(id.text)&again=\(id.text)")
    #expect(
      try url.url(id: id.text, kind: "../a b?c#d&é%")
        == "http://h:1/v1/..%2Fa%20b%3Fc%23d%26%C3%A9%25?id=\(id.text)&again=\(id.text)")
    // An id does not look like a placeholder, and a kind that does is text.
    #expect(try UploadURL("http://h/{kind}").url(id: id.text, kind: "{id}") == "http://h/%7Bid%7D")
  }

  @Test(arguments: [
    ("http://h/v1/{kind}", "..", false), ("http://h/v1/{kind}/x", ".", false), ("http://h/{kind}?a", "..", false),
    ("http://h/.{kind}", ".", false), ("http://h/%2E{kind}#a", ".", false), ("http://h/{kind}{kind}", ".", false),
    ("http://h/a-{kind}", "..", true), ("http://h/{kind}", "...", true), ("http://h/?{kind}", "..", true),
    ("http://h/a/../{kind}", "a", true), ("http://h/a/../{kind}", "..", false), ("http://h/{kind}", "..a", true),
  ])
  func `a kind of dots leads to no other path`(template: String, kind: String, isGood: Bool) throws {
    let id = try #require(UploadID("018bcfe5-6800-7001-8e99-bbbeb2116625"))
    let url = try UploadURL(template)
    if isGood {
      #expect(try url.url(id: id.text, kind: kind).contains(kind))
    } else {
      #expect(throws: UploadRefusal.self) { try url.url(id: id.text, kind: kind) }
    }
  }

  @Test(arguments: [
    "", "h", "ftp://h/", "http://", "http:///a", "https://?", "http://h/{name}", "http://h/{", "http://h/a b",
    "http://h/\n",
    "file:///etc/passwd", "http://h/é", "http://[::1", "http://h:x/", "http://h:0/", "http://h:65536/",
    "http://h:99999999999/", "http://ann:pw@h/",
    "http://ann@h/",
    "http://{kind}/", "https://{kind}.h/", "http://{id}:80?a", "http://h{id}/", "http:h/",
  ])
  func `what is no template is refused`(_ template: String) {
    #expect(throws: UploadHTTPError.template(template)) { try UploadURL(template) }
  }
}
