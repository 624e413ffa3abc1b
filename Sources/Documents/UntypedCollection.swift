public import DocumentFormat
import LogStore
import RecordFormat

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
    let key: [UInt8]
    switch document["id"] {
    case .text, .integer, .unsigned, .double: key = document["id"]?.documentBytes ?? []
    default: throw DocumentStoreError.noID(collection: name)
    }
    try store.traced(.upsert, name) { trace in
      try store.transaction { $0.put(table, key, document.documentBytes) }
      trace.documentsAffected = 1
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

  /// Shows `body` the documents that meet a condition, in order.
  ///
  /// - Returns: how they were found.
  @discardableResult
  public func query(
    _ condition: Condition = .always, ordering: Ordering = Ordering([]), offset: Int = 0, limit: Int? = nil,
    _ body: (DocumentValue) throws -> Void
  ) throws -> QueryPlan {
    precondition(offset >= 0 && limit ?? 0 >= 0, "an offset and a limit are not negative")
    let request = QueryRequest(condition: condition, ordering: ordering, offset: offset, limit: limit)
    let run = try QueryRun(store.snapshot(), table, request)
    let places = try store.traced(.query, name) { try run.places(&$0) }
    guard let store = run.snapshot.store, let index = run.snapshot.index(of: table) else { return run.plan }
    for place in places {
      guard let record = try store.record(at: place, table: index) else { continue }
      try body(try decode(record.body, record.key(0)))
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

extension DocumentStore {
  /// The collection of this name, as it is.
  ///
  /// - Throws: `DocumentStoreError.name`.
  public func untypedCollection(_ name: String) throws -> UntypedCollection {
    UntypedCollection(store: self, table: try DocumentTable(name))
  }
}
