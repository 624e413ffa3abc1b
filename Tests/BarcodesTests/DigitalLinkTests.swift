import Testing

@testable import Barcodes

@Suite struct DigitalLinkTests {
  @Test func `key, qualifiers and attributes are read in order`() throws {
    let link = try #require(DigitalLink("https://id.gs1.org/01/30051000168871/10/HD2A/21/E0BE?17=270617"))
    #expect(link.elements.description == "(01)30051000168871(10)HD2A(21)E0BE(17)270617")
    #expect(link.elements.fault == nil)
  }

  @Test(arguments: [
    "HTTPS://ID.GS1.ORG/01/07330242200924", "http://example.com/a/b/01/07330242200924",
    "https://example.com:8443/01/07330242200924/", "https://example.com/01/7330242200924#top",
    "https://example.com/01/01/07330242200924", "https://example.com/01/0733024220092%34?utm=01",
  ])
  func `any host, prefix and ending will do`(address: String) throws {
    let link = try #require(DigitalLink(address))
    #expect(link.elements.description == "(01)07330242200924")
  }

  @Test(arguments: [
    "https://example.com/p/7793147118860", "https://example.com/01/", "https://example.com/01", "http://",
    "https://example.com/01/123", "https://01/07330242200924", "ftp://example.com/01/07330242200924",
    "https://example.com/?01=07330242200924", "example.com/01/07330242200924", "",
    "http\u{1A}//example.com/01/07330242200924",
  ])
  func `other addresses are no Digital Link`(address: String) {
    #expect(DigitalLink(address) == nil)
  }

  @Test(arguments: ["96385074", "036000291452", "4006381333931"])
  func `a shorter GTIN is padded`(digits: String) throws {
    let link = try #require(DigitalLink("https://example.com/01/" + digits))
    #expect(link.elements.gtin == GTIN(digits))
    #expect(link.elements["01"]?.utf8.count == 14)
  }

  @Test func `values are percent-decoded`() throws {
    let link = try #require(DigitalLink("https://example.com/01/07330242200924/10/A%2FB%28?99=x%20y"))
    #expect(link.elements["10"] == "A/B(")
    #expect(link.elements["99"] == "x y")
  }

  @Test(arguments: [
    "/10/%zz", "/10/%", "/10/%4", "/10/%00", "/10/%C3%A9", "/10/%5C", "?17=xx", "/zz/1", "/10/",
  ])
  func `a damaged rest leaves the GTIN and a fault`(rest: String) throws {
    let link = try #require(DigitalLink("https://example.com/01/07330242200924" + rest))
    #expect(link.elements.description == "(01)07330242200924")
    #expect(link.elements.fault != nil)
  }

  @Test func `names of the site in the query are not identifiers`() throws {
    let link = try #require(DigitalLink("https://example.com/01/07330242200924?a=1&10=L;linkType=x&=2&17"))
    #expect(link.elements.description == "(01)07330242200924(10)L")
    #expect(link.elements.fault == nil)
  }

  @Test func `a wrong check digit is read but is no GTIN`() throws {
    let link = try #require(DigitalLink("https://example.com/01/07330242200925"))
    #expect(link.elements.gtin == nil)
    #expect(link.elements.fault == .wrongCheckDigit(ai: "01"))
  }
}
