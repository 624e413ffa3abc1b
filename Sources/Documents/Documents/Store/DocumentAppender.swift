import Bytes
import LogStore

/// Writes documents of one collection directly to the file, in one commit.
final class DocumentAppender {
  private let transaction: Transaction
  /// The snapshot on which the commit is based.
  let base: DocumentSnapshot
  private let table: DocumentTable
  private let indexes: [CollectionIndex]
  private var writer: DocumentRowWriter?
  /// The number of documents written or deleted.
  private(set) var count = 0

  init(_ transaction: Transaction, _ table: DocumentTable) throws {
    self.transaction = transaction
    self.table = table
    base = try DocumentSnapshot(transaction.base)
    indexes = base.declaredIndexes(of: table)
  }

  /// Whether the store had no document with this ID before.
  func isNew(_ key: [UInt8]) throws -> Bool { try base.withDocument(table, key) { _ in } == nil }

  /// Writes a document. It replaces the one with the same ID.
  func callAsFunction(_ key: [UInt8], _ document: [UInt8]) throws {
    try prepare()
    try writer?.put(key, document)
    count += 1
  }

  /// Writes a document that replaces `row` of ``base``, which has the same ID.
  func replace(_ row: RowID, _ key: [UInt8], _ document: [UInt8]) throws {
    try prepare()
    try writer?.put(key, document, replacing: row)
    count += 1
  }

  private func prepare() throws {
    if writer == nil { writer = try DocumentRowWriter(transaction, table, indexes) }
  }

  /// Deletes the document with this ID.
  func delete(_ key: RawSpan) throws {
    guard let index = base.index(of: table) else { return }
    if try transaction.delete(DocumentTable.ids(index), key) > 0 { count += 1 }
  }

  /// Stores what the documents written changed of the store's description.
  fileprivate func finish() throws {
    var description = base.description
    if let writer { description.record(listValued: writer.listValued, in: table.name) }
    if description != base.description { transaction.state = try description.encoded() }
  }
}

extension DocumentStore {
  /// Runs `body` with an appender for one commit. If `body` throws or writes nothing, there is no commit.
  ///
  /// - Returns: The number of documents written.
  func append(_ table: DocumentTable, _ body: (DocumentAppender) throws -> Void) throws -> Int {
    try write { writer in
      let transaction = try writer.begin()
      do {
        let appender = try DocumentAppender(transaction, table)
        try body(appender)
        try appender.finish()
        if appender.count > 0 { _ = try writer.commit(transaction) } else { writer.discard(transaction) }
        return appender.count
      } catch {
        writer.discard(transaction)
        throw error
      }
    }
  }
}
