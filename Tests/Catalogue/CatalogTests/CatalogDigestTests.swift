import Testing

@testable import Catalog
import CatalogTestSupport

@Suite struct CatalogDigestTests {
  @Test func `the digest is that of the content, whatever way it came`() throws {
    var rows = RowGenerator("the digest is that of the content, whatever way it came")
    var products: [Product] = []
    for number in 0..<60 {
      var product = rows.product()
      product.id = "\(number)"
      product.delFlag = 0
      products.append(product)
    }
    let relations = (0..<20).map { Relation("\($0)", "\($0 + 1)") }
    let one = try TestCatalogue(products, relations)
    let other = try TestCatalogue([Product("x")], [Relation("x", "y")])
    try other.increment(products.shuffled(using: &rows.random), relations.shuffled(using: &rows.random))
    try other.increment([Product("x", delFlag: 1)], cursor: "full")
    let digest = try CatalogDigest(one.snapshot)
    #expect(try CatalogDigest(other.snapshot) == digest)
    try other.writer.compact()
    #expect(try CatalogDigest(other.snapshot) == digest)
    #expect(digest.description.count == 32)
    try other.increment([], cursor: "else")
    #expect(try CatalogDigest(other.snapshot) != digest)
    products[7].wide = products[7].wide == 5 ? 6 : 5
    try one.full(products, relations)
    #expect(try CatalogDigest(one.snapshot) != digest)
  }
}
