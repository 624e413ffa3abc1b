import DocumentFormat
import LogStore

/// Queries that see the changes of the transaction.
extension DocumentTransaction {
  /// All documents that match the query, decoded, including changes in this transaction.
  ///
  /// A document that was changed in this transaction comes after those that were not, unless the query has an order.
  ///
  /// - Complexity: As ``Query/results(in:)``, and a test of each changed document.
  public func fetch<Document>(_ query: Query<Document>) throws -> [Document] {
    try found(by: query).map { try query.collection.decode($0.document.rawSpan, $0.key.rawSpan) }
  }

  /// The first document that matches the query, including changes in this transaction; `nil` if none does.
  public func first<Document>(_ query: Query<Document>) throws -> Document? {
    try fetch(query.limit(min(query.limit ?? 1, 1))).first
  }

  /// The number of documents that match the query, including changes in this transaction.
  ///
  /// - Complexity: As ``Query/count()``, and a test of each changed document.
  public func count<Document>(_ query: Query<Document>) throws -> Int {
    let collection = query.collection
    return try collection.store.traced(.count, collection.name) { trace in
      try run(query.request(), collection.table).count(&trace)
    }
  }

  /// The number of documents of a collection, including changes in this transaction.
  ///
  /// - Complexity: O(*n*) in the changes of this transaction.
  public func count<Document>(of collection: DocumentCollection<Document>) throws -> Int {
    try count(collection.table)
  }

  /// Deletes the documents that match the query, including changes in this transaction. Returns how many were deleted.
  ///
  /// The changes are kept in memory until the commit; ``Query/delete()`` writes them directly.
  @discardableResult
  public func delete<Document>(_ query: Query<Document>) throws -> Int {
    let found = try found(by: query)
    for document in found { _ = try delete(query.collection.table, document.key) }
    return found.count
  }

  /// Changes the documents that match the query, including changes in this transaction. Fields that this program does
  /// not know are preserved.
  ///
  /// The changes are kept in memory until the commit; ``Query/update(_:)`` writes them directly.
  ///
  /// - Returns: The number of documents that `change` left different.
  /// - Throws: Any error that `change` throws; `DocumentStoreError.idChanged`.
  @discardableResult
  public func update<Document>(_ query: Query<Document>, _ change: (inout Document) throws -> Void) throws -> Int {
    let collection = query.collection
    var count = 0
    for (key, old) in try found(by: query) {
      guard let new = try collection.changed(old.rawSpan, key.rawSpan, change).bytes else { continue }
      put(collection.table, key, new)
      count += 1
    }
    return count
  }

  /// The keys and bytes of the documents that match a query.
  private func found<Document>(by query: Query<Document>) throws -> [(key: [UInt8], document: [UInt8])] {
    let collection = query.collection
    return try collection.store.traced(.query, collection.name) { trace in
      let run = try run(query.request(), collection.table)
      return try run.documents(&trace).map { try run.content(of: $0) }
    }
  }
}
