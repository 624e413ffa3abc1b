import Bytes
public import DocumentFormat
import LogStore

/// A collection for programs that do not know the Swift type of its documents. It has the same documents, indexes and
/// queries; fields are addressed by path.
public struct UntypedCollection: Sendable {
  /// The store that contains the collection.
  public let store: DocumentStore
  let table: DocumentTable

  /// The name that the collection was opened with.
  public var name: String { table.name }

  /// The number of documents in the collection.
  public func count() throws -> Int { try store.snapshot().count(table) }

  /// The declared indexes.
  public func indexes() throws -> [IndexDescription] {
    try store.snapshot().indexes(of: table).map(\.description)
  }

  /// The document with this ID; `nil` if it does not exist.
  public func get(_ id: DocumentValue) throws -> DocumentValue? {
    let key = id.documentBytes
    return try store.snapshot().withDocument(table, key) { try decode($0, key.rawSpan) }
  }

  /// Adds a document, or replaces the one with the ID in its field `id`.
  ///
  /// - Throws: `DocumentStoreError.noID`.
  public func put(_ document: DocumentValue) throws {
    let new = try encode(document)
    try store.traced(.upsert, name) { trace in
      try store.transaction { $0.put(table, new.key, new.bytes) }
      trace.documentsAffected = 1
    }
  }

  /// Encodes a document for ``put(contentsOf:)``.
  ///
  /// - Throws: `DocumentStoreError.noID`.
  public func encode(_ document: DocumentValue) throws -> EncodedDocument {
    try Self.encode(document, for: name)
  }

  /// Encodes a document for a collection that need not be open.
  public static func encode(_ document: DocumentValue, for name: String) throws -> EncodedDocument {
    switch document["id"] {
    case .text, .integer, .unsigned, .double:
      EncodedDocument(key: document["id"]?.documentBytes ?? [], bytes: document.documentBytes)
    default: throw DocumentStoreError.noID(collection: name)
    }
  }

  /// Adds documents, or replaces those with their IDs, in one commit. If an ID occurs more than once, the last document
  /// wins.
  ///
  /// - Returns: The number of documents written.
  @discardableResult
  public func put(contentsOf documents: some Sequence<EncodedDocument>) throws -> Int {
    try store.traced(.upsert, name) { trace in
      trace.documentsAffected = try store.append(table) { append in
        for document in documents { try append(document.key, document.bytes) }
      }
      return trace.documentsAffected
    }
  }

  /// Deletes a document. Returns whether it existed.
  @discardableResult
  public func delete(_ id: DocumentValue) throws -> Bool {
    try store.traced(.delete, name) { trace in
      let wasThere = try store.transaction { try $0.delete(table, id.documentBytes) }
      trace.documentsAffected = wasThere ? 1 : 0
      return wasThere
    }
  }

  /// Declares exactly these indexes for the collection.
  public func declare(_ indexes: [IndexDescription]) throws { try store.declare(indexes, table) }

  /// Calls `body` with the ID and content of each document that matches a condition, in order.
  ///
  /// - Returns: The query plan that was used.
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

  /// The query plan for a condition.
  public func explain(_ condition: Condition) throws -> QueryPlan {
    try QueryRun(store.snapshot(), table, QueryRequest(condition: condition)).plan
  }

  private func decode(_ bytes: RawSpan, _ key: RawSpan) throws -> DocumentValue {
    do { return try DocumentValue(documentBytes: bytes) } catch {
      throw DocumentStoreError.document(collection: name, id: DocumentTable.text(ofKey: key), reason: error)
    }
  }
}

/// An encoded document and its ID.
public struct EncodedDocument: Sendable {
  let key: [UInt8]
  let bytes: [UInt8]
}

extension DocumentStore {
  /// Opens the collection with this name, with its declared indexes.
  ///
  /// - Throws: `DocumentStoreError.name`, also if the name begins with ``reservedPrefix``; `.closed`.
  public func untypedCollection(_ name: String) throws -> UntypedCollection {
    try checkOpen()
    if name.hasPrefix(Self.reservedPrefix) { throw DocumentStoreError.name(name) }
    return UntypedCollection(store: self, table: try DocumentTable(name))
  }
}
