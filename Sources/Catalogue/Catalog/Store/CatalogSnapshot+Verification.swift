import Bytes
public import LogStore

extension CatalogSnapshot {
  /// Reads every row and checks it against `Documentation/Format/Catalogue.md`. These are the rules that `Verification`
  /// of LogStore cannot know. Nothing is changed.
  ///
  /// - Returns: The problems found, those of products first; empty for rows as this program writes them.
  /// - Throws: `StoreError.damaged` at the first row that fails the store's own checks.
  /// - Complexity: Reads every row twice, and once for each ordered index; memory for its keys.
  public func verify() throws(StoreError) -> [Finding] {
    let faulty = try Self.faultyRows(in: store).map(\.finding)
    // The keys of a row that breaks a rule may be anything.
    if !faulty.isEmpty { return faulty }
    return try codeCountFindings() + (store?.orderedFindings(CatalogSchema.schema) ?? [])
  }

  static func faultyRows(in store: Snapshot?) throws(StoreError) -> [FaultyRow] {
    guard let store else { return [] }
    var faulty: [FaultyRow] = []
    try store.scan(CatalogSchema.products) { (record) throws(StoreError) in
      let view = ProductView(copy record)
      do throws(StoreError) {
        _ = try Product(view)
        try view.checkKeys()
      } catch {
        guard let finding = Finding(error, lost: "this product") else { throw error }
        faulty.append(FaultyRow(record.rowID, finding: finding))
      }
    }
    try store.scan(CatalogSchema.relations) { (record) throws(StoreError) in
      do throws(StoreError) { _ = try Relation(record) } catch {
        guard let finding = Finding(error, lost: "this relation") else { throw error }
        faulty.append(FaultyRow(record.rowID, finding: finding))
      }
    }
    if !CatalogSchema.hasCodes(store) { return faulty }
    var codes: [ProductCode] = []
    try store.scan(CatalogSchema.codes) { (record) throws(StoreError) in
      let view = CodeView(copy record)
      codes.removeAll(keepingCapacity: true)
      do throws(StoreError) {
        try view.append(to: &codes)
        try view.checkKeys()
      } catch {
        guard let finding = Finding(error, lost: "these codes of a product") else { throw error }
        faulty.append(FaultyRow(record.rowID, finding: finding))
      }
    }
    return faulty
  }

  /// Returns what is wrong with the count of codes of the last commit: a finding if the table has another number.
  func codeCountFindings() throws(StoreError) -> [Finding] {
    guard let store, CatalogSchema.hasCodes(store) else { return [] }
    var count = 0
    try store.scan(CatalogSchema.codes) { (record) throws(StoreError) in count += CodeView(copy record).count }
    if count == codeCount { return [] }
    return [
      Finding(
        path: store.path, offset: 0,
        what: "\(count) codes of products, where the commit's state counts \(codeCount); the next full update counts"
          + " them anew",
        lost: "")
    ]
  }
}
