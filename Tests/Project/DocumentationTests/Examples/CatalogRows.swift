// The example of Sources/Catalogue/CatalogRows/CatalogRows.docc/CatalogRows.md
import CatalogRows

/// Collects the names of the products from a decoder.
struct NameCollector: RowSink {
  private(set) var names: [String] = []

  mutating func product(_ row: borrowing ProductRow) { names.append(row[.name]) }
  mutating func relation(_ row: borrowing RelationRow) {}
  mutating func code(_ row: borrowing CodeRow) {}
}
