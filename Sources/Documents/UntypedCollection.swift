import Bytes
public import DocumentFormat
import LogStore

/// A collection for programs that do not know the Swift type of its documents: the same documents, indexes and queries, with
/// fields by path.
public struct UntypedCollection: Sendable {
  public let store: DocumentStore
  let table: DocumentTable

  public var name: String { table.name }

  /// Documents of the collection.
  public func count() throws -> Int { try store.snapshot().count(table) }

  /// The indexes that were declared.
  public func indexes() throws -> [IndexDescription] {
    try store.snapshot().indexes(of: table).map(\.description)
  }

  /// The document with this id; `nil` for none.
  public func get(_ id: DocumentValue) throws -> DocumentValue? {
    let key = id.documentBytes
    return try store.snapshot().withDocument(table, key) { try decode($0, key.rawSpan) }
  }

  /// Adds a document, or replaces the one whose id its field `id` has.
  ///
  /// - Throws: `DocumentStoreError.noID`.
  public func put(_ document: DocumentValue) throws {
    let new = try encode(document)
    try store.traced(.upsert, name) { trace in
      try store.transaction { $0.put(table, new.key, new.bytes) }
      trace.documentsAffected = 1
    }
  }

  /// The bytes of a document, for ``put(contentsOf:)``.
  ///
  /// - Throws: `DocumentStoreError.noID`.
  public func encode(_ document: DocumentValue) throws -> EncodedDocument {
    try Self.encode(document, for: name)
  }

  /// The same, for a collection that need not be open.
  public static func encode(_ document: DocumentValue, for name: String) throws -> EncodedDocument {
    switch document["id"] {
    case .text, .integer, .unsigned, .double:
      EncodedDocument(key: document["id"]?.documentBytes ?? [], bytes: document.documentBytes)
    default: throw DocumentStoreError.noID(collection: name)
    }
  }

  /// Adds documents, or replaces those with their ids, all in one commit. Of several with one id the last counts.
  ///
  /// - Returns: how many there were.
  @discardableResult
  public func put(contentsOf documents: some Sequence<EncodedDocument>) throws -> Int {
    try store.traced(.upsert, name) { trace in
      trace.documentsAffected = try store.append(table) { append in
        for document in documents { try append(document.key, document.bytes) }
      }
      return trace.documentsAffected
    }
  }

  /// Deletes a document. Returns whether there was one.
  @discardableResult
  public func delete(_ id: DocumentValue) throws -> Bool {
    try store.traced(.delete, name) { trace in
      let wasThere = try store.transaction { try $0.delete(table, id.documentBytes) }
      trace.documentsAffected = wasThere ? 1 : 0
      return wasThere
    }
  }

  /// Makes the indexes of the collection these.
  public func declare(_ indexes: [IndexDescription]) throws { try store.declare(indexes, table) }

  /// Shows `body` the documents that meet a condition, in order, each with its id.
  ///
  /// - Returns: how they were found.
  @discardableResult
  public func query(
    _ condition: Condition = .always, ordering: Ordering = Ordering([]), offset: Int = 0, limit: Int? = nil,
    _ body: (_ id: DocumentValue, _ document: DocumentValue) throws -> Void
  ) throws -> QueryPlan {
    precondition(offset >= 0 && limit ?? 0 >= 0, "an offset and a limit are not negative")
    let request = QueryRequest(condition: condition, ordering: ordering, offset: offset, limit: limit)
    let run = try QueryRun(store.snapshot(), table, request)
    let rows = try store.traced(.query, name) { try run.rows(&$0) }
    guard let store = run.snapshot.store, let index = run.snapshot.index(of: table) else { return run.plan }
    for row in rows {
      guard let record = try store.record(row, table: index) else { continue }
      try body(try decode(record.key(0), record.key(0)), try decode(record.body, record.key(0)))
    }
    return run.plan
  }

  /// How a condition's documents would be found.
  public func explain(_ condition: Condition) throws -> QueryPlan {
    try QueryRun(store.snapshot(), table, QueryRequest(condition: condition)).plan
  }

  private func decode(_ bytes: RawSpan, _ key: RawSpan) throws -> DocumentValue {
    do { return try DocumentValue(documentBytes: bytes) } catch {
      throw DocumentStoreError.document(collection: name, id: DocumentTable.text(ofKey: key), reason: error)
    }
  }
}

/// A document as it is stored.
public struct EncodedDocument: Sendable {
  let key: [UInt8]
  let bytes: [UInt8]
}

extension DocumentStore {
  /// The collection of this name, as it is.
  ///
  /// - Throws: `DocumentStoreError.name`, also for a name that begins with ``reservedPrefix``; `.closed`.
  public func untypedCollection(_ name: String) throws -> UntypedCollection {
    try checkOpen()
    if name.hasPrefix(Self.reservedPrefix) { throw DocumentStoreError.name(name) }
    return UntypedCollection(store: self, table: try DocumentTable(name))
  }
}
