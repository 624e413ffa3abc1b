// The example of README.md
import Shelfmark

/// Looks up products in the catalogue of the user who is signed in.
func lookUp(root: String) throws -> [String?] {
  let catalogue = try Workspace.open(root).catalogue()  // any number of threads may use it
  let product = try catalogue.product(barcode: "6910884277922")  // a value with all 25 fields
  let name = try catalogue.withProduct(barcode: "6910884277922") { $0.name }  // one field, read in the mapped file
  let match = try catalogue.match("6910884277922-A7")  // what a scanner sent: here with a serial number after the code
  return [product?.name, name, match.products.first?.name]
}
