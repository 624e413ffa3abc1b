// The example of Sources/Catalogue/Catalog/Catalog.docc/Catalog.md
import Catalog

/// Reports what each new commit changes, whichever process makes it, until the task is cancelled.
func follow(_ reader: CatalogReader, report: (String) -> Void) async throws {
  for try await change in reader.changes() {
    report("commit \(change.sequence)")
    let rows = try change.differences()  // read from the two states that the change holds
    for product in rows.upsertedProducts { report("\(product.id) is \(product.name)") }
    for id in rows.deletedProductIDs { report("\(id) is gone") }
  }
}
