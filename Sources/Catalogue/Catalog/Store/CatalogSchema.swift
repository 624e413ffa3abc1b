import LogStore

/// The schema of a catalogue's store: two tables, a third one in catalogues that have or had codes, and their key spaces.
enum CatalogSchema {
  static let products = 0
  static let relations = 1
  static let codes = 2

  /// Products by id. At most one live product has a given id.
  static let productById = KeySpaceID(table: products, index: 0)
  /// Products by the code that scans are compared with: the barcode with surrounding blanks removed and ASCII letters
  /// in upper case. Several products may share a code. A product without a barcode has no entry.
  static let productByCode = KeySpaceID(table: products, index: 1)
  /// Relations by the set that they belong to.
  static let relationBySet = KeySpaceID(table: relations, index: 0)
  /// Relations by the component that they need.
  static let relationByComponent = KeySpaceID(table: relations, index: 1)

  /// Records of codes by the product that they belong to.
  static let codesByProduct = KeySpaceID(table: codes, index: 0)
  /// Records of codes by the key of each of their codes; see ``DigitKey``.
  static let codesByCode = KeySpaceID(table: codes, index: 1)

  /// The table of codes, which the first code creates.
  static let codeTable = Schema.Table(
    "codes", keySpaces: [Schema.KeySpace("productId"), Schema.KeySpace("code", isList: true)])

  /// Returns whether a store has the table of codes.
  static func hasCodes(_ store: Snapshot) -> Bool {
    let tables = store.manifest.tables
    return tables.count > codes && tables[codes].name == codeTable.name
  }

  /// Returns whether a store has the tables of a catalogue. The file may have been replaced by a store of another kind.
  static func fits(_ store: Snapshot) -> Bool {
    let tables = store.manifest.tables
    return tables.count > relations && tables[products].name == "products" && tables[relations].name == "relations"
  }

  /// The schema of a store with the standard indexes.
  static let schema = schema(with: .standard)

  /// Returns the schema of a store whose next generation has these indexes.
  static func schema(with indexes: CatalogIndexes) -> Schema {
    // The order by barcode has one name, with parts or without.
    let other = indexes.hasSearch ? ProductIndex.order(.barcode) : .barcodeParts
    let ordered = indexes.described.filter { $0 != other }.map { $0.described(isWanted: indexes.has($0)) }
    return Schema(
      [
        Schema.Table(
          "products",
          keySpaces: [
            Schema.KeySpace("id", isUnique: true),
            Schema.KeySpace("code", skipsEmptyKeys: true),
          ],
          orderedIndexes: ordered, otherOrderedIndex: { ProductIndex(named: $0)?.described(isWanted: false) }),
        Schema.Table(
          "relations",
          keySpaces: [
            Schema.KeySpace("productId"),
            Schema.KeySpace("subProductId"),
          ]),
      ], optional: [codeTable])
  }
}
