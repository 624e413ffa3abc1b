import LogStore

/// How the catalogue lies in a store: two tables, and what their rows are found by.
enum CatalogSchema {
  static let products = 0
  static let relations = 1

  /// Products by id. One live product per id.
  static let productById = KeySpaceID(table: products, index: 0)
  /// Products by what a scan is compared with: the barcode without blanks around it, ASCII letters in upper case.
  /// Many products may share one; one without a barcode is not found here.
  static let productByCode = KeySpaceID(table: products, index: 1)
  /// Relations by the set that they belong to.
  static let relationBySet = KeySpaceID(table: relations, index: 0)
  /// Relations by the component that they ask for.
  static let relationByComponent = KeySpaceID(table: relations, index: 1)

  /// Whether a store has the tables of a catalogue: another kind of store may have been put in its place.
  static func fits(_ store: Snapshot) -> Bool {
    let tables = store.manifest.tables
    return tables.count > relations && tables[products].name == "products" && tables[relations].name == "relations"
  }

  static let schema = Schema([
    Schema.Table(
      "products",
      keySpaces: [
        Schema.KeySpace("id", isUnique: true),
        Schema.KeySpace("code", skipsEmptyKeys: true),
      ]),
    Schema.Table(
      "relations",
      keySpaces: [
        Schema.KeySpace("productId"),
        Schema.KeySpace("subProductId"),
      ]),
  ])
}
