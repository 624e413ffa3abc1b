/// What modules of this package that keep something beside an application's documents need of a store.
extension DocumentStore {
  /// What the names of such collections begin with. ``collection(_:of:indexes:)`` refuses them, so no application means one
  /// by mistake.
  public static let reservedPrefix = "shelfmark."

  /// The collection of this name, which has the reserved prefix.
  ///
  /// - Parameter declares: whether the indexes are made where they are missing; a reader that must change nothing does
  ///   without them.
  package func reservedCollection<Document: Codable & Identifiable & Sendable>(
    _ name: String, of type: Document.Type = Document.self, indexes: [Index<Document>] = [], declares: Bool = true
  ) throws -> DocumentCollection<Document> where Document.ID: Codable & Sendable {
    precondition(name.hasPrefix(Self.reservedPrefix), "the reserved prefix is for reserved collections")
    return try uncheckedCollection(name, indexes: indexes, declares: declares)
  }

  /// Says at once, and whenever there may be a new commit of any process, that it is time to look.
  package func signals() -> AsyncStream<Void> { observers.signals() }
}

extension DocumentCollection {
  /// What differs between two commits, the later one second; `nil` for nothing.
  package func difference(
    from old: DocumentSnapshot, to new: DocumentSnapshot
  ) throws -> CollectionChange<Document.ID>? {
    try change(from: old, to: new)
  }
}
