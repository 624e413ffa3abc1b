// The example of Sources/Catalogue/Catalog/Catalog.docc/Catalog.md
import Catalog
import LogStore

/// Describes what a shop has: its three heaviest products on sale, products without a name, and its brands.
func inventory(of catalogue: CatalogSnapshot) throws -> [String] {
  let heavy = try catalogue.products(where: "isSaleProduct && weight > 10").order(by: "weight desc, name").limit(3)
  var lines = try heavy.fetch().map { "\($0.name): \($0.weight) kg" }  // values with all 25 fields

  let nameless = try catalogue.products(where: "name == '' && barcode != ''")
  try nameless.forEach { product in
    lines.append("\(product.barcode) has no name")  // a lent view: only this field is copied
    return lines.count < 100  // false ends the query
  }

  for group in try catalogue.products(where: "delFlag == 0").grouped(by: [.brand], [.maximum(.weight)]) {
    lines.append("\(group.key[0].json): \(group.count), at most \(group.values[0].json) kg")
  }
  return lines
}
