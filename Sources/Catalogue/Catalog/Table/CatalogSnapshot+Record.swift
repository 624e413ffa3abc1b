import Bytes
package import LogStore

/// The record of a product, for people who look at bytes.
package struct RawRecord: Sendable {
  /// The offset in the file, in bytes.
  package let offset: Int
  /// The bytes of the record.
  package let bytes: [UInt8]
  /// Where the product is in each order, and how many products each has; counts include dead rows.
  package let positions: [(name: String, position: Int, count: Int)]
}

extension CatalogSnapshot {
  /// Returns the record of a product; `nil` if no product has the id.
  ///
  /// - Complexity: One lookup, and a few pages of each order.
  package func rawRecord(ofProduct id: String) throws(StoreError) -> RawRecord? {
    guard let store else { return nil }
    var keys = ProductIndexKeys()
    let orders = orders.map(\.rawValue).sorted()
    return try withProduct(id: id) { (view) throws(StoreError) in
      var positions: [(name: String, position: Int, count: Int)] = []
      for name in orders {
        guard let order = CatalogIndexes.Order(rawValue: name),
          let index = store.orderedIndex(CatalogSchema.products, named: name)
        else { continue }
        let key = try keys.key(of: .order(order), view)
        let before = try store.rowCount(inOrderOf: index, from: .start, to: .before(key, view.rowID)).count
        positions.append((name, before, try store.rowCount(inOrderOf: index).count))
      }
      return RawRecord(offset: view.rowID.byteOffset, bytes: view.record.raw.copied(), positions: positions)
    }
  }

  /// Returns the commit that wrote the row at an offset of the file; `nil` if it is not known.
  ///
  /// - Complexity: Two reads for each commit of the file.
  package func commit(ofRowAt offset: Int) throws -> CatalogCommit? {
    guard let store else { return nil }
    var start = store.fileByteCount
    for commit in try history() {
      start -= commit.commit.byteCount
      if offset >= start { return commit }
    }
    return nil
  }
}
