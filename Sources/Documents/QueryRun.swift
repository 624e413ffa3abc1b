import DocumentFormat
import LogStore
import RecordFormat

/// What a query asks for, without the Swift type of the documents.
struct QueryRequest: Sendable {
  var condition = Condition.always
  var ordering = Ordering([])
  var offset = 0
  var limit: Int?
}

/// Finds the documents of one snapshot that meet a request.
struct QueryRun {
  let snapshot: DocumentSnapshot
  let table: DocumentTable
  let request: QueryRequest
  /// How they are found.
  let plan: QueryPlan
  private let condition: CompiledCondition
  private let indexes: [DeclaredIndex]

  init(_ snapshot: DocumentSnapshot, _ table: DocumentTable, _ request: QueryRequest) {
    self.snapshot = snapshot
    self.table = table
    self.request = request
    indexes = snapshot.indexes(of: table)
    plan = request.condition.plan(indexes.compactMap(\.description))
    condition = CompiledCondition(request.condition)
  }

  /// Where the documents stand, in the order that was asked for.
  ///
  /// - Complexity: with an index, a lookup for each key and a look at each document that it finds; without one, a look at
  ///   every document. An order keeps a key for each document that is found.
  func places(_ trace: inout Trace) throws -> [UnitOffset] {
    var places: [UnitOffset] = []
    if request.limit == 0 {
      trace.plan = plan
      return []
    }
    if request.ordering.terms.isEmpty {
      let limit = request.limit.map { Self.sum(request.offset, $0) } ?? .max
      try forEachMatch(&trace) { place, _ in
        places.append(place)
        return places.count < limit
      }
      places = Array(places.dropFirst(request.offset))
    } else {
      var found: [(key: [UInt8], place: UnitOffset)] = []
      try forEachMatch(&trace) { place, document in
        found.append((try request.ordering.sortKey(of: document), place))
        return true
      }
      // Documents that are equal in this order come in that of the file.
      found.sort { a, b in
        a.key == b.key ? a.place.rawValue < b.place.rawValue : a.key.lexicographicallyPrecedes(b.key)
      }
      places = found.dropFirst(request.offset).prefix(request.limit ?? .max).map(\.place)
    }
    trace.documentsAffected = places.count
    return places
  }

  /// How many documents there are, within limit and offset.
  func count(_ trace: inout Trace) throws -> Int {
    if case .and(let parts) = request.condition, parts.isEmpty { return window(of: snapshot.count(table)) }
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

  private func window(of count: Int) -> Int { min(max(0, count - request.offset), request.limit ?? .max) }

  /// Shows `body` each document that meets the condition, until it returns false.
  private func forEachMatch(
    _ trace: inout Trace, _ body: (UnitOffset, borrowing DocumentView) throws -> Bool
  ) throws {
    trace.plan = plan
    guard let store = snapshot.store, let index = snapshot.index(of: table) else { return }
    var failure: (any Error)?
    var read = 0
    func look(_ record: borrowing RecordView) -> Bool {
      read += 1
      do {
        let document = DocumentView(record.body)
        return try condition.matches(document) ? try body(record.offset, document) : true
      } catch {
        failure = DocumentStoreError.document(
          collection: table.name, id: DocumentTable.text(ofKey: record.key(0).copied()), reason: error)
        return false
      }
    }
    switch plan {
    case .scan:
      try store.forEachRecord(of: index) { (record) throws(StoreError) in look(record) }
    case .lookups(let lookups):
      let keys = self.keys(of: lookups)
      var seen: Set<UnitOffset> = []
      for key in keys {
        var goesOn = true
        try store.forEachRecord(DocumentTable.values(index), key.rawSpan) { (record) throws(StoreError) in
          // One document may have several of the keys.
          if keys.count > 1, !seen.insert(record.offset).inserted { return true }
          goesOn = look(record)
          return goesOn
        }
        if !goesOn { break }
      }
    }
    trace.documentsRead += read
    if let failure { throw failure }
  }

  private func keys(of lookups: [QueryPlan.Lookup]) -> [[UInt8]] {
    lookups.flatMap { lookup -> [[UInt8]] in
      guard let index = indexes.first(where: { $0.description == lookup.index }) else { return [] }
      return lookup.keys.map { DocumentTable.key(index.number, $0) }
    }
  }
}
