import Testing

@testable import Barcodes

@Suite struct GTINTests {
  @Test(arguments: ["96385074", "036000291452", "4006381333931", "10012345678902"])
  func `a number of 8, 12, 13 or 14 digits with a right check digit is a GTIN`(digits: String) throws {
    let gtin = try #require(GTIN(digits))
    #expect(gtin.digits == String(repeating: "0", count: 14 - digits.count) + digits)
    #expect(gtin.spellings.contains(digits))
    #expect(GTIN(digits[...]) == gtin)
    #expect(GTIN(utf8: Array(digits.utf8).span) == gtin)
    #expect(GTIN(value: gtin.value) == gtin)
  }

  @Test(arguments: ["96385075", "036000291453", "4006381333932", "10012345678903", "5926849400186"])
  func `a check digit that fails is not a GTIN`(digits: String) {
    #expect(GTIN(digits) == nil)
    #expect(GTIN(value: UInt64(digits)!) == nil)
  }

  @Test(arguments: ["", "0", "000000000", "0000000000", "00000000000", "000000000000000", "400638133393 1"])
  func `any other length or character is not a GTIN`(digits: String) {
    #expect(GTIN(digits) == nil)
  }

  @Test func `digits of other scripts are not a GTIN`() {
    #expect(GTIN("４００６３８１３３３９３１") == nil)
    #expect(GTIN("٠٠٠٠٠٠٠٠") == nil)
  }

  @Test func `two spellings of one item are equal`() {
    #expect(GTIN("036000291452") == GTIN("0036000291452"))
    #expect(GTIN("036000291452") == GTIN("00036000291452"))
  }

  @Test func `the spellings end where a digit would be lost`() throws {
    let ean8 = try #require(GTIN("96385074"))
    #expect(ean8.spellings == ["00000096385074", "0000096385074", "000096385074", "96385074"])
    let upcA = try #require(GTIN("036000291452"))
    #expect(upcA.spellings == ["00036000291452", "0036000291452", "036000291452"])
    let ean13 = try #require(GTIN("4006381333931"))
    #expect(ean13.spellings == ["04006381333931", "4006381333931"])
    let gtin14 = try #require(GTIN("10012345678902"))
    #expect(gtin14.spellings == ["10012345678902"])
  }

  @Test func `an indicator makes another trade item`() throws {
    let item = try #require(GTIN("4006381333931"))
    let grouping = try #require(GTIN("14006381333938"))
    #expect(item != grouping)
    #expect(item.indicator == 0)
    #expect(grouping.indicator == 1)
    #expect(item < grouping)
  }

  @Test(arguments: [
    "2900000002227", "02900000002227", "0200000000004", "200000000004", "0400000000008", "00502627",
    "23719019",
  ])
  func `numbers for restricted circulation are recognised in every spelling`(digits: String) throws {
    #expect(try #require(GTIN(digits)).isRestricted)
  }

  @Test(arguments: ["036000291452", "4006381333931", "96385074", "12900000002224", "022700059218"])
  func `numbers that hold everywhere are not restricted`(digits: String) throws {
    #expect(try #require(GTIN(digits)).isRestricted == false)
  }

  @Test func `the check digit follows from the digits before it`() {
    #expect(GTIN.checkDigit(following: "400638133393".utf8) == UInt8(ascii: "1"))
    #expect(GTIN.checkDigit(following: "9638507".utf8) == UInt8(ascii: "4"))
    // An SSCC.
    #expect(GTIN.checkDigit(following: "39388428885115329".utf8) == UInt8(ascii: "9"))
    #expect(GTIN.checkDigit(following: "".utf8) == nil)
    #expect(GTIN.checkDigit(following: "12A".utf8) == nil)
  }

  @Test func `no number beyond 14 digits is a GTIN`() {
    #expect(GTIN(value: 100_000_000_000_000) == nil)
    #expect(GTIN(value: .max) == nil)
    #expect(GTIN(value: 99_999_999_999_997)?.digits == "99999999999997")
    #expect(GTIN(value: 0)?.digits == "00000000000000")
  }

  @Test(arguments: [
    ("01234505", "012000003455"), ("04252614", "042100005264"), ("04180831", "041800000081"),
    ("01840207", "018000004027"), ("05223310", "052100002330"), ("01234531", "012300000451"),
    ("01234543", "012340000053"), ("01234558", "012345000058"), ("11234502", "112000003452"),
  ])
  func `UPC-E expands by its sixth digit`(symbol: String, upcA: String) throws {
    let expanded = try #require(GTIN(upcE: symbol))
    #expect(expanded == GTIN(upcA))
  }

  @Test(arguments: ["418083", "04180832", "24180831", "0418083", "041808310", "0418083A", ""])
  func `UPC-E needs its 8 digits, number system 0 or 1 and a right check digit`(symbol: String) {
    #expect(GTIN(upcE: symbol) == nil)
  }
}
