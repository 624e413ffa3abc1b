import Bytes
import DocumentFormat
public import LogStore

extension DocumentSnapshot {
  /// Verifies that documents, IDs and index keys agree. Changes nothing.
  ///
  /// `Verification` of LogStore checks the checksums, and that each key of a row finds the row. This method checks that
  /// the keys are the right ones: each ID is one valid value, each document is one valid item, and each document has
  /// exactly the index keys that follow from its bytes, in the ordered indexes too.
  ///
  /// - Returns: The findings, in file order; empty if everything agrees.
  /// - Throws: `StoreError.damaged` at the first row whose checksum does not match.
  /// - Complexity: Reads every row once, and once more for each ordered index.
  public func verify() throws(StoreError) -> [Finding] {
    guard let store else { return [] }
    var findings: [Finding] = []
    for (table, name) in store.tableNames.enumerated() {
      guard let collection = DocumentTable(tableNamed: name) else {
        findings.append(
          Finding(path: store.path, offset: 0, what: "table \(name) holds no collection", lost: "nothing that was one"))
        continue
      }
      try verify(collection, table, store, &findings)
    }
    return findings + (try store.orderedFindings(orderedSchema))
  }

  /// The tables of the store, with the ordered indexes that are declared.
  private var orderedSchema: Schema {
    Schema(
      (store?.tableNames ?? []).map { name in
        DocumentTable(tableNamed: name).map { $0.schema(declaredIndexes(of: $0)) } ?? Schema.Table(name, keySpaces: [])
      })
  }

  private func verify(
    _ collection: DocumentTable, _ table: Int, _ store: Snapshot, _ findings: inout [Finding]
  ) throws(StoreError) {
    let declared = description.collections[collection.name] ?? CollectionDescription()
    let indexes = declared.indexes
    let usable = declared.usableIndexes
    for index in indexes where index.description == nil || index.number >= declared.nextNumber {
      findings.append(
        Finding(
          path: store.path, offset: 0, what: "index \(index.number) of \(collection.name) is invalid",
          lost: "that index"))
    }
    try store.scan(table) { (record) throws(StoreError) in
      let key = record.key(0).copied()
      func report(_ what: String, lost: String) {
        let id = DocumentTable.text(ofKey: key)
        findings.append(
          Finding(
            path: store.path, offset: record.rowID.byteOffset, what: "\(collection.name), document \(id): \(what)",
            lost: lost))
      }
      if record.sharedCount > 0 { report("it has \(record.sharedCount) shared strings", lost: "nothing") }
      do { _ = try DocumentValue(documentBytes: key.rawSpan) } catch { report("its id: \(error)", lost: "its id") }
      do {
        try DocumentView(record.body).validate()
      } catch {
        report("\(error)", lost: "the document")
        return
      }
      var keys: [UInt8] = []
      do throws(DocumentStoreError) {
        var listValued: Set<UInt16> = []
        try collection.appendKeys(of: record.body, record.key(0), usable, to: &keys, listValued: &listValued)
        var ordered: [UInt8] = []
        for index in usable where index.description.isOrdered {
          if try !collection.appendOrderedKeys(of: record.body, record.key(0), index, to: &ordered) {
            listValued.insert(index.number)
          }
        }
        for index in usable where index.isSingleValued && listValued.contains(index.number) {
          report(
            "it has not exactly one value for the index on \(index.description.fields), which says that each has",
            lost: "groups by that field, and queries in its order, may miss documents")
        }
      } catch {
        report("\(error)", lost: "the document")
        return
      }
      var wanted: Set<[UInt8]> = []
      var wantedList = KeyList(keys.rawSpan)
      while let key = wantedList.next() { wanted.insert(key.copied()) }
      let numbers = Set(indexes.map(\.number))
      var found: Set<[UInt8]> = []
      var list = KeyList(record.key(1))
      while let key = list.next() {
        // The keys of a removed index remain until the document is rewritten.
        if let number = DocumentTable.number(ofKey: key), !numbers.contains(number), number < declared.nextNumber {
          continue
        }
        found.insert(key.copied())
      }
      if found != wanted {
        report(
          "\(wanted.subtracting(found).count) keys of its indexes are missing, and \(found.subtracting(wanted).count)"
            + " are not its own", lost: "nothing; queries through an index may not find it")
      }
    }
  }
}
