import RandomTestSupport
import Testing

@testable import Barcodes

@Suite struct CompressedLinkTests {
  /// Test vectors of the library Gs1DigitalLinkLib (Solidsoft Reply), a port of GS1's compression prototype.
  private static let vectors = [
    ("AN2yxDhfaiaw", "(00)998440410914660971"), ("AQnYUc1gmg", "(01)05412345000013"),
    ("AQnYUc1gmiCNV4JG", "(01)05412345000013(10)ABC123"),
    ("AQnYUc1gmiCNV4JGQhcNT6K6c", "(01)05412345000013(10)ABC123(21)72292641703"),
    (
      "AQnYUc1gmiCNV4JGQhcNT6K6cibQCWN9Pee9tT-PQ",
      "(01)05412345000013(22)AJY3095721P49(10)ABC123(21)72292641703"
    ), ("AQnYUc1gmkax7ipGrOHDPC5YNI8hMz", "(01)05412345000013(235)8TFV883a904GH&3"),
    ("JTLIetaiHYA", "(253)3060077601309"), ("JVUqG5hJ5wA", "(255)5678409730535"),
    ("QBl2DVoxZM2jVm3ZOWEFoxTR5HDgzZg", "(401)0541234537290A41&GHpp33"), ("QCJZyW9mC6Z4", "(402)21173492661712079"),
    ("QQSaVjC_dA", "(410)5060917510004"), ("QUSaVjC_dA", "(414)5060917510004"),
    ("JUa0T-eifdtOO9UFEmlYwv3Q", "(414)5060917510004(254)RP56J920471"),
    ("QUSaVjC_dHBAVlCrg", "(414)5060917510004(7040)5KFX"), ("QVSaVjC_dA", "(415)5060917510004"),
    ("QWSaVjC_dA", "(416)5060917510004"), ("QXSaVjC_dHBAVlCrg", "(417)5060917510004(7040)5KFX"),
    ("cEB2CqjAAkuwatGLJm0as27JywgtGKaPI4cGbM", "(8004)0541234537290A41&GHpp33(7040)7BVR"),
    (
      "EEarwSMhC4an0V05E2gEsb6e897an8ewAMGAkftmjYEy",
      "(8006)054123450000130201(22)AJY3095721P49(10)ABC123(21)72292641703"
    ), ("EEarwSOABgwEj9s0bAmQ", "(8006)054123450000130201(10)ABC123"), ("gAMJCAXukTMA", "(8003)04965031954585"),
    ("gASXYNWjFkzaNWbdk5YQWjFNHkcODNm", "(8004)0541234537290A41&GHpp33"),
    ("gBCVYNWjFkzaNWbdk5YQWjFHHkM2cAI0xdvpGo", "(8010)0541234537290A41#GH33(8011)6639047221"),
    ("gBN05060917511473062B98T", "(8013)5060917511473062B98T"),
    ("gBe1ajAd9ATDmAGXPRfk", "(8017)817019610850151481(8019)4003812"),
    ("gBhbV6rzBENPmAGXPRfk", "(8018)411369833821910265(8019)4003812"),
    ("AQk0rGF-9iJ1rw4AhM", "(01)05060917510011(11)241016(7004)3"),
  ]

  /// Links that GS1DigitalLinkToolkit.js, GS1's reference implementation, creates with the codes of known sequences.
  private static let sequences = [
    ("ChFKk4XBoIRU", "(01)09506000134352(22)2A"), ("CxFKk4XBoIdXg", "(01)09506000134352(10)ABC"),
    ("DBFKk4XBoAoAew", "(01)09506000134352(21)00123"), ("DRFKk4XBoIPmY", "(01)09506000134352(17)270131"),
    ("DhFKk4XBoFCBYLO", "(01)09506000134352(7003)2701312359"), ("DxFKk4XBoEM", "(01)09506000134352(30)12"),
    ("GhFKk4XBoI1XgkaD5mBuQ", "(01)09506000134352(10)ABC123(21)456(17)270131"),
    ("HxFKk4XBoQeFdiQfMw", "(01)09506000134352(10)a.b(15)270131"),
    ("LRFKk4XBoACcQ", "(01)09506000134352(3103)001250"), ("ohFKk4XBoIJxA", "(01)09506000134352(3922)1250"),
    ("mkmVBgAKspo", "(8010)9506000AB(8011)77"), ("nWJfWKVJwuDQ", "(414)9506000134352(254)X1"),
    ("ARFKk4XBoCBRvVt93kKNvVoCZgQAD6", "(01)09506000134352(10)deadbeef(21)DEAD01(3302)000125"),
  ]

  @Test(arguments: vectors + sequences)
  func `a compressed link is read`(segment: String, elements: String) throws {
    for prefix in ["https://id.gs1.org/", "https://example.com/a/01/", "HTTP://EXAMPLE.COM:80/"] {
      for ending in ["", "/", "?context=UK", "#chapter1"] {
        let link = try #require(DigitalLink(prefix + segment + ending))
        #expect(link.elements.description == elements)
        #expect(link.isCompressed && link.issues.isEmpty)
        #expect(link.elements.elements.allSatisfy { $0.offset == prefix.utf8.count })
      }
    }
  }

  @Test(arguments: [
    ("01/05412345000013/EEarwSM", "(01)05412345000013(10)ABC123"),
    ("gtin/5412345000013/EEarwSMhC4an0V04", "(01)05412345000013(10)ABC123(21)72292641703"),
    ("01/05412345000013/IQuGp9FdORNoBLG-nvPe2p_Ho", "(01)05412345000013(22)AJY3095721P49(21)72292641703"),
    ("414/5060917510004/cEBWUKu", "(414)5060917510004(7040)5KFX"),
    ("8010/0541234537290A41%23GH33/gBGmLt9I1", "(8010)0541234537290A41#GH33(8011)6639047221"),
  ])
  func `a link may be compressed after its key`(path: String, elements: String) throws {
    let link = try #require(DigitalLink("https://id.gs1.org/" + path))
    #expect(link.elements.description == elements)
    #expect(link.isCompressed)
  }

  @Test func `pairs of the web site in a compressed link are skipped`() throws {
    let link = try #require(
      DigitalLink("https://id.gs1.org/01/05412345000013/EEarwSMXRuG_BtV3sJbXc94V2ieithG5oHw"))
    #expect(link.elements.description == "(01)05412345000013(10)ABC123(17)290331")
  }

  @Test func `attributes in the query are added`() throws {
    let link = try #require(DigitalLink("https://id.gs1.org/AQnYUc1gmiCNV4JG?17=290331&arv=true"))
    #expect(link.elements.description == "(01)05412345000013(10)ABC123(17)290331")
  }

  @Test func `an identifier whose form is not settled is reported, and the key is read`() throws {
    let gtin = String(5_412_345_000_013, radix: 2)
    let bits =
      "00000001" + String(repeating: "0", count: 47 - gtin.count) + gtin + "0111001000110000" + "0101010101010101"
    let link = try #require(DigitalLink("https://id.gs1.org/" + Self.base64url(bits)))
    #expect(link.elements.description == "(01)05412345000013")
    #expect(link.issues.map(\.ai) == ["7230"])
    #expect(link.issues.first?.reason == "the link is compressed, and its part from (7230) on cannot be read")
  }

  @Test func `blanks around a compressed value are left out, as they are in every other notation`() throws {
    let gtin = String(5_412_345_000_013, radix: 2)
    let key = "00000001" + String(repeating: "0", count: 47 - gtin.count) + gtin
    // (10), characters of seven bits, four of them: a blank, A, B, a blank.
    let lot = "00010000" + "100" + "00100" + "0100000" + "1000001" + "1000010" + "0100000"
    let link = try #require(DigitalLink("https://id.gs1.org/" + Self.base64url(key + lot)))
    #expect(link.elements["10"] == "AB")
    #expect(ElementString(bracketed: link.elements.description).elements == link.elements.elements)
  }

  private static func base64url(_ bits: String) -> String {
    var text = ""
    var rest = Substring(bits)
    while !rest.isEmpty {
      let group = rest.prefix(6)
      rest = rest.dropFirst(6)
      let padded = group + String(repeating: "0", count: 6 - group.count)
      text.unicodeScalars.append(Unicode.Scalar(BitReader.base64url[Int(padded, radix: 2)!]))
    }
    return text
  }

  @Test(arguments: [
    "AQnYUc1gmQ", "AQnYUc1gm", "AQnYUc1", "A", "AAAA", "about", "products", "index", "dQw4w9WgXcQ",
    "AQnYUc1gmgAAAA", "__________", "shop.html", "AQnYUc1gmiCNV4J", "ABUbiRTG1u4C",
  ])
  func `another component, or a damaged one, is not compressed data`(segment: String) {
    #expect(DigitalLink("https://id.gs1.org/" + segment) == nil)
  }

  @Test func `every damaged link is rejected or keeps the invariants`() {
    var random = SeededGenerator(for: "CompressedLinkTests, damaged links")
    var links = 0
    for _ in 0..<(20_000 * depth) {
      var segment = Array((Self.vectors + Self.sequences).randomElement(using: &random)!.0.utf8)
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let index = Int.random(in: 0..<segment.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: segment[index] = BitReader.base64url.randomElement(using: &random)!
        case 1 where segment.count > 1: segment.remove(at: index)
        default: segment.insert(BitReader.base64url.randomElement(using: &random)!, at: index)
        }
      }
      let text = "https://id.gs1.org/" + String(decoding: segment, as: UTF8.self)
      guard let link = DigitalLink(text) else { continue }
      links += 1
      for element in link.elements.elements {
        #expect(ApplicationIdentifier(element.ai)?.defect(of: Array(element.value.utf8)[...]) == nil, "\(text)")
      }
      #expect(link.elements.elements.first.map { DigitalLinkKey.isKey(Array($0.ai.utf8)) } == true, "\(text)")
    }
    // A change of a lot or a serial number stays readable; one of a key is found by its check digit.
    #expect(links < 12_000 * depth)
  }
}
