// The example of Documentation/Embedding.md
import Catalog

/// The names of the best ten products for some words, and the first page of all products by barcode.
func findByWords(_ words: String, in catalogue: CatalogSnapshot) throws -> ([String], ProductCursor?) {
  var options = SearchOptions()
  options.limit = 10
  let found = try catalogue.search(words, options)  // found.next is where the next page begins
  let page = try catalogue.products(inOrderOf: .barcode, limit: 50)
  return (found.results.map(\.product.name), page.next)
}
