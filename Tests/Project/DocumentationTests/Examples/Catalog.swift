// The example of Sources/Catalogue/Catalog/Catalog.docc/Catalog.md
import Catalog
import LogStore

/// Answers scans from a user's catalogue.
func answers(to scans: [String], from location: StoreLocation) throws -> [String] {
  guard let reader = try CatalogReader.open(location) else { return [] }
  try reader.refresh()  // moves to the last commit of any process
  let catalogue = try reader.snapshot()  // any number of threads may use it
  return try scans.map { scan in
    // The view is lent: only the field that is read is copied.
    if let weight = try catalogue.withProduct(barcode: scan.utf8.span, { $0.weight }) { return "\(weight) kg" }
    let match = try catalogue.match(scan)
    return "\(match.kind.rawValue): \(match.products.count)"
  }
}
