/// Interface for modules of this package that keep their own collections next to the application's.
extension DocumentStore {
  /// The prefix of reserved collection names. ``collection(_:of:indexes:)`` refuses it, so no application uses such a
  /// name by accident.
  public static let reservedPrefix = "shelfmark."

  /// Opens a collection whose name has the reserved prefix.
  ///
  /// - Parameter declares: Whether to create missing indexes. A read-only caller works without them.
  package func reservedCollection<Document: Codable & Identifiable & Sendable>(
    _ name: String, of type: Document.Type = Document.self, indexes: [Index<Document>] = [], declares: Bool = true
  ) throws -> DocumentCollection<Document> where Document.ID: Codable & Sendable {
    precondition(name.hasPrefix(Self.reservedPrefix), "the reserved prefix is for reserved collections")
    return try uncheckedCollection(name, indexes: indexes, declares: declares)
  }

  /// A stream that yields at once, and whenever any process may have made a new commit.
  package func signals() -> AsyncStream<Void> { observers.signals() }
}

extension DocumentCollection {
  /// The difference between two commits, the later one second; `nil` if nothing changed.
  package func difference(
    from old: DocumentSnapshot, to new: DocumentSnapshot
  ) throws -> CollectionChange<Document.ID>? {
    try change(from: old, to: new)
  }
}
