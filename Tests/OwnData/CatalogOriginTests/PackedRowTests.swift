import CatalogRows
import Testing

@testable import CatalogOrigin

@Suite struct PackedRowTests {
  @Test func `every field of a product comes back`() {
    var row = ProductRow()
    for field in ProductText.allCases { row.texts.set(field.rawValue, Array("text \(field) é".utf8).span) }
    (row.categoryId, row.delFlag, row.groupNum) = (.min, -1, .max)
    (row.isGreeProduct, row.isGroupedProduct, row.isSaleProduct, row.isMarketingProduct) = (
      true, false, true, true
    )
    (row.length, row.tall, row.volume, row.weight, row.wide) = (
      1.5, -0.0, .greatestFiniteMagnitude, 1e-300, 7
    )
    var copy = ProductRow()
    PackedRow.unpack(PackedRow.pack(row), into: &copy)
    for field in ProductText.allCases { #expect(copy[field] == row[field]) }
    #expect((copy.categoryId, copy.delFlag, copy.groupNum) == (.min, -1, .max))
    #expect(copy.isGreeProduct && !copy.isGroupedProduct && copy.isSaleProduct && copy.isMarketingProduct)
    #expect([copy.length, copy.tall, copy.volume] == [1.5, 0, .greatestFiniteMagnitude])
    #expect(copy.tall.sign == .minus)
    #expect([copy.weight, copy.wide] == [1e-300, 7])
  }

  @Test func `a reused row keeps nothing of the former one`() {
    var row = TestProduct(id: "1", name: "a long name").row
    PackedRow.unpack(PackedRow.pack(ProductRow()), into: &row)
    #expect(TestProduct(row) == TestProduct(id: ""))
    #expect(row.groupNum == 1)
  }

  @Test func `relations follow each other`() {
    let relations = [
      TestRelation(id: "1", productId: "p", subProductId: "q"), TestRelation(id: "", productId: ""),
    ]
    var row = RelationRow()
    var copies: [TestRelation] = []
    PackedRow.forEachRelation(in: relations.flatMap { PackedRow.pack($0.row) }, reusing: &row) { row in
      copies.append(TestRelation(row))
    }
    #expect(copies == relations)
  }

  @Test(arguments: [(0, false), (1, true), (-1, true), (256, true)])
  func `a delFlag is seen without unpacking`(delFlag: Int64, expected: Bool) {
    #expect(PackedRow.isDeleted(PackedRow.pack(TestProduct(id: "1", delFlag: delFlag).row)) == expected)
  }
}
