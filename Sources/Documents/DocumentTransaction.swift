import Bytes
import DocumentFormat
import LogStore

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
  /// How changes are taken back, the oldest first; kept while ``attempt(_:)`` runs.
  private var undos: [Undo] = []
  private var attemptCount = 0
  /// What a module that is built on documents keeps for the time of the transaction.
  package var attachment: AnyObject?

  /// What one change replaced.
  private enum Undo {
    /// What had become of a document; `nil` if nothing had.
    case document(DocumentTable, key: [UInt8], before: [UInt8]??)
    case all(DocumentTable, PendingChanges, wasEmptied: Bool)
  }

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

  /// Runs `body`, and takes back what it changed if it throws: the transaction is then as it was before, and may be gone on with.
  ///
  /// - Complexity: in the changes of `body`.
  package func attempt<Result>(_ body: () throws -> Result) throws -> Result {
    let (mark, touchedCount, description) = (undos.count, touched.count, description)
    attemptCount += 1
    defer {
      attemptCount -= 1
      if attemptCount == 0 { undos.removeAll(keepingCapacity: true) }
    }
    do { return try body() } catch {
      while undos.count > mark { takeBack(undos.removeLast()) }
      for table in touched[touchedCount...] { pending[table] = nil }
      touched.removeLast(touched.count - touchedCount)
      self.description = description
      throw error
    }
  }

  private func takeBack(_ undo: Undo) {
    switch undo {
    case .document(let table, let key, let before): pending[table]?.restore(key, before)
    case .all(let table, let changes, let wasEmptied):
      pending[table] = changes
      if !wasEmptied { emptied.remove(table) }
    }
  }

  func put(_ table: DocumentTable, _ key: [UInt8], _ document: [UInt8]) { set(table, key, document) }

  private func set(_ table: DocumentTable, _ key: [UInt8], _ document: [UInt8]?) {
    change(table) { changes in
      if attemptCount > 0 { undos.append(.document(table, key: key, before: changes[key])) }
      changes[key] = .some(document)
    }
  }

  /// Whether there was such a document.
  func delete(_ table: DocumentTable, _ key: [UInt8]) throws -> Bool {
    guard try document(table, key) != nil else { return false }
    set(table, key, nil)
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
    change(table) { changes in
      if attemptCount > 0 { undos.append(.all(table, changes, wasEmptied: emptied.contains(table))) }
      changes = PendingChanges()
    }
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

  /// Takes back the last change of a document: later changes of others have been taken back before.
  mutating func restore(_ key: [UInt8], _ before: [UInt8]??) {
    if let before {
      self[key] = .some(before)
    } else {
      assert(entries.last?.key == key, "changes are taken back in reverse order")
      entries.removeLast()
      places[key] = nil
    }
  }
}
