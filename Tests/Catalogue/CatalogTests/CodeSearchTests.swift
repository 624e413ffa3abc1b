import Barcodes
import CatalogRows
import LogStore
import Testing

@testable import Catalog
import CatalogTestSupport

/// Searches and tables in a catalogue with a table of codes.
@Suite struct CodeSearchTests {
  private static let caseCode = "14006381333938"

  private static func catalogue() throws -> TestCatalogue {
    try TestCatalogue(
      [
        Product("pen", "4006381333931", name: "Pen"), Product("ink", "4006381333962", name: "Ink case-24"),
        Product("gone", "4006381333979", name: "Gone", delFlag: 1),
      ],
      codes: [
        ProductCode("pen", caseCode, ExactDecimal(24), unit: "case", id: "2"),
        ProductCode("pen", "case-24", ExactDecimal(24), id: "1"), ProductCode("pen", "0012345678905", id: "3"),
        ProductCode("gone", "GONE-7"), ProductCode("nobody", "ORPHAN-7"),
        ProductCode("ink", "SHARED", ExactDecimal(2)), ProductCode("pen", "SHARED", ExactDecimal(3)),
      ])
  }

  private func found(_ text: String, in snapshot: CatalogSnapshot) throws -> [String] {
    try snapshot.search(text).results.map { "\($0.product.id) \($0.package?.code ?? "-")" }
  }

  @Test func `a whole code comes first, in every spelling of a GTIN`() throws {
    let snapshot = try Self.catalogue().snapshot
    #expect(try found(Self.caseCode, in: snapshot) == ["pen \(Self.caseCode)"])
    #expect(try found(" \(Self.caseCode) ", in: snapshot) == ["pen \(Self.caseCode)"])
    for spelling in ["012345678905", "0012345678905", "00012345678905"] {
      #expect(try found(spelling, in: snapshot) == ["pen 0012345678905"], "\(spelling)")
    }
    // A word of another product comes after it.
    #expect(try found("CASE-24", in: snapshot) == ["pen case-24", "ink -"])
    #expect(try Set(found("shared", in: snapshot)) == ["ink SHARED", "pen SHARED"])
    #expect(try found("4006381333931", in: snapshot) == ["pen -"])
  }

  @Test func `a scan and a search name no package for a code with two quantities, or for a barcode`() throws {
    let snapshot = try TestCatalogue(
      [Product("pen", "4006381333931")],
      codes: [
        ProductCode("pen", Self.caseCode, ExactDecimal(6), id: "1"), ProductCode("pen", "INNER", ExactDecimal(6)),
        ProductCode("pen", "4006381333931", ExactDecimal(24)), ProductCode("pen", Self.caseCode, ExactDecimal(24)),
        ProductCode("pen", "INNER", ExactDecimal(6), unit: "box"),
      ]
    ).snapshot
    for code in [Self.caseCode, "4006381333931"] {
      #expect(try found(code, in: snapshot) == ["pen -"], "\(code)")
      let match = try snapshot.match(code)
      #expect(match.products.map(\.id) == ["pen"] && match.package == nil && match.pieceCount == 1, "\(code)")
    }
    #expect(try found("INNER", in: snapshot) == ["pen INNER"])
    #expect(try snapshot.match("INNER").pieceCount == 6)
  }

  @Test func `codes of deleted and unknown products, and parts of codes, find nothing`() throws {
    let snapshot = try Self.catalogue().snapshot
    for text in ["GONE-7", "ORPHAN-7", String(Self.caseCode.dropLast(4))] {
      #expect(try found(text, in: snapshot).isEmpty, "\(text)")
    }
  }

  @Test func `pages neither repeat nor leave out what a code has found`() throws {
    let snapshot = try Self.catalogue().snapshot
    var options = SearchOptions()
    options.limit = 1
    var ids: [String] = []
    repeat {
      let page = try snapshot.search("case-24", options)
      ids += page.results.map(\.product.id)
      options.cursor = page.next
    } while options.cursor != nil && ids.count < 9
    #expect(ids == ["pen", "ink"])
  }

  @Test func `a table has the products with codes, or those without`() throws {
    let snapshot = try Self.catalogue().snapshot
    func ids(_ hasCodes: Bool) throws -> [String] {
      var filter = ProductFilter()
      filter.hasCodes = hasCodes
      #expect(!filter.isEmpty)
      var walk = try ProductRowWalk(snapshot, filter, ProductTableOrder(.id))
      var rows: [UInt32] = []
      while try walk.appendRows(lookingAt: 100, to: &rows) {}
      return try rows.compactMap { row in
        try snapshot.withProduct(RowID(number: UInt64(row))) { (view) throws(StoreError) in view.id }
      }
    }
    #expect(try ids(true) == ["gone", "ink", "pen"])
    #expect(try ids(false).isEmpty)
    #expect(try snapshot.codeCount(ofProduct: "pen") == 4 && snapshot.codeCount(ofProduct: "x") == 0)
    let plain = try TestCatalogue([Product("pen", "1")]).snapshot
    #expect(try plain.codeCount(ofProduct: "pen") == 0)
  }
}
