import Bytes
import DocumentFormat
import LogStore
import StoreTestSupport
@testable import Documents

/// All that a store of documents shows at a commit.
struct DocumentContents: Hashable {
  /// The bytes of the documents, by collection and id.
  var documents: [String: [[UInt8]: [UInt8]]] = [:]
  /// The paths of the indexes, by collection.
  var indexes: [String: [String]] = [:]
  var schemaVersion = 0

  init() {}

  /// Reads everything: each document by a scan, by its id, and by each key that each index has for it.
  ///
  /// - Throws: `StoreError`; `Oddity` where documents and indexes disagree.
  init(_ snapshot: DocumentSnapshot) throws {
    schemaVersion = snapshot.schemaVersion
    for finding in try snapshot.verify() { throw Oddity("\(finding)") }
    guard let store = snapshot.store else { return }
    for name in snapshot.collectionNames {
      let table = try DocumentTable(name)
      let declared = snapshot.indexes(of: table)
      if !declared.isEmpty {
        indexes[name] = declared.map {
          $0.description.fields + ($0.description.hasPrefixes ? "*" : $0.description.isOrdered ? "<" : "")
        }
        .sorted()
      }
      guard let index = snapshot.index(of: table) else { continue }
      var all: [[UInt8]: [UInt8]] = [:]
      var byKey: [[UInt8]: Set<[UInt8]>] = [:]
      try store.scan(index) { (record) throws(StoreError) in
        let (id, body) = (record.key(0).copied(), record.body.copied())
        all[id] = body
        for key in (try? table.keys(of: body, id, declared)) ?? [] { byKey[key, default: []].insert(id) }
      }
      guard snapshot.count(table) == all.count else { throw Oddity("\(name): \(all.count) rows, but another count") }
      for (id, body) in all where try snapshot.withDocument(table, id, { $0.copied() }) != body {
        throw Oddity("\(name): document \(DocumentTable.text(ofKey: id)) is not found by its id")
      }
      for (key, ids) in byKey {
        var found: Set<[UInt8]> = []
        try store.forEachRecord(DocumentTable.values(index), key.rawSpan) { (record) throws(StoreError) in
          found.insert(record.key(0).copied())
          return true
        }
        guard found == ids else { throw Oddity("\(name): key \(key) finds \(found.count) of \(ids.count)") }
      }
      if !all.isEmpty { documents[name] = all }
    }
  }

  /// Puts a document, as a collection of this type writes it.
  mutating func put<Document: Encodable & Identifiable>(_ document: Document, _ collection: String) throws
  where Document.ID: Encodable {
    documents[collection, default: [:]][try DocumentTable.key(document.id)] = try DocumentEncoder().encode(document)
  }

  mutating func delete(_ id: some Encodable, _ collection: String) throws {
    documents[collection]?[try DocumentTable.key(id)] = nil
    if documents[collection]?.isEmpty == true { documents[collection] = nil }
  }

  mutating func deleteAll(_ collection: String) { documents[collection] = nil }
}

extension DocumentContents: CustomStringConvertible {
  var description: String {
    let names = documents.keys.sorted()
    return names.map { name in
      "\(name): " + documents[name]!.keys.map { DocumentTable.text(ofKey: $0) }.sorted().joined(separator: " ")
    }.joined(separator: "; ") + " indexes \(indexes.sorted { $0.key < $1.key }) version \(schemaVersion)"
  }
}

extension TestDocuments {
  /// What whoever opens the store finds.
  func contents() throws -> DocumentContents { try DocumentContents(inspect().snapshot()) }
}

extension DocumentTable {
  /// The keys under which `indexes` find a document.
  func keys(of document: [UInt8], _ id: [UInt8], _ indexes: [CollectionIndex]) throws -> [[UInt8]] {
    var bytes: [UInt8] = []
    var listValued: Set<UInt16> = []
    try appendKeys(of: document.rawSpan, id.rawSpan, indexes, to: &bytes, listValued: &listValued)
    var list = KeyList(bytes.rawSpan)
    var keys: [[UInt8]] = []
    while let key = list.next() { keys.append(key.copied()) }
    return keys
  }
}
