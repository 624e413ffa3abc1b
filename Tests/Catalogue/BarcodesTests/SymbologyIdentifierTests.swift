import Testing

@testable import Barcodes

@Suite struct SymbologyIdentifierTests {
  @Test(arguments: ["]E0", "]e0", "]C1", "]z9", "]XF"])
  func `a bracket, a letter and a modifier are an identifier`(text: String) throws {
    #expect(try #require(SymbologyIdentifier(text)).description == text)
  }

  @Test(arguments: ["", "]", "]E", "E0", "]00", "]Eg", "]E00", "]é0", "[E0"])
  func `nothing else is an identifier`(text: String) {
    #expect(SymbologyIdentifier(text) == nil)
  }

  @Test(arguments: ["]C1", "]e0", "]d2", "]Q3", "]J1"])
  func `GS1 carriers are known`(text: String) throws {
    #expect(try #require(SymbologyIdentifier(text)).isGS1)
  }

  @Test(arguments: ["]C0", "]E0", "]d1", "]Q1", "]J0", "]I1", "]A0"])
  func `other carriers are not GS1`(text: String) throws {
    #expect(try #require(SymbologyIdentifier(text)).isGS1 == false)
  }

  @Test func `the EAN family is told apart by its modifier`() throws {
    #expect(try #require(SymbologyIdentifier("]E0")).isEANUPC)
    #expect(try #require(SymbologyIdentifier("]E4")).isEAN8)
    #expect(try #require(SymbologyIdentifier("]E3")).hasAddOn)
    #expect(try #require(SymbologyIdentifier("]E1")).isAddOnAlone)
    #expect(try #require(SymbologyIdentifier("]e3")).isEANUPC == false)
  }
}
