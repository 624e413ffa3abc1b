public import DocumentFormat
import LogStore

/// Changes of all documents that match a query, in one commit that is written directly to the file.
extension Query {
  /// Deletes the matching documents in one commit.
  ///
  /// - Returns: The number of documents deleted. If it is 0, there is no commit.
  /// - Complexity: As ``results(in:)``. Memory for 8 bytes, and a few more in the commit, for each document.
  @discardableResult
  public func delete() throws -> Int {
    try collection.store.traced(.delete, collection.name) { trace in
      try collection.store.rewrite(collection.table, request(), &trace) { _, _ in .delete }
    }
  }

  /// Changes the matching documents in one commit. Fields that this program does not know are preserved.
  ///
  /// - Parameter change: Changes one document. It must not use the store.
  /// - Returns: The number of documents that `change` left different. If it is 0, there is no commit.
  /// - Throws: Any error that `change` throws, and `DocumentStoreError.idChanged`; nothing has changed then.
  /// - Complexity: As ``results(in:)``, and a decoding and two encodings for each document. Memory for 8 bytes, and a
  ///   few more in the commit, for each document.
  @discardableResult
  public func update(_ change: (inout Document) throws -> Void) throws -> Int {
    try collection.store.traced(.update, collection.name) { trace in
      try collection.store.rewrite(collection.table, request(), &trace) { key, old in
        try collection.changed(old, key, change).bytes.map { .put($0) } ?? .keep
      }
    }
  }

  /// Assigns values to fields of the matching documents in one commit: `update(set: [\.status.isOnline: false])`.
  ///
  /// All other bytes of a document are kept. A field of an optional that is `nil` is left alone, as in an assignment
  /// with `?`; an array on the way stands for each of its elements.
  ///
  /// - Parameter values: The new values; `nil` for null.
  /// - Returns: The number of documents that differ afterwards. If it is 0, there is no commit.
  /// - Throws: `DocumentStoreError.path` for a key path that has no field path; `.idChanged`; `.document` if a document
  ///   could no longer be decoded, for example because a value has another type than its property. Nothing has changed
  ///   then.
  /// - Complexity: As ``results(in:)``, and a copy and a decoding of each document. Decoding many documents takes
  ///   several threads.
  @discardableResult
  public func update(set values: [PartialKeyPath<Document>: (any QueryValue)?]) throws -> Int {
    var assignments: [(path: FieldPath, value: DocumentValue)] = []
    for (keyPath, value) in values {
      do { assignments.append((try FieldPath(keyPath), value?.documentValue ?? .null)) } catch {
        throw DocumentStoreError.path(error)
      }
    }
    let edit = DocumentEdit(assignments, createsObjects: false)
    return try collection.store.traced(.update, collection.name) { trace in
      try collection.store.rewriteByThreads(collection.table, request(), &trace) { key, old in
        let new = try edit.applied(to: old)
        if old.hasSameBytes(as: new.rawSpan) { return .keep }
        let newKey = try DocumentTable.key(collection.decode(new, key).id)
        guard key.hasSameBytes(as: newKey.rawSpan) else {
          throw DocumentStoreError.idChanged(
            collection: collection.name, from: DocumentTable.text(ofKey: key), to: DocumentTable.text(ofKey: newKey))
        }
        return .put(new)
      }
    }
  }
}

/// What to do with a document.
enum DocumentChange: Sendable {
  case keep
  case delete
  case put([UInt8])
}

/// What to do with the document of a row, which has this key.
private typealias RowChange = (row: RowID, key: [UInt8], change: DocumentChange)

extension DocumentStore {
  /// Changes each document that a query finds, in one commit.
  ///
  /// - Parameters:
  ///   - isDryRun: Whether to write nothing and take no lock.
  ///   - change: Decides what to do with a document, from its key and its bytes.
  /// - Returns: The number of documents that were deleted or written.
  func rewrite(
    _ table: DocumentTable, _ request: QueryRequest, _ trace: inout Trace, isDryRun: Bool = false,
    _ change: (_ key: RawSpan, _ document: RawSpan) throws -> DocumentChange
  ) throws -> Int {
    try rewriteBatches(table, request, &trace, isDryRun: isDryRun) { rows, store, index in
      try Self.changes(of: rows, in: store, index, change)
    }
  }

  /// Changes each document that a query finds, in one commit. Several threads decide what to do with many documents.
  ///
  /// - Parameter change: As above. The error that it throws for the first document, in file order, is thrown.
  func rewriteByThreads(
    _ table: DocumentTable, _ request: QueryRequest, _ trace: inout Trace,
    _ change: @Sendable (_ key: RawSpan, _ document: RawSpan) throws -> DocumentChange
  ) throws -> Int {
    try rewriteBatches(table, request, &trace, isDryRun: false) { rows, store, index in
      try Threads.map(rows, atLeast: Threads.batchCount / 16) { part in
        Result { try Self.changes(of: part, in: store, index, change) }
      }.flatMap { try $0.get() }
    }
  }

  private static func changes(
    of rows: ArraySlice<RowID>, in store: Snapshot, _ index: Int,
    _ change: (_ key: RawSpan, _ document: RawSpan) throws -> DocumentChange
  ) throws -> [RowChange] {
    var changes: [RowChange] = []
    changes.reserveCapacity(rows.count)
    for row in rows {
      let scope = ScratchScope(store)
      defer { scope.end() }
      guard let record = try store.record(row, table: index) else { continue }
      let change = try change(record.key(0), record.body)
      if case .keep = change { continue }
      changes.append((row, record.key(0).copied(), change))
    }
    return changes
  }

  /// Changes each document that a query finds, in one commit.
  ///
  /// - Parameter decide: Returns the changes of a batch of rows of a snapshot's table. They are kept in memory until
  ///   they are written.
  private func rewriteBatches(
    _ table: DocumentTable, _ request: QueryRequest, _ trace: inout Trace, isDryRun: Bool,
    _ decide: (ArraySlice<RowID>, Snapshot, Int) throws -> [RowChange]
  ) throws -> Int {
    let snapshot = try snapshot()
    // Create no file for a collection that does not exist.
    guard snapshot.index(of: table) != nil else {
      trace.record(request)
      return 0
    }
    var count = 0
    if isDryRun {
      try forEachBatch(snapshot, table, request, &trace, decide) { count += $0.count }
    } else {
      count = try append(table) { append in
        try forEachBatch(append.base, table, request, &trace, decide) { changes in
          for (row, key, change) in changes {
            switch change {
            case .keep: break
            case .delete: try append.delete(key.rawSpan)
            case .put(let new): try append.replace(row, key, new)
            }
          }
        }
      }
    }
    trace.documentsAffected = count
    return count
  }

  private func forEachBatch(
    _ snapshot: DocumentSnapshot, _ table: DocumentTable, _ request: QueryRequest, _ trace: inout Trace,
    _ decide: (ArraySlice<RowID>, Snapshot, Int) throws -> [RowChange], _ body: ([RowChange]) throws -> Void
  ) throws {
    let rows = try QueryRun(snapshot, table, request).rows(&trace)
    guard let store = snapshot.store, let index = snapshot.index(of: table) else { return }
    for first in stride(from: 0, to: rows.count, by: Threads.batchCount) {
      try body(decide(rows[first..<min(first + Threads.batchCount, rows.count)], store, index))
    }
  }
}
