import Bytes
import DocumentFormat
import LogStore

/// An immutable view of all documents of a store at one commit.
///
/// Any number of threads may use one; see `Snapshot` of LogStore.
public final class DocumentSnapshot: Sendable {
  /// The engine's snapshot; `nil` for a store without a commit.
  let store: Snapshot?
  let description: StoreDescription
  /// How often the file had been replaced by an older one, such as a backup, since the store was opened. Sequence numbers
  /// of snapshots are comparable only if this number is the same.
  package let replacementCount: Int
  /// The indexes of each collection, by its name.
  private let indexes: [String: [CollectionIndex]]

  /// Creates a snapshot.
  ///
  /// - Parameters:
  ///   - earlier: An earlier snapshot. Its description is reused if the stored bytes are the same.
  ///   - isReplacement: Whether another file has replaced that of `earlier`.
  init(_ store: Snapshot?, reusing earlier: DocumentSnapshot? = nil, isReplacement: Bool = false) throws {
    self.store = store
    replacementCount = (earlier?.replacementCount ?? 0) + (isReplacement ? 1 : 0)
    let state = store?.state ?? []
    if let earlier, earlier.store?.state ?? [] == state {
      description = earlier.description
      indexes = earlier.indexes
    } else {
      description = try StoreDescription(state, path: store?.path ?? "")
      indexes = description.collections.mapValues(\.usableIndexes)
    }
  }

  /// Whether this snapshot shows a later state than `other`, a snapshot of the same store.
  package func isLater(than other: DocumentSnapshot) -> Bool {
    (replacementCount, sequence) > (other.replacementCount, other.sequence)
  }

  /// The sequence number of the commit; 0 for a store without one.
  public var sequence: UInt64 { store?.sequence ?? 0 }
  /// The time of the commit, in microseconds since 1970 UTC; `nil` for a store without one.
  package var time: Int64? { store?.time }
  /// The version of the application's schema; see ``Migration``.
  public var schemaVersion: Int { description.schemaVersion }

  /// The names of all collections that were declared or ever contained a document, except reserved ones, in bytewise
  /// order.
  public var collectionNames: [String] { allCollectionNames.filter { !$0.hasPrefix(DocumentStore.reservedPrefix) } }

  /// The names of all collections, including those that begin with ``DocumentStore/reservedPrefix``, in bytewise order.
  package var allCollectionNames: [String] {
    let tables = store?.tableNames.compactMap { DocumentTable(tableNamed: $0)?.name } ?? []
    return Set(tables).union(description.collections.keys).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// The number of documents in a collection. Complexity: O(*n*) in the tables.
  func count(_ table: DocumentTable) -> Int { index(of: table).map { store?.rowCount($0) ?? 0 } ?? 0 }

  /// The index of a collection's table; `nil` if the collection never contained a document.
  func index(of table: DocumentTable) -> Int? { store?.table(named: table.tableName) }

  /// The declared indexes of a collection.
  func declaredIndexes(of table: DocumentTable) -> [CollectionIndex] { indexes[table.name] ?? [] }

  /// The declared indexes of a collection that have its documents: all, unless a repair lost an ordered one.
  func indexes(of table: DocumentTable) -> [CollectionIndex] {
    declaredIndexes(of: table).filter { !isLost($0, table) }
  }

  /// Whether the store has documents of the collection, but not the keys of an ordered index.
  func isLost(_ index: CollectionIndex, _ table: DocumentTable) -> Bool {
    guard index.description.isOrdered, let store, let number = self.index(of: table) else { return false }
    return store.orderedIndex(number, named: index.orderedName) == nil
  }

  /// Calls `body` with the bytes of the document with this key. Returns `nil` if it does not exist. Complexity: One
  /// lookup.
  func withDocument<Result>(
    _ table: DocumentTable, _ key: [UInt8], _ body: (RawSpan) throws -> Result
  ) throws -> Result? {
    guard let store, let index = index(of: table) else { return nil }
    let scope = ScratchScope(store)
    defer { scope.end() }
    guard let record = try store.record(DocumentTable.ids(index), key.rawSpan) else { return nil }
    return try body(record.body)
  }
}
