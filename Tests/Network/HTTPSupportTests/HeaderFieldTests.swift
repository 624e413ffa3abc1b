import HTTPSupport
import Testing

@Suite struct HeaderFieldTests {
  @Test(arguments: [("X-Key", "a b\tc"), ("!#$%&'*+-.^_`|~09", ""), ("Accept", "ünicode")])
  func `a token and a text without control characters can be sent`(name: String, value: String) {
    #expect(HeaderField.isSendable(name: name, value: value, own: []))
  }

  @Test(arguments: [("", "a"), ("a b", "c"), ("a:", "b"), ("é", "a"), ("a", "b\r\nc: d"), ("a", "\u{7F}"), ("a", "\0")])
  func `what would break a request is refused`(name: String, value: String) {
    #expect(!HeaderField.isSendable(name: name, value: value, own: []))
  }

  @Test func `a name that the client sets itself is refused in any case`() {
    #expect(!HeaderField.isSendable(name: "Content-Length", value: "1", own: ["content-length"]))
  }
}
