import LogStore

extension Snapshot {
  /// The minimum number of products in a part.
  private static let partSize = 8192

  /// Calls `body` with parts of the commit, which have about the same number of products, on several threads at the
  /// same time.
  ///
  /// - Returns: The results, in the order of the parts, which is that of the file.
  /// - Throws: `StoreError.damaged`; if `body` throws for several parts, the error for the first of them.
  func mapParts<Element: Sendable>(
    _ body: @Sendable (Snapshot, ScanPart) throws(StoreError) -> Element
  ) throws(StoreError) -> [Element] {
    let count = max(1, min(Threads.partCount, rowCount(CatalogSchema.products) / Self.partSize))
    let results = Threads.map(try parts(count, of: CatalogSchema.products)) { part in
      Result { () throws(StoreError) in try body(self, part) }
    }
    var elements: [Element] = []
    for result in results { elements.append(try result.get()) }
    return elements
  }
}
