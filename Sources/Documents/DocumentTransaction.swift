import DocumentFormat
import LogStore
import RecordFormat

/// Changes of several documents, in any collections of one store, that become one commit: all of them or none.
///
/// It sees its own changes; nobody else does before the commit. It keeps them in memory until then. It belongs to the
/// closure that it is lent to.
public final class DocumentTransaction {
  /// What was there when the transaction began.
  public let base: DocumentSnapshot
  var description: StoreDescription
  private let transaction: Transaction
  private var pending: [DocumentTable: PendingChanges] = [:]
  /// The collections of ``pending``, in the order in which they were first touched.
  private var touched: [DocumentTable] = []
  /// Collections of which nothing of ``base`` is left.
  private var emptied: Set<DocumentTable> = []

  init(_ transaction: Transaction, _ base: DocumentSnapshot) {
    self.transaction = transaction
    self.base = base
    description = base.description
  }

  /// The bytes of a document as this transaction left it.
  func document(_ table: DocumentTable, _ key: [UInt8]) throws -> [UInt8]? {
    if let change = pending[table]?[key] { return change }
    if emptied.contains(table) { return nil }
    return try base.withDocument(table, key) { $0.copied() }
  }

  func put(_ table: DocumentTable, _ key: [UInt8], _ document: [UInt8]) {
    change(table) { $0[key] = .some(document) }
  }

  /// Whether there was such a document.
  func delete(_ table: DocumentTable, _ key: [UInt8]) throws -> Bool {
    guard try document(table, key) != nil else { return false }
    change(table) { $0[key] = .some(nil) }
    return true
  }

  private func change(_ table: DocumentTable, _ body: (inout PendingChanges) -> Void) {
    if pending[table] == nil { touched.append(table) }
    body(&pending[table, default: PendingChanges()])
  }

  /// How many documents there were.
  func deleteAll(_ table: DocumentTable) throws -> Int {
    var count = emptied.contains(table) ? 0 : base.count(table)
    for (key, document) in pending[table]?.entries ?? [] {
      let wasThere = try !emptied.contains(table) && base.withDocument(table, key) { _ in true } ?? false
      count += (document == nil ? 0 : 1) - (wasThere ? 1 : 0)
    }
    change(table) { $0 = PendingChanges() }
    emptied.insert(table)
    return count
  }

  /// Hands everything over to the engine.
  ///
  /// - Returns: whether there is anything to commit.
  func finish() throws -> Bool {
    var hasChanges = description != base.description
    if hasChanges { transaction.state = try description.encoded() }
    for table in touched where emptied.contains(table) {
      guard let index = base.index(of: table), let store = base.store else { continue }
      var keys: [[UInt8]] = []
      try store.scan(index) { (record) throws(StoreError) in keys.append(record.key(0).copied()) }
      for key in keys where pending[table]?[key] == nil {
        try transaction.delete(DocumentTable.ids(index), key.rawSpan)
        hasChanges = true
      }
    }
    var draft = RecordDraft()
    for table in touched {
      let indexes = description.collections[table.name]?.usableIndexes ?? []
      for (key, document) in pending[table]?.entries ?? [] {
        if let document {
          try table.fill(&draft, key: key, document: document, indexes)
          try transaction.put(transaction.table(table.schema), draft)
          hasChanges = true
        } else if let index = base.index(of: table) {
          try transaction.delete(DocumentTable.ids(index), key.rawSpan)
          hasChanges = true
        }
      }
    }
    return hasChanges
  }

  /// Writes the documents of a collection anew, with the keys of the indexes that are declared now.
  ///
  /// - Parameter report: is told how many were written, a thousand at a time, and of how many.
  func reindex(_ table: DocumentTable, _ report: (Int, Int) -> Void) throws {
    guard let index = base.index(of: table), let store = base.store else { return }
    let indexes = description.collections[table.name]?.usableIndexes ?? []
    let total = store.rowCount(index)
    var draft = RecordDraft()
    var done = 0
    var failure: (any Error)?
    try store.forEachRecord(of: index) { (record) throws(StoreError) in
      let key = record.key(0).copied()
      // What this transaction changed is written with its own keys.
      if pending[table]?[key] != nil { return true }
      do {
        try table.fill(&draft, key: key, document: record.body.copied(), indexes)
        try transaction.put(index, draft)
      } catch { failure = error }
      done += 1
      if done % 1000 == 0 { report(done, total) }
      return failure == nil
    }
    if let failure { throw failure }
    report(done, total)
  }
}

/// What a transaction did to a collection: the bytes of what was put, and `nil` for what was deleted, in the order in which
/// the documents were first touched. That is the order in which they come to stand in the file.
private struct PendingChanges {
  private(set) var entries: [(key: [UInt8], document: [UInt8]?)] = []
  private var places: [[UInt8]: Int] = [:]

  /// What became of a document; `nil` for one that was not touched, which it cannot become again.
  subscript(key: [UInt8]) -> [UInt8]?? {
    get { places[key].map { entries[$0].document } }
    set {
      guard let document = newValue else { return }
      if let place = places[key] {
        entries[place].document = document
      } else {
        places[key] = entries.count
        entries.append((key, document))
      }
    }
  }
}
