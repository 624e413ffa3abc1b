import Testing

@testable import Barcodes

/// What a scanned code is.
@Suite struct CodeKindTests {
  @Test(arguments: [
    ("96385074", CodeKind.gtin8), ("036000291452", .gtin12), ("4006381333931", .gtin13), ("14006381333938", .gtin14),
    ("04252614", .upcE), ("9780306406157", .isbn), ("9791234567896", .isbn), ("9790060115615", .ismn),
    ("9770317847001", .issn), ("2112345678900", .restricted), ("0212345678909", .restricted), ("20123451", .restricted),
    ("9912345678909", .coupon), ("9811234567891", .coupon), ("512345678900", .coupon),
    ("(00)093123450000000012", .sscc), ("00093123450000000012", .sscc), ("(414)9521141000014", .gln),
    ("(410)9521141000014(00)093123450000000012", .gln), ("(255)9521141000014", .coupon),
    ("(8110)106141416543213150110120", .coupon),
    ("(01)05296849398452(10)A", .gs1), ("(00)093123450000000012(02)05296849398452(37)5", .gs1), ("(10)A", .gs1),
    ("https://id.gs1.org/01/09506000134352", .digitalLink), ("https://example.org", .text), ("A-1", .text),
    ("4006381333930", .text), ("123", .text), ("", .text),
  ])
  func `a code has a kind`(code: String, kind: CodeKind) {
    #expect(Scan(code).codeKind == kind)
  }

  @Test(arguments: [
    ("(00)093123450000000012", "a pallet (SSCC), not a product"),
    ("00093123450000000012", "a pallet (SSCC), not a product"),
    ("(10)A(00)093123450000000012", "a pallet (SSCC), not a product"),
    ("(414)9521141000014", "a location or a party (GLN), not a product"),
    ("(255)9521141000014", "a coupon, not a product"),
  ])
  func `what is no product is reported, and no miss`(code: String, reason: String) {
    let scan = Scan(code)
    #expect(scan.refusal?.description == reason)
    #expect(scan.identifiesAnotherThing)
  }

  @Test func `a label whose check digit is wrong has that as its reason`() {
    #expect(Scan("PZN-99999999").refusal?.description == "the check digit of the PZN is wrong")
    #expect(Scan("[)>\u{1E}06\u{1D}Q10\u{1E}\u{4}").refusal?.description == "the label names no product")
    #expect(Scan("-03752865").refusal?.description == "the check digit of the PZN is wrong")
    #expect(Scan("PZN-03752864").refusal == nil && Scan("-03752864").refusal == nil)
    #expect(Scan("(8006)095201234567880203").refusal?.description == "a piece of a trade item (ITIP), not the item")
  }

  @Test(arguments: ["(01)05296849398452", "(01)05296849398453", "4006381333930", "4006381333931", "(00)12", "any"])
  func `other codes may be misses`(code: String) {
    #expect(!Scan(code).identifiesAnotherThing)
  }

  @Test(arguments: [
    ("LABEL-TYPE-EAN13", "]E0"), ("LABEL-TYPE-GS1-128", nil), ("LABEL-TYPE-EAN128", "]C1"), ("ean-8", "]E4"),
    ("LABEL-TYPE-GS1-DATABAR", "]e0"), ("QRCODE", "]Q1"), ("gs1_datamatrix", "]d2"), ("]Q3", "]Q3"), ("", nil),
    ("EAN", nil),
  ])
  func `a scanner names the symbology`(name: String, identifier: String?) {
    let expected = name == "LABEL-TYPE-GS1-128" ? "]C1" : identifier
    #expect(SymbologyIdentifier(named: name)?.description == expected)
  }

  @Test func `a named symbology decides how a code is read`() throws {
    // Eight digits that are a GTIN-8 and a UPC-E number.
    let both = "01234565"
    let upcA = try #require(SymbologyIdentifier(named: "LABEL-TYPE-UPCE0"))
    #expect(Scan(both, symbology: upcA).codeKind == .upcE)
    #expect(Scan("2112345678900", symbology: SymbologyIdentifier(named: "EAN128")).elements?["21"] == "12345678900")
    #expect(Scan("2112345678900").elements == nil)
    // An identifier in the text counts more.
    #expect(Scan("]E02112345678900", symbology: SymbologyIdentifier("]C1")).kind == .rcn)
    #expect(Scan("]E02112345678900", symbology: SymbologyIdentifier("]C1")).symbology?.description == "]E0")
  }
}
