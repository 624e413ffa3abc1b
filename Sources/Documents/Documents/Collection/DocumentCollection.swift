import Bytes
import DocumentFormat
import LogStore
import Synchronization

/// A typed collection of documents, which are found by ID and by indexed fields.
///
/// Open one with ``DocumentStore/collection(_:of:indexes:)``. Each call that changes documents is a separate commit,
/// durable when it returns. To combine several calls in one commit, use ``DocumentStore/transaction(_:)``.
public struct DocumentCollection<Document: Codable & Identifiable & Sendable>: Sendable
where Document.ID: Codable & Sendable {
  /// The store that contains the collection.
  public let store: DocumentStore
  let table: DocumentTable
  private let indexes: IndexCheck<Document>

  /// The name that the collection was opened with.
  public var name: String { table.name }

  init(_ store: DocumentStore, _ table: DocumentTable, _ indexes: [Index<Document>]) {
    self.store = store
    self.table = table
    self.indexes = IndexCheck(indexes)
  }

  // MARK: Reading

  /// The document with this ID; `nil` if it does not exist. Complexity: One lookup and the decoding.
  public func get(_ id: Document.ID) throws -> Document? { try get(id, in: store.snapshot()) }

  /// The document with this ID in a snapshot; `nil` if it does not exist.
  public func get(_ id: Document.ID, in snapshot: DocumentSnapshot) throws -> Document? {
    let key = try DocumentTable.key(id)
    return try store.traced(.get, name) { trace in
      try snapshot.withDocument(table, key) { bytes in
        trace.documentsRead = 1
        return try decode(bytes, key.rawSpan)
      }
    }
  }

  /// The number of documents in the collection. Complexity: O(1).
  public func count() throws -> Int { try store.snapshot().count(table) }

  func decode(_ bytes: [UInt8], _ key: RawSpan) throws -> Document { try decode(bytes.rawSpan, key) }

  func decode(_ bytes: RawSpan, _ key: RawSpan) throws -> Document {
    do { return try DocumentDecoder().decode(Document.self, from: bytes) } catch {
      throw DocumentStoreError.document(collection: name, id: DocumentTable.text(ofKey: key), reason: error)
    }
  }

  // MARK: Writing

  /// Adds a document.
  ///
  /// - Throws: `DocumentStoreError.exists` if a document already has its ID.
  public func insert(_ document: Document) throws {
    try store.traced(.insert, name) { trace in
      try store.transaction { try $0.insert(document, into: self) }
      trace.documentsAffected = 1
    }
  }

  /// Adds a document, or replaces the one with its ID. Fields of the old document that this program does not know are
  /// preserved.
  public func upsert(_ document: Document) throws {
    try store.traced(.upsert, name) { trace in
      try store.transaction { try $0.upsert(document, into: self) }
      trace.documentsAffected = 1
    }
  }

  /// Changes a document. Fields that this program does not know are preserved.
  ///
  /// - Returns: The changed document; `nil` if no document has this ID.
  /// - Throws: Any error that `change` throws; `DocumentStoreError.idChanged`.
  @discardableResult
  public func update(_ id: Document.ID, _ change: (inout Document) throws -> Void) throws -> Document? {
    try store.traced(.update, name) { trace in
      let changed = try store.transaction { try $0.update(id, in: self, change) }
      trace.documentsRead = 1
      trace.documentsAffected = changed == nil ? 0 : 1
      return changed
    }
  }

  /// Deletes a document. Returns whether it existed.
  @discardableResult
  public func delete(_ id: Document.ID) throws -> Bool {
    try store.traced(.delete, name) { trace in
      let wasThere = try store.transaction { try $0.delete(id, from: self) }
      trace.documentsAffected = wasThere ? 1 : 0
      return wasThere
    }
  }

  /// Deletes all documents. Returns how many were deleted.
  @discardableResult
  public func deleteAll() throws -> Int {
    try store.traced(.deleteAll, name) { trace in
      trace.documentsAffected = try store.transaction { try $0.deleteAll(from: self) }
      return trace.documentsAffected
    }
  }

  /// Adds many documents in one commit, written directly to the file. Only their IDs use memory.
  ///
  /// - Throws: `DocumentStoreError.exists` if an ID is already used, or occurs twice. Nothing was added then.
  public func insert(contentsOf documents: some Sequence<Document>) throws {
    try store.traced(.insert, name) { trace in
      trace.documentsAffected = try store.insert(documents, table) { try self.encode($0) }
    }
  }

  /// Changes a document. Fields that this program does not know are preserved.
  ///
  /// - Returns: The changed document, and its bytes; `nil` if they are to stay as they are.
  /// - Throws: Any error that `change` throws; `DocumentStoreError.idChanged`.
  func changed(
    _ old: RawSpan, _ key: RawSpan, _ change: (inout Document) throws -> Void
  ) throws -> (document: Document, bytes: [UInt8]?) {
    let current = try decode(old, key)
    var changed = current
    try change(&changed)
    let (newKey, bytes) = try encode(changed)
    guard key.hasSameBytes(as: newKey.rawSpan) else {
      throw DocumentStoreError.idChanged(
        collection: name, from: DocumentTable.text(ofKey: key), to: DocumentTable.text(ofKey: newKey))
    }
    let currentBytes = try DocumentEncoder().encode(current)
    if bytes == currentBytes { return (changed, nil) }
    let merged = try DocumentMerge.keepingUnknownFields(old: old.copied(), oldAsKnown: currentBytes, new: bytes)
    return (changed, merged)
  }

  /// The encoded ID and document.
  func encode(_ document: Document) throws -> (key: [UInt8], bytes: [UInt8]) {
    let key = try DocumentTable.key(document.id)
    let bytes = try DocumentEncoder().encode(document)
    try indexes.check(document, bytes, collection: name)
    return (key, bytes)
  }
}

extension DocumentStore {
  /// Opens the collection with this name and exactly these indexes.
  ///
  /// A new index is filled with the keys of the existing documents, in one commit that reports its progress to
  /// ``Options/onReindex``. An index that is no longer listed costs nothing from now on.
  ///
  /// - Throws: `DocumentStoreError.name`, also if the name begins with ``reservedPrefix``; `.path`; any error of a
  ///   commit.
  public func collection<Document: Codable & Identifiable & Sendable>(
    _ name: String, of type: Document.Type = Document.self, indexes: [Index<Document>] = []
  ) throws -> DocumentCollection<Document> where Document.ID: Codable & Sendable {
    if name.hasPrefix(Self.reservedPrefix) { throw DocumentStoreError.name(name) }
    return try uncheckedCollection(name, indexes: indexes, declares: true)
  }

  func uncheckedCollection<Document: Codable & Identifiable & Sendable>(
    _ name: String, indexes: [Index<Document>], declares: Bool
  ) throws -> DocumentCollection<Document> where Document.ID: Codable & Sendable {
    let table = try DocumentTable(name)
    var wanted: [IndexDescription] = []
    for index in indexes {
      do { wanted.append(try index.description.get()) } catch { throw DocumentStoreError.path(error) }
    }
    if declares { try declare(wanted, table) }
    return DocumentCollection(self, table, indexes)
  }

  /// Declares exactly these indexes for a collection.
  func declare(_ indexes: [IndexDescription], _ table: DocumentTable) throws {
    let wanted = indexes.enumerated().filter { !indexes[..<$0.offset].contains($0.element) }.map(\.element)
    let present = try snapshot().indexes(of: table).map(\.description)
    // Ignore the order: two programs that list the indexes in different orders must not overwrite each other's list.
    if present.count == wanted.count, wanted.allSatisfy(present.contains) { return }
    try commit { transaction in
      var description = transaction.description.collections[table.name] ?? CollectionDescription()
      let new = try description.declare(wanted) { declared in
        CollectionIndex(declared).map { transaction.base.isLost($0, table) } ?? false
      }
      transaction.description.collections[table.name] = description
      if new.isEmpty { return try transaction.reindex(table, new: new) { _, _ in } }
      try traced(.reindex, table.name) { trace in
        try transaction.reindex(table, new: new) { done, total in
          trace.documentsAffected = done
          options.onReindex?(table.name, done, total)
        }
      }
    }
  }

  /// Adds documents in one commit, without keeping them in memory.
  ///
  /// - Returns: The number of documents.
  fileprivate func insert<Document>(
    _ documents: some Sequence<Document>, _ table: DocumentTable,
    _ encode: (Document) throws -> (key: [UInt8], bytes: [UInt8])
  ) throws -> Int {
    var seen = IDSet()
    return try append(table) { append in
      for document in documents {
        let (key, bytes) = try encode(document)
        guard try append.isNew(key), seen.insert(key) else {
          throw DocumentStoreError.exists(collection: table.name, id: DocumentTable.text(ofKey: key))
        }
        try append(key, bytes)
      }
    }
  }
}

/// A set of IDs that uses 16 bytes for each: two hashes with random seeds represent an ID.
private struct IDSet {
  private struct Hashes: Hashable {
    let first: UInt64
    let second: UInt64
  }

  private let seeds = (
    HashSeed(.random(in: .min ... .max), .random(in: .min ... .max)),
    HashSeed(.random(in: .min ... .max), .random(in: .min ... .max))
  )
  private var seen: Set<Hashes> = []

  /// Adds an ID. Returns whether it is new.
  mutating func insert(_ key: [UInt8]) -> Bool {
    let span = key.rawSpan
    return seen.insert(Hashes(first: KeyHash.of(span, seeds.0), second: KeyHash.of(span, seeds.1))).inserted
  }
}

/// Checks that the declared paths of a type's indexes lead to the properties of their key paths.
///
/// Property names and coding keys may differ, and then an index would find nothing. So each path is checked in the
/// first document that has a value for it.
final class IndexCheck<Document>: Sendable {
  private let unchecked: Mutex<[Index<Document>]>

  init(_ indexes: [Index<Document>]) { unchecked = Mutex(indexes) }

  func check(_ document: Document, _ bytes: [UInt8], collection: String) throws {
    let left = unchecked.withLock { $0 }
    if left.isEmpty { return }
    let open = try left.filter { try !isChecked($0, document, bytes, collection) }
    unchecked.withLock { $0 = open }
  }

  /// Checks the paths of an index that have a value in the document. Returns whether all have one.
  private func isChecked(
    _ index: Index<Document>, _ document: Document, _ bytes: [UInt8], _ collection: String
  ) throws -> Bool {
    guard let paths = try? index.description.get().paths else { return false }
    var isComplete = true
    for (path, value) in zip(paths, index.values) {
      guard let value = value(document), value != .null else {
        isComplete = false
        continue
      }
      var found: DocumentValue?
      try DocumentView(bytes.rawSpan).forEachValue(at: path, flattensLast: false) { view throws(DocumentError) in
        found = try view?.value()
        return false
      }
      guard found == value else {
        throw DocumentStoreError.pathMismatch(collection: collection, path: path.description)
      }
    }
    return isComplete
  }
}
