public import LogStore

/// How many products have a declared field.
public struct FieldCount: Equatable, Sendable {
  /// The name of the field.
  public let name: String
  /// The number of products with a value of the declared type.
  public internal(set) var products = 0
  /// The number of products with a value that does not fit the declared type, and so counts as missing.
  public internal(set) var misfits = 0
}

extension CatalogSnapshot {
  /// Counts the products that have each declared field, in the order of names. Products that the server sent as deleted
  /// are left out.
  ///
  /// - Throws: `StoreError.damaged` if a block or record fails its check.
  /// - Complexity: Reads all products once.
  public func fieldCounts() throws(StoreError) -> [FieldCount] {
    let declared = self.fields
    let fields = declared.names.map { declared.field($0) }
    let allowsList = declared.names.map { name in declared[name].map { $0.isCode || $0.isSearched } ?? false }
    var counts = fields.map { FieldCount(name: $0.name) }
    if fields.isEmpty || !mayHaveExtra { return counts }
    var scratch: [UInt8] = []
    try forEachProduct { (view) throws(StoreError) in
      let extra = view.utf8.extra
      if extra.byteCount == 0 || view.delFlag != 0 { return }
      for (index, field) in fields.enumerated() {
        switch field.fit(extra, &scratch, allowsList: allowsList[index]) {
        case .missing: continue
        case .fitting: counts[index].products += 1
        case .misfit: counts[index].misfits += 1
        }
      }
    }
    return counts
  }
}
