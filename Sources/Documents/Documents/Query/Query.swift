import Bytes
public import DocumentFormat
import LogStore

/// A query: a filter, an order, an offset and a limit for the documents of a collection.
///
///     let names = try members.query(\.user.status.isOnline == true && .hasPrefix(\.user.name, "A"))
///       .order(by: \.user.name).limit(20).results()
///
/// Building a query is cheap; it reads nothing. Each method that returns results reads from one commit.
public struct Query<Document: Codable & Identifiable & Sendable>: Sendable
where Document.ID: Codable & Sendable {
  let collection: DocumentCollection<Document>
  private let filter: Where<Document>
  private var ordering: Result<Ordering, FieldPathError> = .success(Ordering([]))
  private var offset = 0
  private(set) var limit: Int?

  init(_ collection: DocumentCollection<Document>, _ filter: Where<Document>) {
    self.collection = collection
    self.filter = filter
  }

  /// Adds a sort key. Later sort keys decide between documents for which the earlier ones are equal.
  public func order(by keyPath: PartialKeyPath<Document>, descending: Bool = false) -> Query {
    var query = self
    query.ordering = ordering.flatMap { ordering in
      Result { () throws(FieldPathError) in try ordering.then(keyPath, isDescending: descending) }
    }
    return query
  }

  /// Limits the results to `count` documents.
  public func limit(_ count: Int) -> Query {
    precondition(count >= 0, "a limit is not negative")
    var query = self
    query.limit = count
    return query
  }

  /// Skips the first `count` documents.
  public func offset(_ count: Int) -> Query {
    precondition(count >= 0, "an offset is not negative")
    var query = self
    query.offset = count
    return query
  }

  /// The parts of the query.
  ///
  /// - Throws: `DocumentStoreError.path`.
  func request() throws -> QueryRequest {
    var request = QueryRequest()
    do {
      request.condition = try filter.condition()
      request.ordering = try ordering.get()
    } catch { throw DocumentStoreError.path(error) }
    request.offset = offset
    request.limit = limit
    return request
  }

  func run(_ snapshot: DocumentSnapshot?) throws -> QueryRun {
    try QueryRun(snapshot ?? collection.store.snapshot(), collection.table, request())
  }

  /// The matching documents, decoded lazily. All come from one commit, even if the store is written meanwhile.
  ///
  /// - Parameter snapshot: The commit to read; `nil` for the last one.
  /// - Complexity: Index lookups for the parts of the condition that have an index; without an index, a scan of all
  ///   documents. With an ordered index of the order, no more documents are read than are found. Up to four threads
  ///   scan a collection of 100,000 documents or more, unless the query has an order or a limit.
  public func results(in snapshot: DocumentSnapshot? = nil) throws -> QueryResults<Document> {
    let run = try run(snapshot)
    return try collection.store.traced(.query, collection.name) { trace in
      QueryResults(collection, run.snapshot, try run.rows(&trace))
    }
  }

  /// All matching documents, decoded.
  public func fetch() throws -> [Document] { try results().documents() }

  /// The first matching document; `nil` if no document matches.
  public func first() throws -> Document? { try limit(min(limit ?? 1, 1)).results().first?.get() }

  /// The number of matching documents, after ``offset(_:)`` and ``limit(_:)``. Decodes none of them.
  public func count() throws -> Int {
    let run = try run(nil)
    return try collection.store.traced(.count, collection.name) { try run.count(&$0) }
  }

  /// The distinct values of a property in the matching documents, in the order of their first occurrence.
  ///
  /// - Complexity: Decodes every matching document. The variants for values that conditions can compare do not.
  public func distinct<Value: Hashable>(_ keyPath: KeyPath<Document, Value>) throws -> [Value] {
    try distinctInOrder(keyPath)
  }

  /// Whether the query has an order, an offset or a limit.
  var isOrdered: Bool {
    let isSorted = if case .success(let ordering) = ordering { !ordering.terms.isEmpty } else { true }
    return isSorted || offset > 0 || limit != nil
  }

  func distinctInOrder<Value: Hashable>(_ keyPath: KeyPath<Document, Value>) throws -> [Value] {
    var seen: Set<Value> = []
    var values: [Value] = []
    for document in try results() {
      let value = try document.get()[keyPath: keyPath]
      if seen.insert(value).inserted { values.append(value) }
    }
    return values
  }

  /// The query plan: the indexes that would be used, or a scan.
  public func explain() throws -> QueryPlan { try run(nil).plan }

  /// The steps of the query in plain words.
  public func explanation() throws -> QueryExplanation { try run(nil).explanation }
}

/// The results of a query at one commit. A document is decoded when it is accessed, which may fail.
public struct QueryResults<Document: Codable & Identifiable & Sendable>: RandomAccessCollection, Sendable
where Document.ID: Codable & Sendable {
  private let collection: DocumentCollection<Document>
  /// The snapshot that was read.
  public let snapshot: DocumentSnapshot
  private let rows: [RowID]

  /// The number of documents that are prefetched ahead: decoding one takes longer than its cache misses.
  private static var prefetchDistance: Int { 2 }

  init(_ collection: DocumentCollection<Document>, _ snapshot: DocumentSnapshot, _ rows: [RowID]) {
    self.collection = collection
    self.snapshot = snapshot
    self.rows = rows
  }

  /// The index of the first result: always 0.
  public var startIndex: Int { 0 }
  /// The number of results.
  public var endIndex: Int { rows.count }

  /// The document at `position`, or the error that prevents it from being read.
  public subscript(position: Int) -> Result<Document, any Error> {
    Result {
      guard let store = snapshot.store, let table = snapshot.index(of: collection.table) else {
        preconditionFailure("a snapshot with rows has the table")
      }
      return try document(rows[position], in: store, table)
    }
  }

  /// All documents, decoded. Looks up the table once and avoids a `Result` for each document.
  func documents() throws -> [Document] {
    guard let store = snapshot.store, let table = snapshot.index(of: collection.table) else { return [] }
    var documents: [Document] = []
    documents.reserveCapacity(rows.count)
    for (position, row) in rows.enumerated() {
      let next = position + Self.prefetchDistance
      if next < rows.count { store.prefetch(rows[next]) }
      documents.append(try document(row, in: store, table))
    }
    return documents
  }

  private func document(_ row: RowID, in store: Snapshot, _ table: Int) throws -> Document {
    let scope = ScratchScope(store)
    defer { scope.end() }
    guard let record = try store.record(row, table: table) else {
      preconditionFailure("a row of a snapshot stays what it was")
    }
    return try collection.decode(record.body, record.key(0))
  }
}

extension DocumentCollection {
  /// Creates a query for the documents that match `filter`; see ``Query``.
  public func query(_ filter: Where<Document> = Where(.always)) -> Query<Document> { Query(self, filter) }
}
