import Testing

@testable import Barcodes

/// Every row of the sample, for the columns that need no catalogue. Rows marked ambiguous are held to the
/// sample's preferred answer as well: none of them needed another one.
@Suite struct SampleScanTests {
  @Test func `the sample is there`() {
    #expect(SampleScan.all.count == 210)
  }

  @Test(arguments: SampleScan.all)
  func `a sample scan reads as the sample says`(row: SampleScan) {
    let scan = Scan(row.scan)
    #expect(scan.text == row.scan)
    #expect(scan.symbology?.description ?? "" == row.aim)
    #expect(Array(scan.payload.utf8) == Array(row.payload.utf8))
    #expect(scan.kind.rawValue == row.kind)
    #expect(scan.gtin?.digits ?? "" == row.gtin14)
    #expect(scan.elements?.description ?? "" == row.ais)
    switch row.check {
    case "valid": #expect(scan.checkDigit == .valid)
    case "invalid": #expect(scan.checkDigit == .invalid)
    default: #expect(scan.checkDigit == .none)
    }
  }

  @Test(arguments: SampleScan.all)
  func `a sample scan gives the matcher what its match needs`(row: SampleScan) {
    let scan = Scan(row.scan)
    let barcodes = row.barcode.split(separator: "|").map(String.init)
    switch row.match {
    case "exact":
      #expect(scan.allowsExactText)
      #expect(barcodes.contains(scan.itemText))
    case "head":
      #expect(scan.allowsHead)
      #expect(barcodes.contains { scan.headText.uppercased().hasPrefix($0) })
    case "none":
      break
    default:
      // By its GTIN, in one spelling or another.
      #expect(scan.gtin != nil)
      #expect(barcodes.allSatisfy { scan.gtin?.spellings.contains($0) == true })
      #expect(scan.namesContents == (row.match == "gs1-content"))
    }
  }

  @Test(arguments: SampleScan.all.filter { (169...172).contains($0.number) })
  func `folding turns a sample scan from a keyboard into a GTIN`(row: SampleScan) throws {
    let folded = try #require(Scan(row.scan).folded)
    #expect(folded.kind == .gtin)
    #expect(folded.folded == nil)
  }
}
