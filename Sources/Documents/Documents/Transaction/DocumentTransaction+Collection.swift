import DocumentFormat

extension DocumentTransaction {
  /// The document with this ID, including changes in this transaction; `nil` if it does not exist.
  public func get<Document>(_ id: Document.ID, from collection: DocumentCollection<Document>) throws -> Document? {
    let key = try DocumentTable.key(id)
    return try document(collection.table, key).map { try collection.decode($0.rawSpan, key.rawSpan) }
  }

  /// Adds a document.
  ///
  /// - Throws: `DocumentStoreError.exists` if a document already has its ID.
  public func insert<Document>(_ new: Document, into collection: DocumentCollection<Document>) throws {
    let (key, bytes) = try collection.encode(new)
    if try document(collection.table, key) != nil {
      throw DocumentStoreError.exists(collection: collection.name, id: DocumentTable.text(ofKey: key))
    }
    put(collection.table, key, bytes)
  }

  /// Adds a document, or replaces the one with its ID. Fields of the old document that this program does not know are
  /// preserved. If this program cannot decode the old document, it is replaced completely.
  public func upsert<Document>(_ new: Document, into collection: DocumentCollection<Document>) throws {
    let (key, bytes) = try collection.encode(new)
    var merged = bytes
    if let old = try document(collection.table, key), let decoded = try? collection.decode(old.rawSpan, key.rawSpan) {
      merged = try DocumentMerge.keepingUnknownFields(
        old: old, oldAsKnown: DocumentEncoder().encode(decoded), new: bytes)
    }
    put(collection.table, key, merged)
  }

  /// Changes a document. Fields that this program does not know are preserved. If `change` leaves it equal, it is not
  /// written.
  ///
  /// - Returns: The changed document; `nil` if no document has this ID.
  @discardableResult
  public func update<Document>(
    _ id: Document.ID, in collection: DocumentCollection<Document>, _ change: (inout Document) throws -> Void
  ) throws -> Document? {
    let key = try DocumentTable.key(id)
    guard let old = try document(collection.table, key) else { return nil }
    let changed = try collection.changed(old.rawSpan, key.rawSpan, change)
    if let bytes = changed.bytes { put(collection.table, key, bytes) }
    return changed.document
  }

  /// Deletes a document. Returns whether it existed.
  @discardableResult
  public func delete<Document>(_ id: Document.ID, from collection: DocumentCollection<Document>) throws -> Bool {
    try delete(collection.table, DocumentTable.key(id))
  }

  /// Deletes all documents of a collection. Returns how many were deleted.
  @discardableResult
  public func deleteAll<Document>(from collection: DocumentCollection<Document>) throws -> Int {
    try deleteAll(collection.table)
  }
}
