import Catalog
import CatalogRows

/// A row whose fields are displayed one by one, with the server's names, in the order of the names; `extra` is the last
/// one.
protocol FieldRow {
  var fields: [(name: String, value: String)] { get }
}

extension Product: FieldRow {
  var fields: [(name: String, value: String)] {
    var row = ProductRow()
    fill(&row)
    return ProductField.allCases.sorted { $0.key < $1.key }.map { ($0.key, row.text(of: $0)) }
      + [("extra", extra.isEmpty ? "" : extra.json)]
  }
}

extension ProductCode: FieldRow {
  var fields: [(name: String, value: String)] {
    [
      ("code", code), ("id", id), ("kind", kind), ("productId", productId),
      ("quantity", quantity.normalized.description), ("unit", unit),
    ]
  }
}

extension Relation: FieldRow {
  var fields: [(name: String, value: String)] {
    [
      ("groupNum", String(groupNum)), ("id", id), ("orgId", orgId), ("productId", productId),
      ("subProductId", subProductId),
    ]
  }
}
