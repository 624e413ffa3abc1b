import RandomTestSupport
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
    let link = try #require(
      DigitalLink("https://example.com/01/07330242200924?a=1&10=L;linkType=x&=2&17&party=3&gtin=4"))
    #expect(link.elements.description == "(01)07330242200924(10)L")
    #expect(link.elements.fault == nil)
  }

  @Test func `a wrong check digit is read but is no GTIN`() throws {
    let link = try #require(DigitalLink("https://example.com/01/07330242200925"))
    #expect(link.elements.gtin == nil)
    #expect(link.elements.fault == .wrongCheckDigit(ai: "01"))
  }

  @Test(arguments: [
    ("00/998440410914660971", "(00)998440410914660971"), ("253/3060077601309", "(253)3060077601309"),
    ("255/5678409730535", "(255)5678409730535"), ("401/0541234537290A41%26GHpp33", "(401)0541234537290A41&GHpp33"),
    ("402/21173492661712079", "(402)21173492661712079"), ("414/5060917510004/254/RP56", "(414)5060917510004(254)RP56"),
    ("414/5060917510004/7040/5KFX", "(414)5060917510004(7040)5KFX"),
    ("415/5060917510004/8020/A1", "(415)5060917510004(8020)A1"), ("417/5060917510004", "(417)5060917510004"),
    ("8003/04965031954585AB", "(8003)04965031954585AB"),
    ("8004/0541234537290A41/7040/5BVR", "(8004)0541234537290A41(7040)5BVR"),
    ("8006/054123450000130201/22/A/10/B/21/C", "(8006)054123450000130201(22)A(10)B(21)C"),
    ("8010/0541234537290A41%23GH33/8011/66", "(8010)0541234537290A41#GH33(8011)66"),
    ("8013/5060917511473062B98T", "(8013)5060917511473062B98T"),
    ("8017/817019610850151481/8019/4003812", "(8017)817019610850151481(8019)4003812"),
    ("8018/411369833821910265/8019/4003812", "(8018)411369833821910265(8019)4003812"),
    ("412/5060917510004", "(412)5060917510004"),
  ])
  func `every key is read with its qualifiers`(path: String, elements: String) throws {
    // The values are those of the tests of Gs1DigitalLinkLib (Solidsoft Reply).
    for stem in ["https://id.gs1.org/", "http://example.com/a/b/c/", "https://sub.example.co.uk:444/00/"] {
      let link = try #require(DigitalLink(stem + path))
      #expect(link.elements.description == elements)
      #expect(link.issues.isEmpty && link.elements.fault == nil && !link.isCompressed)
    }
  }

  @Test func `each key of the table of identifiers is a key`() {
    for row in ApplicationIdentifier.all where row.linkQualifiers != nil {
      #expect(DigitalLinkKey.isKey(Array(row.range.utf8)), "\(row.range)")
    }
    #expect(!DigitalLinkKey.isKey(Array("10".utf8)))
  }

  @Test(arguments: [
    ("gtin/5412345000013/cpv/A/lot/B/ser/C", "(01)05412345000013(22)A(10)B(21)C"),
    ("GTIN/05412345000013/Lot/b", "(01)05412345000013(10)b"), ("sscc/998440410914660971", "(00)998440410914660971"),
    ("gln/5060917510004/glnx/R", "(414)5060917510004(254)R"),
    ("party/5060917510004/7040/5KFX", "(417)5060917510004(7040)5KFX"),
    ("itip/054123450000130201/ser/7", "(8006)054123450000130201(21)7"), ("grai/04965031954585", "(8003)04965031954585"),
    ("giai/0541234537290A41", "(8004)0541234537290A41"), ("gdti/3060077601309", "(253)3060077601309"),
    ("gcn/5678409730535", "(255)5678409730535"), ("ginc/0541234537290A41", "(401)0541234537290A41"),
    ("gsin/21173492661712079", "(402)21173492661712079"), ("gmn/5060917511473062B98T", "(8013)5060917511473062B98T"),
    ("cpid/0541234537/cpsn/66", "(8010)0541234537(8011)66"), ("payTo/5060917510004", "(415)5060917510004"),
    ("gsrn/411369833821910265/srin/4", "(8018)411369833821910265(8019)4"),
    ("gsrnp/817019610850151481", "(8017)817019610850151481"),
    ("shipTo/5060917510004", "(410)5060917510004"),
    ("gtin/05412345000013?exp=270131&lot=A", "(01)05412345000013(17)270131(10)A"),
  ])
  func `short names of older links are read`(path: String, elements: String) throws {
    let link = try #require(DigitalLink("https://example.com/" + path))
    #expect(link.elements.description == elements)
    #expect(link.issues.isEmpty && link.elements.fault == nil)
  }

  @Test func `offsets are those of the identifiers in the address`() throws {
    let address = "https://example.com/01/07330242200924/10/A%2FB/21/S?17=270131&99=x"
    let link = try #require(DigitalLink(address))
    let names = ["/01/", "/10/", "/21/", "?17=", "&99="]
    for (element, name) in zip(link.elements.elements, names) {
      #expect(Array(address.utf8)[(element.offset - 1)...].starts(with: name.utf8), "\(element.ai)")
    }
    #expect(link.elements.elements.count == names.count)
  }

  @Test(arguments: [
    ("/10/L/22/V", "10", "wrong order"), ("/21/S/10/L", "21", "wrong order"), ("/235/T/10/L", "235", "wrong order"),
    ("/10/L/17/270131", "17", "no qualifier"), ("/254/X", "254", "no qualifier"), ("/10/L?21=S", "21", "query"),
  ])
  func `what is not where the standard has it is read and reported`(rest: String, ai: String, reason: String) throws {
    let address = "https://example.com/01/07330242200924" + rest
    let link = try #require(DigitalLink(address))
    #expect(link.elements[ai] != nil)
    let issue = try #require(link.issues.first)
    #expect(link.issues.count == 1 && issue.ai == ai && issue.reason.contains(reason))
    #expect(Array(address.utf8)[issue.position...].starts(with: ai.utf8))
    #expect(link.elements.fault == nil)
  }

  @Test(arguments: ["/22/V/10/L/21/S", "/22/V/21/S", "/10/L", "/235/T", "/21/S?10=L&17=270131&3103=001250"])
  func `what is where the standard has it is no issue`(rest: String) throws {
    #expect(try #require(DigitalLink("https://example.com/01/07330242200924" + rest)).issues.isEmpty)
  }

  @Test(arguments: [
    "https://example.com/401/page", "https://example.com/8004/manual.pdf", "https://example.com/00/12345",
    "https://example.com/414/abcdefghijklm", "https://example.com/lot/ABC", "https://example.com/party/tonight",
    "https://example.com/10/ABC/21/1", "https://example.com/8010/parts",
  ])
  func `components of a web site that resemble keys are none`(address: String) {
    #expect(DigitalLink(address) == nil)
  }

  @Test func `a GTIN is preferred to what may be the site's own components`() throws {
    let link = try #require(DigitalLink("https://example.com/414/5060917510004/01/07330242200924"))
    #expect(link.elements.description == "(01)07330242200924")
  }

  @Test func `arbitrary addresses keep the invariants`() {
    var random = SeededGenerator(for: "DigitalLinkTests, arbitrary addresses")
    let pieces = [
      "/01/", "/00/", "07330242200924", "/10/", "/21/", "%2F", "%", "%zz", "?", "&", ";", "17=270131", "=", "#", "/",
      "gtin",
      "/lot/", "AQnYUc1gmg", "/8010/", "0541234", "https://", "998440410914660971", "/sscc/", "\u{E9}", "\u{0}",
    ]
    for _ in 0..<(20_000 * depth) {
      var text = "https://e.org"
      for _ in 0..<Int.random(in: 0...9, using: &random) { text += pieces.randomElement(using: &random)! }
      guard let link = DigitalLink(text) else { continue }
      #expect(!link.elements.elements.isEmpty || link.elements.fault != nil, "\(text)")
      for issue in link.issues { #expect(text.utf8.count > issue.position && issue.position >= 0, "\(text)") }
      for element in link.elements.elements { #expect(element.offset < text.utf8.count, "\(text)") }
    }
  }
}
