import Bytes
import DocumentFormat
import LogStore
import Synchronization

/// Documents of one Swift type, found by id and by the fields that have an index.
///
/// Made by ``DocumentStore/collection(_:of:indexes:)``. Each call that changes something is a commit of its own, durable when
/// it returns; several become one inside ``DocumentStore/transaction(_:)``.
public struct DocumentCollection<Document: Codable & Identifiable & Sendable>: Sendable
where Document.ID: Codable & Sendable {
  public let store: DocumentStore
  let table: DocumentTable
  private let indexes: IndexCheck<Document>

  public var name: String { table.name }

  init(_ store: DocumentStore, _ table: DocumentTable, _ indexes: [Index<Document>]) {
    self.store = store
    self.table = table
    self.indexes = IndexCheck(indexes)
  }

  // MARK: Reading

  /// The document with this id; `nil` for none. Complexity: a lookup and the decoding.
  public func get(_ id: Document.ID) throws -> Document? { try get(id, in: store.snapshot()) }

  /// The document with this id as it was at a commit.
  public func get(_ id: Document.ID, in snapshot: DocumentSnapshot) throws -> Document? {
    let key = try DocumentTable.key(id)
    return try store.traced(.get, name) { trace in
      try snapshot.withDocument(table, key) { bytes in
        trace.documentsRead = 1
        return try decode(bytes, key.rawSpan)
      }
    }
  }

  /// Documents of the collection. Complexity: O(1).
  public func count() throws -> Int { try store.snapshot().count(table) }

  func decode(_ bytes: RawSpan, _ key: RawSpan) throws -> Document {
    do { return try DocumentDecoder().decode(Document.self, from: bytes) } catch {
      throw DocumentStoreError.document(collection: name, id: DocumentTable.text(ofKey: key), reason: error)
    }
  }

  // MARK: Writing

  /// Adds a document.
  ///
  /// - Throws: `DocumentStoreError.exists` if its id is taken.
  public func insert(_ document: Document) throws {
    try store.traced(.insert, name) { trace in
      try store.transaction { try $0.insert(document, into: self) }
      trace.documentsAffected = 1
    }
  }

  /// Adds a document, or replaces the one with its id; fields of that one that this program does not know stay.
  public func upsert(_ document: Document) throws {
    try store.traced(.upsert, name) { trace in
      try store.transaction { try $0.upsert(document, into: self) }
      trace.documentsAffected = 1
    }
  }

  /// Changes a document where it is; fields that this program does not know stay.
  ///
  /// - Returns: the changed document; `nil` if there is none with this id.
  /// - Throws: what `change` throws; `DocumentStoreError.idChanged`.
  @discardableResult
  public func update(_ id: Document.ID, _ change: (inout Document) throws -> Void) throws -> Document? {
    try store.traced(.update, name) { trace in
      let changed = try store.transaction { try $0.update(id, in: self, change) }
      trace.documentsRead = 1
      trace.documentsAffected = changed == nil ? 0 : 1
      return changed
    }
  }

  /// Deletes a document. Returns whether there was one.
  @discardableResult
  public func delete(_ id: Document.ID) throws -> Bool {
    try store.traced(.delete, name) { trace in
      let wasThere = try store.transaction { try $0.delete(id, from: self) }
      trace.documentsAffected = wasThere ? 1 : 0
      return wasThere
    }
  }

  /// Deletes all documents. Returns how many there were.
  @discardableResult
  public func deleteAll() throws -> Int {
    try store.traced(.deleteAll, name) { trace in
      trace.documentsAffected = try store.transaction { try $0.deleteAll(from: self) }
      return trace.documentsAffected
    }
  }

  /// Adds many documents in one commit, straight to the disk: memory does not grow with their number but for their ids.
  ///
  /// - Throws: `DocumentStoreError.exists` if an id is taken, or comes twice. Nothing was added then.
  public func insert(contentsOf documents: some Sequence<Document>) throws {
    try store.traced(.insert, name) { trace in
      trace.documentsAffected = try store.insert(documents, table) { try self.encode($0) }
    }
  }

  /// The bytes of a document and of its id.
  func encode(_ document: Document) throws -> (key: [UInt8], bytes: [UInt8]) {
    let key = try DocumentTable.key(document.id)
    let bytes = try DocumentEncoder().encode(document)
    try indexes.check(document, bytes, collection: name)
    return (key, bytes)
  }
}

extension DocumentStore {
  /// The collection of this name, with these indexes and no others.
  ///
  /// An index that is new gets the keys of the documents that are there, in one commit, and
  /// ``Options/onReindex`` is told how far that is; one that is no longer named costs nothing from now on.
  ///
  /// - Throws: `DocumentStoreError.name`, also for a name that begins with ``reservedPrefix``; `.path`; what a commit throws.
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

  /// Makes the indexes of a collection those that are wanted.
  func declare(_ wanted: [IndexDescription], _ table: DocumentTable) throws {
    let stored = try snapshot().description.collections[table.name]
    let present = stored?.indexes.compactMap(\.description) ?? []
    // In whatever order: two programs that name them differently do not write after each other.
    if present.count == wanted.count, wanted.allSatisfy(present.contains) { return }
    try commit { transaction in
      var description = transaction.description.collections[table.name] ?? CollectionDescription()
      let hasNew = try description.declare(wanted)
      transaction.description.collections[table.name] = description
      guard hasNew else { return }
      try traced(.reindex, table.name) { trace in
        try transaction.reindex(table) { done, total in
          trace.documentsAffected = done
          options.onReindex?(table.name, done, total)
        }
      }
    }
  }

  /// Adds documents in one commit, without keeping them in memory.
  ///
  /// - Returns: how many there were.
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

/// Which ids were seen, 16 bytes each: two hashes with secret seeds stand for an id.
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

  /// Whether the id is new.
  mutating func insert(_ key: [UInt8]) -> Bool {
    let span = key.rawSpan
    return seen.insert(Hashes(first: KeyHash.of(span, seeds.0), second: KeyHash.of(span, seeds.1))).inserted
  }
}

/// Sees to it that the declared paths of a type's indexes lead to the properties that they were declared by.
///
/// Property names and coding keys may differ, and then an index would find nothing. So each path is followed in the first
/// document that has a value there.
final class IndexCheck<Document>: Sendable {
  private let unchecked: Mutex<[Index<Document>]>

  init(_ indexes: [Index<Document>]) { unchecked = Mutex(indexes) }

  func check(_ document: Document, _ bytes: [UInt8], collection: String) throws {
    let left = unchecked.withLock { $0 }
    if left.isEmpty { return }
    var open: [Index<Document>] = []
    for index in left {
      guard let path = try? index.description.get().path, let value = index.value(document), value != .null else {
        open.append(index)
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
    unchecked.withLock { $0 = open }
  }
}
