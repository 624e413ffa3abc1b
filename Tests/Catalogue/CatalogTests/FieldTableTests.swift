import Bytes
import CatalogRows
import LogStore
import RowTestSupport
import Testing

@testable import Catalog
import CatalogTestSupport

/// Each field of the table in everything that goes through the table: a field that one of them forgets comes back as
/// its default.
@Suite struct FieldTableTests {
  @Test func `the slots of each kind are numbered without gaps, and texts are those of ProductText`() {
    var counts = [0, 0, 0, 0]
    for field in ProductField.allCases {
      let (kind, slot) =
        switch field.slot {
        case .text(let slot): (0, slot)
        case .integer(let slot): (1, slot)
        case .flag(let slot): (2, slot)
        case .double(let slot): (3, slot)
        }
      #expect(slot == counts[kind], "\(field)")
      counts[kind] += 1
      #expect(field.text.map { "\($0)" } == (kind == 0 ? "\(field)" : nil))
    }
    let row = ProductRow()
    #expect(counts[0] == ProductText.allCases.count)
    #expect(counts[1] == row.integers.count && counts[3] == row.doubles.count)
    #expect(ProductLayout.rowFlags == 1 << UInt32(counts[2]) - 1)
    #expect(Set(ProductLayout.ownTexts + ProductLayout.sharedTexts) == Set(ProductText.allCases))
  }

  @Test(arguments: ProductField.allCases) func `rows that are kept and copied have it`(field: ProductField) {
    let row = field.marked()
    var kept = RowBuffer()
    kept.append(row)
    kept.append(ProductRow())
    var values: [[String: String]] = []
    kept.forEachProduct { values.append($1.valuesByKey) }
    #expect(values == [row.valuesByKey, ProductRow().valuesByKey])
    var copy = ProductRow()
    copy.copy(row)
    #expect(copy.valuesByKey == row.valuesByKey)
    Product(row).fill(&copy)
    #expect(copy.valuesByKey == row.valuesByKey)
    copy.reset()
    #expect(copy.valuesByKey == ProductRow().valuesByKey)
  }

  @Test(arguments: ProductField.allCases) func `the store, comparisons, queries and the digest have it`(
    field: ProductField
  ) throws {
    let row = field.marked()
    let plain = ProductField.id.marked()
    let catalogue = try TestCatalogue([Product(row)])
    let other = try TestCatalogue([Product(plain)])
    let (snapshot, otherSnapshot) = (try catalogue.snapshot, try other.snapshot)
    var stored = ProductRow()
    try #require(try snapshot.product(id: "p")).fill(&stored)
    #expect(stored.valuesByKey == row.valuesByKey)
    let isDistinct = field != .id
    let found: Void? = try snapshot.withProduct(id: "p") { (view) throws(StoreError) in
      #expect(try view.hasSameContent(as: row))
      #expect(try view.hasSameContent(as: plain) != isDistinct)
      // What the source says nothing about is taken from the product.
      var filled = plain
      filled.givenFields = ProductRow.allFields & ~(1 << UInt32(field.rawValue))
      try filled.fill(from: view)
      #expect(filled.valuesByKey == row.valuesByKey)
      var scratch: [UInt8] = []
      let text =
        switch try ResolvedField.field(field).value(of: view, in: .empty, &scratch) {
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .double(let value): "\(value)"
        case .text(let value): value
        default: "no value of a field"
        }
      #expect(text == row.text(of: field))
    }
    try #require(found != nil)
    let digests = (try CatalogDigest(snapshot), try CatalogDigest(otherSnapshot))
    #expect((digests.0 != digests.1) == isDistinct)
  }
}
