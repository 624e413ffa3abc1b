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
  /// - Throws: `DocumentStoreError.noID`, `.idRounded`, `.idTooLong`.
  public func put(_ document: DocumentValue) throws {
    let new = try encode(document)
    try store.traced(.upsert, name) { trace in
      try store.transaction { $0.put(table, new.key, new.bytes) }
      trace.documentsAffected = 1
    }
  }

  /// Encodes a document for ``put(contentsOf:)``.
  ///
  /// - Throws: `DocumentStoreError.noID`, `.idRounded`, `.idTooLong`.
  public func encode(_ document: DocumentValue) throws -> EncodedDocument {
    try Self.encode(document, for: name)
  }

  /// Encodes a document for a collection that need not be open.
  ///
  /// - Throws: `DocumentStoreError.noID`, `.idRounded`, `.idTooLong`.
  public static func encode(_ document: DocumentValue, for name: String) throws -> EncodedDocument {
    switch document["id"] {
    // Beyond 64 bits JSON's integers are rounded, so different ids would become one.
    case .double(let id) where abs(id) >= 0x1p63: throw DocumentStoreError.idRounded(collection: name, id: "\(id)")
    case .text, .integer, .unsigned, .double:
      let key = document["id"]?.documentBytes ?? []
      guard key.count <= Schema.maximumKeyLength else {
        throw DocumentStoreError.idTooLong(collection: name, byteCount: key.count, limit: Schema.maximumKeyLength)
      }
      return EncodedDocument(key: key, bytes: document.documentBytes)
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

  /// Deletes the documents that match a condition, in one commit.
  ///
  /// - Parameters:
  ///   - condition: The condition.
  ///   - isDryRun: Whether to count them only.
  /// - Returns: The number of documents.
  @discardableResult
  public func delete(where condition: Condition, isDryRun: Bool = false) throws -> Int {
    try store.traced(.delete, name) { trace in
      try store.rewrite(table, QueryRequest(condition: condition), &trace, isDryRun: isDryRun) { _, _ in .delete }
    }
  }

  /// Assigns values to fields of the documents that match a condition, in one commit.
  ///
  /// - Parameters:
  ///   - edit: The fields and their new values.
  ///   - condition: The condition.
  ///   - isDryRun: Whether to count only the documents that would differ.
  /// - Returns: The number of documents that differ afterwards.
  /// - Throws: `DocumentStoreError.idAssigned`; `.document` with a `DocumentEditError`. Nothing has changed then.
  @discardableResult
  public func update(_ edit: DocumentEdit, where condition: Condition, isDryRun: Bool = false) throws -> Int {
    guard edit.paths.allSatisfy({ $0.names[0] != "id" }) else { throw DocumentStoreError.idAssigned(collection: name) }
    return try store.traced(.update, name) { trace in
      try store.rewrite(table, QueryRequest(condition: condition), &trace, isDryRun: isDryRun) { key, old in
        do {
          let new = try edit.applied(to: old)
          return old.hasSameBytes(as: new.rawSpan) ? .keep : .put(new)
        } catch {
          throw DocumentStoreError.document(collection: name, id: DocumentTable.text(ofKey: key), reason: error)
        }
      }
    }
  }

  /// Deletes all documents. Returns how many were deleted.
  @discardableResult
  public func deleteAll() throws -> Int {
    try store.traced(.deleteAll, name) { trace in
      trace.documentsAffected = try store.transaction { try $0.deleteAll(table) }
      return trace.documentsAffected
    }
  }

  /// The number of documents that match a condition.
  public func count(_ condition: Condition) throws -> Int {
    try store.traced(.count, name) { trace in
      try QueryRun(store.snapshot(), table, QueryRequest(condition: condition)).count(&trace)
    }
  }

  /// The groups of the documents that match a condition; see ``GroupedQuery``.
  ///
  /// - Parameters:
  ///   - paths: The fields to group by; empty for one group of all documents.
  ///   - aggregates: What to compute for each group.
  ///   - condition: The condition.
  ///   - ordering: The order of the groups. Those that are equal in it, or all without one, are in ascending order of
  ///     their keys.
  ///   - offset: The number of groups to skip.
  ///   - limit: The maximum number of groups; `nil` for all.
  public func groups(
    by paths: [FieldPath], _ aggregates: [Aggregate], where condition: Condition = .always,
    ordering: [(order: GroupOrder, isDescending: Bool)] = [], offset: Int = 0, limit: Int? = nil
  ) throws -> [DocumentGroup] {
    precondition(offset >= 0 && limit ?? 0 >= 0, "an offset and a limit are not negative")
    let request = GroupRequest(
      paths: paths, aggregates: aggregates, ordering: ordering, offset: offset, limit: limit)
    return try store.traced(.group, name) { trace in
      trace.grouping = (paths, aggregates)
      return try QueryRun(store.snapshot(), table, QueryRequest(condition: condition)).groups(request, &trace)
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
    try visit(try store.traced(.query, name) { try run.rows(&$0) }, of: run, body)
    return run.plan
  }

  /// Calls `body` with the ID and content of each document of a page of those that match a condition, in order.
  /// Documents that are equal in the order are in the order of their encoded IDs.
  ///
  /// - Parameters:
  ///   - condition: The condition.
  ///   - ordering: The order.
  ///   - limit: The maximum number of documents of the page; `nil` for all.
  ///   - cursor: The position after which the page begins, which the call for the page before it returned; `nil` for the
  ///     first page.
  ///   - body: The function to call with the ID and content of each document.
  /// - Returns: The position after the last document; `nil` if there is no further document now.
  /// - Throws: `DocumentStoreError.cursor` if the cursor belongs to another order.
  public func page(
    _ condition: Condition = .always, ordering: Ordering = Ordering([]), limit: Int? = nil,
    after cursor: QueryCursor? = nil, _ body: (_ id: DocumentValue, _ document: DocumentValue) throws -> Void
  ) throws -> QueryCursor? {
    precondition(limit ?? 0 >= 0, "a limit is not negative")
    let request = QueryRequest(condition: condition, ordering: ordering, limit: limit, isPaged: true, after: cursor)
    let run = try QueryRun(store.snapshot(), table, request)
    let page = try store.traced(.query, name) { try run.page(&$0) }
    try visit(page.rows, of: run, body)
    return page.next
  }

  private func visit(
    _ rows: [RowID], of run: QueryRun, _ body: (_ id: DocumentValue, _ document: DocumentValue) throws -> Void
  ) throws {
    guard let store = run.snapshot.store, let index = run.snapshot.index(of: table) else { return }
    for row in rows {
      let scope = ScratchScope(store)
      defer { scope.end() }
      guard let record = try store.record(row, table: index) else { continue }
      try body(try decode(record.key(0), record.key(0)), try decode(record.body, record.key(0)))
    }
  }

  /// The query plan for a condition.
  public func explain(_ condition: Condition) throws -> QueryPlan {
    try QueryRun(store.snapshot(), table, QueryRequest(condition: condition)).plan
  }

  /// The steps of a query in plain words.
  public func explanation(
    _ condition: Condition = .always, ordering: Ordering = Ordering([]), offset: Int = 0, limit: Int? = nil
  ) throws -> QueryExplanation {
    let request = QueryRequest(condition: condition, ordering: ordering, offset: offset, limit: limit)
    return try QueryRun(store.snapshot(), table, request).explanation
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
