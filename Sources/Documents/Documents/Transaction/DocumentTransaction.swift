import Bytes
import DocumentFormat
import LogStore

/// An atomic change of documents in any collections of one store.
///
/// It sees its own changes; others see them after the commit. Changes are kept in memory until then. It must not be
/// used outside the closure that receives it.
public final class DocumentTransaction {
  /// The snapshot on which the transaction began.
  public let base: DocumentSnapshot
  var description: StoreDescription
  private let transaction: Transaction
  private var pending: [DocumentTable: PendingChanges] = [:]
  /// The collections of ``pending``, in the order in which they were first changed.
  private var touched: [DocumentTable] = []
  /// The undo log, oldest first; kept while ``attempt(_:)`` runs.
  private var undos: [Undo] = []
  private var attemptCount = 0
  /// An object that a module built on documents attaches to the transaction.
  package var attachment: AnyObject?

  /// The state before one change.
  private enum Undo {
    /// The pending change of a document; `nil` if there was none.
    case document(DocumentTable, key: [UInt8], before: [UInt8]??)
    case all(DocumentTable, PendingChanges)
  }

  init(_ transaction: Transaction, _ base: DocumentSnapshot) {
    self.transaction = transaction
    self.base = base
    description = base.description
  }

  /// The bytes of a document, including changes in this transaction; `nil` if it does not exist.
  func document(_ table: DocumentTable, _ key: [UInt8]) throws -> [UInt8]? {
    if let changes = pending[table] {
      if let change = changes[key] { return change }
      if changes.isAll { return nil }
    }
    return try base.withDocument(table, key) { $0.copied() }
  }

  /// Runs `body`. If it throws, its changes are rolled back, and the transaction can continue.
  ///
  /// - Complexity: O(*n*) in the changes of `body`.
  package func attempt<Result>(_ body: () throws -> Result) throws -> Result {
    let (mark, touchedCount, description) = (undos.count, touched.count, description)
    attemptCount += 1
    defer {
      attemptCount -= 1
      if attemptCount == 0 { undos.removeAll(keepingCapacity: true) }
    }
    do { return try body() } catch {
      while undos.count > mark { revert(undos.removeLast()) }
      for table in touched[touchedCount...] { pending[table] = nil }
      touched.removeLast(touched.count - touchedCount)
      self.description = description
      throw error
    }
  }

  private func revert(_ undo: Undo) {
    switch undo {
    case .document(let table, let key, let before): pending[table]?.restore(key, before)
    case .all(let table, let changes): pending[table] = changes
    }
  }

  func put(_ table: DocumentTable, _ key: [UInt8], _ document: [UInt8]) { set(table, key, document) }

  private func set(_ table: DocumentTable, _ key: [UInt8], _ document: [UInt8]?) {
    change(table) { changes in
      if attemptCount > 0 { undos.append(.document(table, key: key, before: changes[key])) }
      changes[key] = .some(document)
    }
  }

  /// Deletes a document. Returns whether it existed.
  func delete(_ table: DocumentTable, _ key: [UInt8]) throws -> Bool {
    guard try document(table, key) != nil else { return false }
    set(table, key, nil)
    return true
  }

  private func change(_ table: DocumentTable, _ body: (inout PendingChanges) -> Void) {
    if pending[table] == nil { touched.append(table) }
    body(&pending[table, default: PendingChanges()])
  }

  /// The number of documents, including changes in this transaction.
  func count(_ table: DocumentTable) throws -> Int {
    var trace = Trace(operation: .count, collection: table.name)
    return try run(QueryRequest(), table).count(&trace)
  }

  /// A query that sees the changes in this transaction.
  func run(_ request: QueryRequest, _ table: DocumentTable) throws -> QueryRun {
    try QueryRun(base, table, request, with: pending[table] ?? PendingChanges())
  }

  /// Deletes all documents. Returns how many were deleted.
  func deleteAll(_ table: DocumentTable) throws -> Int {
    let count = try count(table)
    change(table) { changes in
      if attemptCount > 0 { undos.append(.all(table, changes)) }
      changes = PendingChanges()
      changes.isAll = true
    }
    return count
  }

  /// Writes all pending changes to the engine's transaction.
  ///
  /// - Returns: Whether there is anything to commit.
  func finish() throws -> Bool {
    var hasChanges = false
    for table in touched where pending[table]?.isAll == true {
      guard let index = base.index(of: table), let store = base.store else { continue }
      var keys: [[UInt8]] = []
      try store.scan(index) { (record) throws(StoreError) in keys.append(record.key(0).copied()) }
      for key in keys where pending[table]?[key] == nil {
        try transaction.delete(DocumentTable.ids(index), key.rawSpan)
        hasChanges = true
      }
    }
    for table in touched {
      var writer: DocumentRowWriter?
      for (key, document) in pending[table]?.entries ?? [] {
        if let document {
          if writer == nil { writer = try rowWriter(table) }
          try writer?.put(key, document)
          hasChanges = true
        } else if let index = base.index(of: table) {
          try transaction.delete(DocumentTable.ids(index), key.rawSpan)
          hasChanges = true
        }
      }
      if let writer { description.record(listValued: writer.listValued, in: table.name) }
    }
    if description != base.description {
      transaction.state = try description.encoded()
      hasChanges = true
    }
    return hasChanges
  }

  private func rowWriter(_ table: DocumentTable) throws -> DocumentRowWriter {
    try DocumentRowWriter(transaction, table, description.collections[table.name]?.usableIndexes ?? [])
  }

  /// Brings the keys of a collection's documents up to date with the indexes that are declared now: adds and removes
  /// ordered indexes, and writes the documents again if there is another new one.
  ///
  /// - Precondition: The transaction changes no documents of the collection.
  /// - Parameters:
  ///   - new: The numbers of the new indexes.
  ///   - report: A progress callback, called after every thousand documents with the number done and the total.
  func reindex(_ table: DocumentTable, new: Set<UInt16>, _ report: (Int, Int) -> Void) throws {
    guard let index = base.index(of: table), let store = base.store else { return }
    let indexes = description.collections[table.name]?.usableIndexes ?? []
    let total = store.rowCount(index)
    let names = Set(indexes.filter(\.description.isOrdered).map(\.orderedName))
    for name in transaction.orderedIndexes(of: index) where !names.contains(name) {
      transaction.removeOrderedIndex(index, named: name)
    }
    for ordered in indexes where ordered.description.isOrdered && new.contains(ordered.number) {
      let isSingleValued = try table.addOrderedIndex(ordered, to: transaction, index) { report($0, total) }
      if !isSingleValued { description.record(listValued: [ordered.number], in: table.name) }
    }
    if indexes.contains(where: { !$0.description.isOrdered && new.contains($0.number) }) {
      try rewrite(table, store, index, report)
    }
  }

  /// Rewrites the documents of a collection with the keys of the currently declared indexes.
  private func rewrite(
    _ table: DocumentTable, _ store: Snapshot, _ index: Int, _ report: (Int, Int) -> Void
  ) throws {
    let total = store.rowCount(index)
    var writer = try rowWriter(table)
    var done = 0
    var failure: (any Error)?
    try store.forEachRecord(of: index) { (record) throws(StoreError) in
      do { try writer.put(record.key(0).copied(), record.body.copied()) } catch { failure = error }
      done += 1
      if done % 1000 == 0 { report(done, total) }
      return failure == nil
    }
    if let failure { throw failure }
    description.record(listValued: writer.listValued, in: table.name)
    report(done, total)
  }
}
