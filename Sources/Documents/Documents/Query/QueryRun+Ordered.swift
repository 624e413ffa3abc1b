import Bytes
import DocumentFormat
import LogStore

/// Queries through ordered indexes.
extension QueryRun {
  /// The lookups of the plan, if any of them has ranges and they do not take in everything; otherwise `nil`.
  var rangeLookups: [QueryPlan.Lookup]? {
    plan.readsRanges && !plan.indexedLookups.allSatisfy { $0.ranges == [.all] } ? plan.indexedLookups : nil
  }

  /// The rows that lookups find, each once, in the order of the file.
  func rows(of lookups: [QueryPlan.Lookup]) throws -> [RowID] {
    guard let store = snapshot.store, let number = snapshot.index(of: table) else { return [] }
    var rows: [RowID] = []
    for lookup in lookups {
      if let id = orderedID(lookup.index) {
        for range in lookup.ranges {
          try store.appendRows(inOrderOf: id, from: range.start, to: range.end, to: &rows)
        }
      }
      for key in keys(of: [lookup]) {
        try store.forEachRecord(DocumentTable.values(number), key.rawSpan) { (record) throws(StoreError) in
          rows.append(record.rowID)
          return true
        }
      }
    }
    rows.sortByPlace()
    var last: RowID?
    rows.removeAll { row in
      defer { last = row }
      return row == last
    }
    return rows
  }

  /// The number of matching documents if the ranges of ordered indexes are exactly the matches, so no document has to
  /// be read. Otherwise `nil`.
  func countByRanges() throws -> Int? {
    guard plan.filter(of: request.condition) == nil, let lookups = rangeLookups else { return nil }
    guard let store = snapshot.store, lookups.count == 1, let id = orderedID(lookups[0].index),
      indexes.first(where: { $0.description == lookups[0].index })?.isSingleValued == true
    else { return try rows(of: lookups).count }
    var count = 0
    for range in lookups[0].ranges {
      let found = try store.rowCount(inOrderOf: id, from: range.start, to: range.end)
      if !found.isExact { return try rows(of: lookups).count }
      count += found.count
    }
    return count
  }

  /// The first documents that match, in the order of an index, with those that the query skips.
  func inOrder(_ lookup: QueryPlan.Lookup, isBackward: Bool, _ trace: inout Trace) throws -> [FoundDocument] {
    trace.plan = plan
    guard let store = snapshot.store, let id = orderedID(lookup.index) else { return try pendingDocuments(&trace) }
    let fixed = lookup.index.paths.prefix(lookup.fixedParts.count)
    let firstKey = firstKey(lookup)
    // Pages are in the order of the IDs where the order has nothing to say.
    let sortsTies =
      request.isPaged
      || request.ordering.deciding(fixed: Array(fixed)).count > lookup.index.paths.count - fixed.count
    var walk = try OrderedWalk(
      store, id, lookup.ranges, isBackward: isBackward, sortsTies: sortsTies, from: firstKey,
      wanted: request.wanted ?? .max)
    var visitor = RowVisitor(condition: filter, changes: changes)
    let isTested = filter != nil || !changes.entries.isEmpty
    var key: [UInt8] = []
    while try walk.next() {
      if isTested { walk.prefetchRecords() }
      // A page begins among the documents with the first key, or anywhere if there is none.
      let needsSortKey = walk.needsSortKey || request.after != nil && (firstKey == nil || firstKey == walk.key)
      guard isTested || needsSortKey else {
        walk.addRow()
        continue
      }
      let scope = ScratchScope(store)
      defer { scope.end() }
      guard let record = try store.record(walk.row, table: id.table) else { continue }
      var isWanted = false
      let continues = visitor.visit(record) { _, document, documentID in
        key.removeAll(keepingCapacity: true)
        isWanted = try !needsSortKey || request.appendSortKey(of: document, id: documentID, to: &key)
        return true
      }
      if !continues { break }
      if isWanted, needsSortKey { walk.addRow(sortKey: key) } else if isWanted { walk.addRow() }
    }
    try visitor.throwFailure(in: table)
    if filter != nil { trace.documentsRead += visitor.readCount }
    if hasNoChanges { return walk.rows.map { .row($0) } }
    return try merged(walk.rows, store, id.table, &trace)
  }

  /// Sorts rows together with the pending changes.
  private func merged(
    _ rows: [RowID], _ store: Snapshot, _ table: Int, _ trace: inout Trace
  ) throws -> [FoundDocument] {
    var sorter = DocumentSorter(request)
    var visitor = RowVisitor(condition: nil, changes: PendingChanges())
    try store.forEachRecord(ofRows: rows, table: table) { (record) throws(StoreError) in
      visitor.visit(record) { document, view, key in
        try sorter.add(document, view, id: key)
        return true
      }
    }
    try visitor.throwFailure(in: self.table)
    try forEachPendingMatch(&trace) { document, view, key in
      try sorter.add(document, view, id: key)
      return true
    }
    return sorter.documents()
  }

  private func pendingDocuments(_ trace: inout Trace) throws -> [FoundDocument] {
    var sorter = DocumentSorter(request)
    try forEachPendingMatch(&trace) { document, view, key in
      try sorter.add(document, view, id: key)
      return true
    }
    return sorter.documents()
  }

  private func orderedID(_ description: IndexDescription) -> OrderedIndexID? {
    guard let store = snapshot.store else { return nil }
    return Self.orderedID(description, indexes, store, snapshot.index(of: table))
  }

  /// The key in the index of the document after which a page begins; `nil` if it has none there.
  private func firstKey(_ lookup: QueryPlan.Lookup) -> [UInt8]? {
    guard let after = request.after, let key = OrderedKey.parts(ofSortKey: after.position, request.ordering) else {
      return nil
    }
    var values: [FieldPath: [UInt8]] = [:]
    for (term, part) in zip(request.ordering.terms, key.parts) where values[term.path] == nil {
      values[term.path] = part
    }
    // With another value of a field that the condition fixes, the place in the order is another one.
    for (path, part) in zip(lookup.index.paths, lookup.fixedParts) {
      if let value = values[path], value != part { return nil }
    }
    var result = lookup.fixedParts.flatMap { $0 }
    for path in lookup.index.paths.dropFirst(lookup.fixedParts.count) { result += values[path] ?? [] }
    return OrderedKey.truncated(result)
  }
}
