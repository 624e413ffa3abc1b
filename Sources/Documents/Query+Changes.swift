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
  /// - Complexity: As ``results(in:)``, and a copy and a decoding of each document.
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
      try collection.store.rewrite(collection.table, request(), &trace) { key, old in
        let new = try edit.applied(to: old)
        if old.hasSameBytes(as: new.rawSpan) { return .keep }
        let newKey = try DocumentTable.key(collection.decode(new.rawSpan, key).id)
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
enum DocumentChange {
  case keep
  case delete
  case put([UInt8])
}

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
    let snapshot = try snapshot()
    // Create no file for a collection that does not exist.
    guard snapshot.index(of: table) != nil else {
      trace.note(request)
      return 0
    }
    if isDryRun {
      var count = 0
      try forEach(snapshot, table, request, &trace) { key, document in
        if case .keep = try change(key, document) { return }
        count += 1
      }
      trace.documentsAffected = count
      return count
    }
    let count = try append(table) { append in
      try forEach(append.base, table, request, &trace) { key, document in
        switch try change(key, document) {
        case .keep: break
        case .delete: try append.delete(key)
        case .put(let new): try append(key.copied(), new)
        }
      }
    }
    trace.documentsAffected = count
    return count
  }

  private func forEach(
    _ snapshot: DocumentSnapshot, _ table: DocumentTable, _ request: QueryRequest, _ trace: inout Trace,
    _ body: (_ key: RawSpan, _ document: RawSpan) throws -> Void
  ) throws {
    let rows = try QueryRun(snapshot, table, request).rows(&trace)
    guard let store = snapshot.store, let index = snapshot.index(of: table) else { return }
    for row in rows {
      guard let record = try store.record(row, table: index) else { continue }
      try body(record.key(0), record.body)
    }
  }
}
