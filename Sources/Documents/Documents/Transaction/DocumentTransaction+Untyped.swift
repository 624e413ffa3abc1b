package import DocumentFormat

extension DocumentTransaction {
  /// Adds a document, or replaces the one with the ID in its field `id`.
  ///
  /// - Throws: `DocumentStoreError.noID`, `.idRounded`, `.idTooLong`.
  package func put(_ document: DocumentValue, in collection: UntypedCollection) throws {
    let new = try collection.encode(document)
    put(collection.table, new.key, new.bytes)
  }

  /// Returns the document with an ID as this transaction has left it; `nil` if it does not exist.
  package func get(_ id: DocumentValue, from collection: UntypedCollection) throws -> DocumentValue? {
    try document(collection.table, id.documentBytes).map { try DocumentValue(documentBytes: $0.rawSpan) }
  }

  /// Returns whether a document with an ID exists, with the changes of this transaction.
  package func contains(_ id: DocumentValue, in collection: UntypedCollection) throws -> Bool {
    try document(collection.table, id.documentBytes) != nil
  }

  /// Deletes a document. Returns whether it existed.
  package func delete(_ id: DocumentValue, from collection: UntypedCollection) throws -> Bool {
    try delete(collection.table, id.documentBytes)
  }
}
