import Bytes
import DocumentFormat
import LogStore

/// The parts of a query, without the Swift type of the documents.
struct QueryRequest: Sendable {
  var condition = Condition.always
  var ordering = Ordering([])
  var offset = 0
  var limit: Int?
}

/// One execution of a query on a snapshot.
struct QueryRun {
  let snapshot: DocumentSnapshot
  let table: DocumentTable
  let request: QueryRequest
  /// The query plan.
  let plan: QueryPlan
  private let condition: CompiledCondition
  private let indexes: [CollectionIndex]

  init(_ snapshot: DocumentSnapshot, _ table: DocumentTable, _ request: QueryRequest) throws {
    self.snapshot = snapshot
    self.table = table
    self.request = request
    let indexes = snapshot.indexes(of: table)
    self.indexes = indexes
    plan = try request.condition.plan(indexes.map(\.description)) { description, key in
      guard let store = snapshot.store, let number = snapshot.index(of: table),
        let index = indexes.first(where: { $0.description == description })
      else { return 0 }
      return try store.rowCount(
        DocumentTable.values(number), index.key(key).rawSpan, atMost: Self.countedRows, withDead: true)
    }
    condition = CompiledCondition(request.condition)
  }

  /// The number of rows up to which a key's documents are counted to choose an index. Counting further would cost more
  /// than it gains.
  private static let countedRows = 4096

  /// The rows of the matching documents, in the requested order.
  ///
  /// - Complexity: With an index, a lookup for each key, and a read of each document found; without one, a scan of all
  ///   documents. Sorting keeps a sort key for each match, or for twice as many documents as the limit.
  func rows(_ trace: inout Trace) throws -> [RowID] {
    var rows: [RowID] = []
    if request.limit == 0 {
      trace.plan = plan
      return []
    }
    if request.ordering.terms.isEmpty {
      let limit = request.limit.map { Self.sum(request.offset, $0) } ?? .max
      try forEachMatch(&trace) { row, _ in
        rows.append(row)
        return rows.count < limit
      }
      rows.removeFirst(min(request.offset, rows.count))
    } else {
      let wanted = request.limit.map { Self.sum(request.offset, $0) } ?? .max
      var sorter = RowSorter(request.ordering, wanted: max(1, wanted))
      try forEachMatch(&trace) { row, document in
        try sorter.add(row, document)
        return true
      }
      rows = sorter.rows()
      rows.removeFirst(min(request.offset, rows.count))
      rows.removeLast(max(0, rows.count - (request.limit ?? .max)))
    }
    trace.documentsAffected = rows.count
    return rows
  }

  /// The number of matching documents, after offset and limit.
  func count(_ trace: inout Trace) throws -> Int {
    if case .and(let parts) = request.condition, parts.isEmpty { return window(of: snapshot.count(table)) }
    if let count = try countByKey() {
      trace.plan = plan
      return window(of: count)
    }
    var count = 0
    try forEachMatch(&trace) { _, _ in
      count += 1
      return true
    }
    return window(of: count)
  }

  private static func sum(_ a: Int, _ b: Int) -> Int {
    let (sum, isTooLarge) = a.addingReportingOverflow(b)
    return isTooLarge ? .max : sum
  }

  /// The number of matching documents if the rows of one index key are exactly the matches, so no document has to be
  /// read. Otherwise `nil`.
  private func countByKey() throws -> Int? {
    guard case .lookups(let lookups) = plan, lookups.count == 1, lookups[0].keys.count == 1 else { return nil }
    let key = lookups[0].keys[0]
    switch request.condition {
    case .compare, .isNull, .isIn: guard key.isExact else { return nil }
    // The key of a prefix contains as many leading bytes as one of the fixed lengths.
    case .hasPrefix(_, let prefix, _):
      guard lookups[0].isPrefix, key.bytes.count == 1 + prefix.utf8.count else { return nil }
    default: return nil
    }
    guard let store = snapshot.store, let index = snapshot.index(of: table), let key = keys(of: lookups).first else {
      return 0
    }
    return try store.rowCount(DocumentTable.values(index), key.rawSpan)
  }

  private func window(of count: Int) -> Int { min(max(0, count - request.offset), request.limit ?? .max) }

  /// Calls `body` with each matching document, until it returns `false`.
  private func forEachMatch(
    _ trace: inout Trace, _ body: (RowID, borrowing DocumentView) throws -> Bool
  ) throws {
    trace.plan = plan
    guard let store = snapshot.store, let index = snapshot.index(of: table) else { return }
    var failure: (any Error)?
    var read = 0
    func visit(_ record: borrowing RecordView) -> Bool {
      read += 1
      do {
        let document = DocumentView(record.body)
        return try condition.matches(document) ? try body(record.rowID, document) : true
      } catch {
        failure = DocumentStoreError.document(
          collection: table.name, id: DocumentTable.text(ofKey: record.key(0).copied()), reason: error)
        return false
      }
    }
    switch plan {
    case .scan:
      try store.forEachRecord(of: index) { (record) throws(StoreError) in visit(record) }
    case .lookups(let lookups):
      let keys = self.keys(of: lookups)
      var seen: Set<RowID> = []
      for key in keys {
        var shouldContinue = true
        try store.forEachRecord(DocumentTable.values(index), key.rawSpan) { (record) throws(StoreError) in
          // A document may have several of the keys.
          if keys.count > 1, !seen.insert(record.rowID).inserted { return true }
          shouldContinue = visit(record)
          return shouldContinue
        }
        if !shouldContinue { break }
      }
    }
    trace.documentsRead += read
    if let failure { throw failure }
  }

  private func keys(of lookups: [QueryPlan.Lookup]) -> [[UInt8]] {
    lookups.flatMap { lookup -> [[UInt8]] in
      guard let index = indexes.first(where: { $0.description == lookup.index }) else { return [] }
      return lookup.keys.map(index.key)
    }
  }
}
