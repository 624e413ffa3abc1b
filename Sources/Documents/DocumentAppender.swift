import Bytes
import LogStore

/// Writes documents of one collection directly to the file, in one commit.
final class DocumentAppender {
  private let transaction: Transaction
  private let base: DocumentSnapshot
  private let table: DocumentTable
  private let indexes: [CollectionIndex]
  private var draft = RecordDraft()
  private var number: Int?
  /// The number of documents written.
  private(set) var count = 0

  init(_ transaction: Transaction, _ table: DocumentTable) throws {
    self.transaction = transaction
    self.table = table
    base = try DocumentSnapshot(transaction.base)
    indexes = base.indexes(of: table)
  }

  /// Whether the store had no document with this ID before.
  func isNew(_ key: [UInt8]) throws -> Bool { try base.withDocument(table, key) { _ in } == nil }

  /// Writes a document. It replaces the one with the same ID.
  func callAsFunction(_ key: [UInt8], _ document: [UInt8]) throws {
    try table.fill(&draft, key: key, document: document, indexes)
    let number = try self.number ?? transaction.table(table.schema)
    self.number = number
    try transaction.put(number, draft)
    count += 1
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
        if appender.count > 0 { _ = try writer.commit(transaction) } else { writer.discard(transaction) }
        return appender.count
      } catch {
        writer.discard(transaction)
        throw error
      }
    }
  }
}
