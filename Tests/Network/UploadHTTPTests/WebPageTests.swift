import Testing

@testable import UploadHTTP

@Suite struct WebPageTests {
  @Test(arguments: [
    ("<!DOCTYPE html><html><head><title>Hotel  Wi-Fi\n login</title>", "Hotel Wi-Fi login"),
    ("\u{FEFF}\n <html lang=\"en\">", nil), ("<!-- a --> <HEAD><TITLE>x</TITLE>", "x"),
    ("<?xml version=\"1.0\"?>\n<!DOCTYPE html PUBLIC>", nil), ("<script>location = '/login'</script>", nil),
    ("<meta http-equiv=\"refresh\">", nil),
  ])
  func `a page is recognised by its first tag, and named by its title`(text: String, title: String?) throws {
    #expect(try #require(WebPage(Array(text.utf8))).title == title)
  }

  @Test(arguments: ["", "ok", "{\"a\": \"<html>\"}", "<ok/>", "<soap:Envelope>", "<!-- never ends", "<htmlish>", "[]"])
  func `other bodies are none`(text: String) {
    #expect(WebPage(Array(text.utf8)) == nil)
  }
}
