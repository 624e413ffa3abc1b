// The example of README.md
import Catalog
import LogStore

/// The name of the product that a scanned code belongs to; `nil` if the catalogue does not know it.
func productName(of code: String, in directory: String) throws -> String? {
  let location = try StoreLocation.creating(directory, name: "catalogue")
  guard let reader = try CatalogReader.open(location) else { return nil }
  let catalogue = try reader.snapshot()  // any number of threads may use it
  return try catalogue.match(code).products.first?.name
}
