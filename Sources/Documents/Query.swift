import Bytes
public import DocumentFormat
import LogStore

/// A question to a collection: which documents, in which order, and how many of them.
///
///     let names = try members.query(\.user.status.isOnline == true && .hasPrefix(\.user.name, "A"))
///       .order(by: \.user.name).limit(20).results()
///
/// Asking is cheap, and nothing is read before one of the calls that answer. Each answers for one commit.
public struct Query<Document: Codable & Identifiable & Sendable>: Sendable
where Document.ID: Codable & Sendable {
  let collection: DocumentCollection<Document>
  private let filter: Where<Document>
  private var ordering: Result<Ordering, FieldPathError> = .success(Ordering([]))
  private var offset = 0
  private var limit: Int?

  init(_ collection: DocumentCollection<Document>, _ filter: Where<Document>) {
    self.collection = collection
    self.filter = filter
  }

  /// The documents ordered by one more property: the first one named decides, the next ones where it is equal.
  public func order(by keyPath: PartialKeyPath<Document>, descending: Bool = false) -> Query {
    var query = self
    query.ordering = ordering.flatMap { ordering in
      Result { () throws(FieldPathError) in try ordering.then(keyPath, isDescending: descending) }
    }
    return query
  }

  /// No more than `count` documents.
  public func limit(_ count: Int) -> Query {
    precondition(count >= 0, "a limit is not negative")
    var query = self
    query.limit = count
    return query
  }

  /// Without the first `count` documents.
  public func offset(_ count: Int) -> Query {
    precondition(count >= 0, "an offset is not negative")
    var query = self
    query.offset = count
    return query
  }

  private func run(_ snapshot: DocumentSnapshot?) throws -> QueryRun {
    var request = QueryRequest()
    do {
      request.condition = try filter.condition()
      request.ordering = try ordering.get()
    } catch { throw DocumentStoreError.path(error) }
    request.offset = offset
    request.limit = limit
    return try QueryRun(snapshot ?? collection.store.snapshot(), collection.table, request)
  }

  /// The documents, decoded one by one when they are asked for; all from one commit, whatever is written meanwhile.
  ///
  /// - Parameter snapshot: the commit to ask; the last one without it.
  /// - Complexity: an index for each part of the condition that has one; else a look at every document.
  public func results(in snapshot: DocumentSnapshot? = nil) throws -> QueryResults<Document> {
    let run = try run(snapshot)
    return try collection.store.traced(.query, collection.name) { trace in
      QueryResults(collection, run.snapshot, try run.rows(&trace))
    }
  }

  /// All documents, decoded.
  public func fetch() throws -> [Document] { try results().documents() }

  /// The first document; `nil` for none.
  public func first() throws -> Document? { try limit(min(limit ?? 1, 1)).results().first?.get() }

  /// How many documents there are, within ``limit(_:)`` and ``offset(_:)``. Decodes none.
  public func count() throws -> Int {
    let run = try run(nil)
    return try collection.store.traced(.count, collection.name) { try run.count(&$0) }
  }

  /// The different values that a property has in these documents, in the order in which they come.
  public func distinct<Value: Hashable>(_ keyPath: KeyPath<Document, Value>) throws -> [Value] {
    var seen: Set<Value> = []
    var values: [Value] = []
    for document in try results() {
      let value = try document.get()[keyPath: keyPath]
      if seen.insert(value).inserted { values.append(value) }
    }
    return values
  }

  /// How the documents would be found: through which index, or by reading all.
  public func explain() throws -> QueryPlan { try run(nil).plan }
}

/// The documents that a query found, of one commit. A document is decoded when it is reached, and may fail to be.
public struct QueryResults<Document: Codable & Identifiable & Sendable>: RandomAccessCollection, Sendable
where Document.ID: Codable & Sendable {
  private let collection: DocumentCollection<Document>
  /// The commit that was asked.
  public let snapshot: DocumentSnapshot
  private let rows: [RowID]

  init(_ collection: DocumentCollection<Document>, _ snapshot: DocumentSnapshot, _ rows: [RowID]) {
    self.collection = collection
    self.snapshot = snapshot
    self.rows = rows
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { rows.count }

  /// The document at `position`, or why it cannot be read.
  public subscript(position: Int) -> Result<Document, any Error> {
    Result {
      guard let store = snapshot.store, let table = snapshot.index(of: collection.table) else {
        preconditionFailure("a snapshot with rows has the table")
      }
      return try document(rows[position], in: store, table)
    }
  }

  /// All of them: the table is looked up once, and no document is moved through a result.
  func documents() throws -> [Document] {
    guard let store = snapshot.store, let table = snapshot.index(of: collection.table) else { return [] }
    var documents: [Document] = []
    documents.reserveCapacity(rows.count)
    for row in rows { documents.append(try document(row, in: store, table)) }
    return documents
  }

  private func document(_ row: RowID, in store: Snapshot, _ table: Int) throws -> Document {
    guard let record = try store.record(row, table: table) else {
      preconditionFailure("a row of a snapshot stays what it was")
    }
    return try collection.decode(record.body, record.key(0))
  }
}

extension DocumentCollection {
  /// Asks for the documents that meet `filter`; see ``Query``.
  public func query(_ filter: Where<Document> = Where(.always)) -> Query<Document> { Query(self, filter) }
}
