package import CatalogRows

extension ProductField {
  /// A row in which this field has a value of its own, besides the id, and all others have their defaults.
  package func marked(id: String = "p") -> ProductRow {
    var row = ProductRow()
    row.texts.set(ProductText.id.rawValue, id)
    switch slot {
    case .text(let slot): if self != .id { row.texts.set(slot, "2023-02-01 01:15:03") }
    case .integer(let slot): row.integers[slot] = 1000 + Int64(slot)
    case .flag(let slot): row.setFlag(slot, true)
    case .double(let slot): row.doubles[slot] = 0.5 + Double(slot)
    }
    return row
  }
}

extension ProductRow {
  /// The values of all fields as text, by key.
  package var valuesByKey: [String: String] {
    Dictionary(uniqueKeysWithValues: ProductField.allCases.map { ($0.key, text(of: $0)) })
  }
}
