import Bytes
import DocumentFormat
import LogStore

/// The parts of a query, without the Swift type of the documents.
struct QueryRequest: Sendable {
  var condition = Condition.always
  var ordering = Ordering([])
  var offset = 0
  var limit: Int?
  /// Whether the query has pages: documents that are equal in the order are in the order of their IDs, and one document
  /// more than the limit is found.
  var isPaged = false
  /// The position after which a page begins.
  var after: QueryCursor?

  /// The number of documents after which the query ends, with those that it skips; `nil` if it does not.
  var wanted: Int? {
    guard let limit else { return nil }
    let (sum, isTooLarge) = offset.addingReportingOverflow(limit)
    return isTooLarge || sum == .max ? .max : sum + (isPaged ? 1 : 0)
  }

  /// The order; documents of pages are in the order of their IDs without one.
  var isSorted: Bool { isPaged || !ordering.terms.isEmpty }
}

/// A document that a query found: a row of the snapshot, or a pending change of the transaction by its position. Rows
/// come first, as they do in the file after the commit.
enum FoundDocument: Comparable, Sendable {
  case row(RowID)
  case pending(Int)

  /// The row; `nil` for a pending change.
  var row: RowID? { if case .row(let row) = self { row } else { nil } }
}

/// One execution of a query on a snapshot, or on a snapshot with the pending changes of a transaction.
struct QueryRun {
  let snapshot: DocumentSnapshot
  let table: DocumentTable
  let request: QueryRequest
  /// The query plan.
  let plan: QueryPlan
  let indexes: [CollectionIndex]
  private let condition: CompiledCondition
  /// What a row that the plan finds must still be tested with; `nil` if it matches.
  let filter: CompiledCondition?
  let changes: PendingChanges

  /// Plans a query.
  ///
  /// - Parameter changes: The pending changes of the collection, which the query sees instead of the documents that
  ///   they replace.
  init(
    _ snapshot: DocumentSnapshot, _ table: DocumentTable, _ request: QueryRequest,
    with changes: PendingChanges = PendingChanges()
  ) throws {
    self.snapshot = snapshot
    self.table = table
    self.request = request
    self.changes = changes
    let indexes = snapshot.indexes(of: table)
    self.indexes = indexes
    try request.after?.check(request.ordering)
    let number = snapshot.index(of: table)
    let total = snapshot.count(table)
    let statistics = QueryPlanner<any Error>.Statistics(
      documentCount: total,
      keyCount: { description, key in
        guard let store = snapshot.store, let number,
          let index = indexes.first(where: { $0.description == description })
        else { return 0 }
        let count = try store.rowCount(
          DocumentTable.values(number), index.key(key).rawSpan, atMost: Self.countedRows, withDead: true)
        // There are more, nobody knows how many.
        return count < Self.countedRows ? count : max(count, Int((Double(count) * Double(total)).squareRoot()))
      },
      rangeCount: { description, range in
        guard let store = snapshot.store, let id = Self.orderedID(description, indexes, store, number) else { return 0 }
        return try store.rowCount(inOrderOf: id, from: range.start, to: range.end).count
      })
    let planner = QueryPlanner(
      indexes.map { PlannedIndex(description: $0.description, isSingleValued: $0.isSingleValued) }, statistics)
    // Pages without an order are in that of the IDs, which no index has.
    let wanted = request.isPaged && request.ordering.terms.isEmpty ? nil : request.wanted
    plan = try planner.plan(request.condition, request.ordering, wanted: wanted)
    condition = CompiledCondition(request.condition)
    filter = plan.filter(of: request.condition).map { CompiledCondition($0) }
  }

  /// The engine's identifier of an ordered index.
  static func orderedID(
    _ description: IndexDescription, _ indexes: [CollectionIndex], _ store: Snapshot, _ table: Int?
  ) -> OrderedIndexID? {
    guard let table, let index = indexes.first(where: { $0.description == description }) else { return nil }
    return store.orderedIndex(table, named: index.orderedName)
  }

  /// How the query is run, in plain words.
  var explanation: QueryExplanation {
    let isInOrder = if case .inOrder = plan { true } else { false }
    return QueryExplanation(
      plan: plan, filter: plan.filter(of: request.condition),
      sorting: request.ordering.terms.isEmpty || isInOrder ? nil : request.ordering, limit: request.limit)
  }

  /// The number of rows up to which a key's documents are counted to choose an index. Counting further would cost more
  /// than it gains.
  private static let countedRows = 4096

  /// The matching documents, in the requested order.
  ///
  /// - Complexity: With an index, a lookup for each key, and a read of each document found; without one, a scan of all
  ///   documents. Sorting keeps a sort key for each match, or for twice as many documents as the limit.
  func documents(_ trace: inout Trace) throws -> [FoundDocument] {
    trace.record(request)
    var found: [FoundDocument] = []
    if request.limit == 0 {
      trace.plan = plan
      return []
    }
    if !request.isSorted {
      found = try unsorted(&trace)
    } else if case .inOrder(let lookup, let isBackward) = plan, !changes.isAll {
      found = try inOrder(lookup, isBackward: isBackward, &trace)
    } else {
      var sorter = DocumentSorter(request)
      try forEachMatch(&trace) { document, view, key in
        try sorter.add(document, view, id: key)
        return true
      }
      found = sorter.documents()
    }
    found.removeFirst(min(request.offset, found.count))
    found.removeLast(max(0, found.count - (request.limit.map { $0 + (request.isPaged ? 1 : 0) } ?? .max)))
    trace.documentsAffected = found.count
    return found
  }

  /// The rows of the matching documents, in the requested order, for a query without pending changes.
  func rows(_ trace: inout Trace) throws -> [RowID] { try documents(&trace).compactMap(\.row) }

  /// A page of a query without pending changes, and the position after it; `nil` if no further document matches.
  func page(_ trace: inout Trace) throws -> (rows: [RowID], next: QueryCursor?) {
    var rows = try rows(&trace)
    if request.limit == 0 { return ([], request.after) }
    guard let limit = request.limit, rows.count > limit else { return (rows, nil) }
    rows.removeLast(rows.count - limit)
    trace.documentsAffected = rows.count
    guard let last = rows.last else { return (rows, nil) }
    let (id, document) = try content(of: .row(last))
    var position: [UInt8] = []
    do { try request.ordering.appendSortKey(of: DocumentView(document.rawSpan), to: &position) } catch {
      throw DocumentStoreError.document(collection: table.name, id: DocumentTable.text(ofKey: id), reason: error)
    }
    return (rows, QueryCursor(request.ordering, position: position + id))
  }

  /// The matching documents of a query without an order, with those that it skips.
  private func unsorted(_ trace: inout Trace) throws -> [FoundDocument] {
    let wanted = request.wanted ?? .max
    if hasNoChanges, filter == nil, let lookups = rangeLookups {
      trace.plan = plan
      return try rows(of: lookups).prefix(wanted).map { .row($0) }
    }
    if wanted == .max, let rows = try rowsByThreads(&trace) { return rows.map { .row($0) } }
    var found: [FoundDocument] = []
    try forEachMatch(&trace) { document, _, _ in
      found.append(document)
      return found.count < wanted
    }
    return found
  }

  /// The number of matching documents, after offset and limit.
  func count(_ trace: inout Trace) throws -> Int {
    trace.record(request)
    let count = window(of: try countOfCondition(&trace))
    trace.documentsAffected = count
    return count
  }

  private func countOfCondition(_ trace: inout Trace) throws -> Int {
    if changes.isAll {
      trace.plan = plan
    } else if isUnconditional {
      return try snapshot.count(table) + countOfChanges()
    } else if let count = try countByKey() {
      trace.plan = plan
      return try count + countOfChanges()
    } else if let count = try countByRanges() {
      trace.plan = plan
      return try count + countOfChanges()
    }
    if let rows = try rowsByThreads(&trace) { return rows.count }
    var count = 0
    try forEachMatch(&trace) { _, _, _ in
      count += 1
      return true
    }
    return count
  }

  /// The key and the bytes of a document that the query found.
  func content(of document: FoundDocument) throws -> (key: [UInt8], document: [UInt8]) {
    switch document {
    case .pending(let position): return (changes.entries[position].key, changes.entries[position].document ?? [])
    case .row(let row):
      let scope = ScratchScope(snapshot.store)
      defer { scope.end() }
      guard let store = snapshot.store, let index = snapshot.index(of: table),
        let record = try store.record(row, table: index)
      else { preconditionFailure("a row of a snapshot stays what it was") }
      return (record.key(0).copied(), record.body.copied())
    }
  }

  /// Whether the query sees the documents of the snapshot and nothing else.
  var hasNoChanges: Bool { !changes.isAll && changes.entries.isEmpty }

  /// Whether the condition holds for every document.
  var isUnconditional: Bool { if case .and(let parts) = request.condition { parts.isEmpty } else { false } }

  /// The number of matching documents that the pending changes add, less the number that they remove.
  private func countOfChanges() throws -> Int {
    var count = 0
    for (key, document) in changes.entries {
      if let document, try matches(document, key) { count += 1 }
      if try snapshot.withDocument(table, key, { try condition.matches(DocumentView($0)) }) == true { count -= 1 }
    }
    return count
  }

  private func matches(_ document: [UInt8], _ key: [UInt8]) throws -> Bool {
    do { return try condition.matches(DocumentView(document.rawSpan)) } catch {
      throw DocumentStoreError.document(collection: table.name, id: DocumentTable.text(ofKey: key), reason: error)
    }
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
  ///
  /// - Parameter body: Takes a document, its content, and its key.
  func forEachMatch(
    _ trace: inout Trace, _ body: (FoundDocument, borrowing DocumentView, RawSpan) throws -> Bool
  ) throws {
    trace.plan = plan
    if try forEachMatchingRow(&trace, body) { try forEachPendingMatch(&trace, body) }
  }

  /// Calls `body` with each pending change that matches, until it returns `false`.
  func forEachPendingMatch(
    _ trace: inout Trace, _ body: (FoundDocument, borrowing DocumentView, RawSpan) throws -> Bool
  ) throws {
    for (position, (key, document)) in changes.entries.enumerated() {
      guard let document else { continue }
      trace.documentsRead += 1
      if try matches(document, key), try !body(.pending(position), DocumentView(document.rawSpan), key.rawSpan) {
        return
      }
    }
  }

  /// Calls `body` with each matching row that no pending change replaces, until it returns `false`. Returns whether it
  /// never did.
  private func forEachMatchingRow(
    _ trace: inout Trace, _ body: (FoundDocument, borrowing DocumentView, RawSpan) throws -> Bool
  ) throws -> Bool {
    guard !changes.isAll, let store = snapshot.store, let index = snapshot.index(of: table) else { return true }
    var visitor = RowVisitor(condition: filter, changes: changes)
    if let lookups = rangeLookups {
      try store.forEachRecord(ofRows: rows(of: lookups), table: index) { (record) throws(StoreError) in
        visitor.visit(record, body)
      }
      trace.documentsRead += visitor.readCount
      try visitor.throwFailure(in: table)
      return !visitor.isEnded
    }
    switch plan {
    case .scan, .index, .inOrder:
      try store.forEachRecord(of: index) { (record) throws(StoreError) in visitor.visit(record, body) }
    case .lookups(let lookups):
      let keys = self.keys(of: lookups)
      var seen: Set<RowID> = []
      for key in keys {
        var shouldContinue = true
        try store.forEachRecord(DocumentTable.values(index), key.rawSpan) { (record) throws(StoreError) in
          // A document may have several of the keys.
          if keys.count > 1, !seen.insert(record.rowID).inserted { return true }
          shouldContinue = visitor.visit(record, body)
          return shouldContinue
        }
        if !shouldContinue { break }
      }
    }
    trace.documentsRead += visitor.readCount
    try visitor.throwFailure(in: table)
    return !visitor.isEnded
  }

  /// The rows that match, in file order, found by several threads in a scan; `nil` if one thread is enough, or if there
  /// is something else to visit.
  private func rowsByThreads(_ trace: inout Trace) throws -> [RowID]? {
    guard hasNoChanges, let store = snapshot.store, let index = snapshot.index(of: table) else { return nil }
    if rangeLookups != nil { return nil }
    if case .lookups = plan { return nil }
    guard store.rowCount(index) >= Threads.scannedCount, Threads.count > 1 else { return nil }
    trace.plan = plan
    let results = Threads.map(try store.parts(Threads.partCount, of: index)) { [table, filter] part in
      Result {
        var visitor = RowVisitor(condition: filter, changes: PendingChanges())
        var rows: [RowID] = []
        try store.forEachRecord(of: index, in: part) { (record) throws(StoreError) in
          visitor.visit(record) { document, _, _ in
            if case .row(let row) = document { rows.append(row) }
            return true
          }
        }
        try visitor.throwFailure(in: table)
        return (rows, visitor.readCount)
      }
    }
    var found: [RowID] = []
    for result in results {
      let (rows, readCount) = try result.get()
      found += rows
      trace.documentsRead += readCount
    }
    return found
  }

  func keys(of lookups: [QueryPlan.Lookup]) -> [[UInt8]] {
    lookups.flatMap { lookup -> [[UInt8]] in
      guard let index = indexes.first(where: { $0.description == lookup.index }) else { return [] }
      return lookup.keys.map(index.key)
    }
  }
}
