import Bytes
import DocumentFormat
import LogStore

/// All documents of a store at one commit. What it shows never changes, whatever is committed meanwhile.
///
/// Any number of threads may use one; see `Snapshot` of LogStore.
public final class DocumentSnapshot: Sendable {
  /// `nil` for a store without a commit.
  let store: Snapshot?
  let description: StoreDescription
  /// The indexes of each collection, by its name.
  private let indexes: [String: [CollectionIndex]]

  /// - Parameter known: a snapshot whose description is taken where this one's would have the same bytes.
  init(_ store: Snapshot?, knowing known: DocumentSnapshot? = nil) throws {
    self.store = store
    let state = store?.state ?? []
    if let known, known.store?.state ?? [] == state {
      description = known.description
      indexes = known.indexes
    } else {
      description = try StoreDescription(state, path: store?.path ?? "")
      indexes = description.collections.mapValues(\.usableIndexes)
    }
  }

  /// The number of the commit; 0 for a store without one.
  public var sequence: UInt64 { store?.sequence ?? 0 }
  /// The version of the application's schema; see ``Migration``.
  public var schemaVersion: Int { description.schemaVersion }

  /// The names of the collections that ever held a document or were declared, bytewise; without reserved ones.
  public var collectionNames: [String] { allCollectionNames.filter { !$0.hasPrefix(DocumentStore.reservedPrefix) } }

  /// The same, with those whose names begin with ``DocumentStore/reservedPrefix``.
  package var allCollectionNames: [String] {
    let tables = store?.tableNames.compactMap { DocumentTable(tableNamed: $0)?.name } ?? []
    return Set(tables).union(description.collections.keys).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Documents of a collection. Complexity: O(tables).
  func count(_ table: DocumentTable) -> Int { index(of: table).map { store?.rowCount($0) ?? 0 } ?? 0 }

  /// The position of a collection's table; `nil` if it never had a document.
  func index(of table: DocumentTable) -> Int? { store?.table(named: table.tableName) }

  func indexes(of table: DocumentTable) -> [CollectionIndex] { indexes[table.name] ?? [] }

  /// Lends the bytes of the document with this key; `nil` for none. Complexity: a lookup.
  func withDocument<Result>(
    _ table: DocumentTable, _ key: [UInt8], _ body: (RawSpan) throws -> Result
  ) throws -> Result? {
    guard let store, let index = index(of: table) else { return nil }
    guard let record = try store.record(DocumentTable.ids(index), key.rawSpan) else { return nil }
    return try body(record.body)
  }
}
