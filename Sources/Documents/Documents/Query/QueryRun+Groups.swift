import Bytes
public import DocumentFormat
import LogStore

/// What groups are ordered by.
public enum GroupOrder: Sendable, Equatable {
  /// The values that are grouped by, the first one first.
  case key
  /// The value at one position of the list that is grouped by.
  case keyPart(Int)
  /// The value of one aggregate, by its position in the list of aggregates.
  case aggregate(Int)

  /// The value of the only aggregate.
  public static let value = GroupOrder.aggregate(0)
}

/// The parts of a grouping.
struct GroupRequest: Sendable {
  var paths: [FieldPath]
  var aggregates: [Aggregate]
  /// The order of the groups; groups that are equal in it are in ascending order of their keys.
  var ordering: [(order: GroupOrder, isDescending: Bool)] = []
  var offset = 0
  var limit: Int?
}

/// A group with the values that its documents have in common, and its aggregates.
public struct DocumentGroup: Sendable {
  /// The value at each path that was grouped by.
  public let keys: [DocumentValue]
  /// The value of each aggregate.
  public let values: [DocumentValue]

  /// The groups of no documents: one if there is no path to group by, otherwise none.
  package static func ofNothing(by paths: [FieldPath], _ aggregates: [Aggregate]) -> [DocumentGroup] {
    DocumentGroups(by: paths, aggregates).sorted().map {
      DocumentGroup(keys: $0.values, values: $0.results)
    }
  }
}

extension QueryRun {
  /// The groups of the matching documents, and the aggregates of each.
  ///
  /// - Complexity: With an index on the only path, and nothing but counts of all documents: reads the index; see
  ///   ``countByIndex(_:_:)``. Otherwise a read of each matching document. Memory for each group.
  func groups(_ request: GroupRequest, _ trace: inout Trace) throws -> [DocumentGroup] {
    trace.record(self.request)
    var table = DocumentGroups(by: request.paths, request.aggregates)
    if let index = indexToCount(request) {
      trace.plan = .index(index.description)
      try addCounts(of: index, to: &table, &trace)
    } else if self.request.limit != nil || self.request.offset > 0 {
      // Only some of the matching documents.
      for document in try documents(&trace) {
        let bytes = try content(of: document).document
        try table.add(DocumentView(bytes.rawSpan))
      }
    } else {
      try forEachMatch(&trace) { _, document, _ in
        try table.add(document)
        return true
      }
    }
    trace.documentsWithoutGroup += table.leftOutCount
    let groups = Self.ordered(table.sorted(), request)
    trace.documentsAffected = groups.count
    return groups
  }

  private static func ordered(_ groups: [GroupTable.Group], _ request: GroupRequest) -> [DocumentGroup] {
    var groups = groups.map { group in
      DocumentGroup(keys: group.values, values: group.results)
    }
    if !request.ordering.isEmpty {
      let keys = groups.map { group in
        request.ordering.map { term -> [UInt8] in
          let parts: [DocumentValue] =
            switch term.order {
            case .key: group.keys
            case .keyPart(let position): [group.keys[position]]
            case .aggregate(let position): [group.values[position]]
            }
          let key = parts.flatMap(\.sortKey)
          return term.isDescending ? key.map { ~$0 } : key
        }
      }
      // Stable, so groups that are equal stay in the order of their keys.
      groups = groups.indices.sorted { a, b in
        for (mine, other) in zip(keys[a], keys[b]) where mine != other { return mine.lexicographicallyPrecedes(other) }
        return a < b
      }.map { groups[$0] }
    }
    return Array(groups.dropFirst(request.offset).prefix(request.limit ?? .max))
  }

  /// The index that alone gives the groups: all documents are counted by one indexed field.
  private func indexToCount(_ request: GroupRequest) -> CollectionIndex? {
    guard hasNoChanges, isUnconditional, self.request.limit == nil, self.request.offset == 0,
      request.paths.count == 1, request.aggregates.allSatisfy({ $0 == .count })
    else { return nil }
    return indexes.first { !$0.description.isOrdered && $0.description.path == request.paths[0] }
  }

  /// Adds the number of documents of each value of an index.
  private func addCounts(of index: CollectionIndex, to table: inout DocumentGroups, _ trace: inout Trace) throws {
    guard let store = snapshot.store, let number = snapshot.index(of: self.table) else { return }
    let space = DocumentTable.values(number)
    for (key, count) in try countByIndex(index, &trace) {
      if let value = IndexKey.value(ofKey: key.rawSpan.slice(2, key.count - 2)) {
        table.add(value, count: count)
        continue
      }
      // Different values may have this key: a date is rounded, a long text is hashed.
      var failure: (any Error)?
      try store.forEachRecord(space, key.rawSpan) { (record) throws(StoreError) in
        trace.documentsRead += 1
        do { try table.add(DocumentView(record.body), withKey: Array(key[2...])) } catch {
          failure = DocumentStoreError.document(
            collection: self.table.name, id: DocumentTable.text(ofKey: record.key(0)), reason: error)
        }
        return failure == nil
      }
      if let failure { throw failure }
    }
  }

  /// The number of different keys up to which each one is looked up in the index. Beyond that, counting the keys of
  /// each row costs less.
  private static let lookedUpKeys = 64

  /// The number of documents with each key of an index, by the stored key.
  ///
  /// The keys are found in the lists of keys that the rows carry. If every document has exactly one value, each new key
  /// is looked up in the index, which knows how many rows have it, and the search ends as soon as all documents are
  /// accounted for.
  ///
  /// - Complexity: With few values, often a few rows and the posting lists of the values. At most the keys of every
  ///   row, without the documents.
  private func countByIndex(_ index: CollectionIndex, _ trace: inout Trace) throws -> [(key: [UInt8], count: Int)] {
    guard let store = snapshot.store, let table = snapshot.index(of: table) else { return [] }
    if index.isSingleValued, let counts = try countByLookups(index, store, table) { return counts }
    var counts = KeyCounts()
    try store.scan(table) { (record) throws(StoreError) in
      var keys = KeyList(record.key(1))
      var hasValue = false
      while let key = keys.next() {
        guard index.isKeyOfValue(key) else { continue }
        counts.add(key, 1)
        hasValue = true
      }
      if !hasValue { trace.documentsWithoutGroup += 1 }
    }
    return counts.all
  }

  /// The same by lookups; `nil` if there are too many values.
  private func countByLookups(
    _ index: CollectionIndex, _ store: Snapshot, _ table: Int
  ) throws -> [(key: [UInt8], count: Int)]? {
    var counts = KeyCounts()
    var missing = store.rowCount(table)
    try store.forEachRecord(of: table) { (record) throws(StoreError) in
      var keys = KeyList(record.key(1))
      while let key = keys.next() {
        guard index.isKeyOfValue(key) else { continue }
        if counts.has(key) { break }
        if counts.all.count == Self.lookedUpKeys {
          missing = -1
          return false
        }
        let count = try store.rowCount(DocumentTable.values(table), key)
        counts.add(key, count)
        missing -= count
        break
      }
      return missing > 0
    }
    // Anything else than 0 means that the index and the rows do not agree, or that there are too many values.
    return missing == 0 ? counts.all : nil
  }
}

extension CollectionIndex {
  /// Whether a key of a row's list is the key of a value in this index.
  fileprivate func isKeyOfValue(_ key: RawSpan) -> Bool {
    key.byteCount > 2 && key.u8(at: 0) == keyHead[0] && key.u8(at: 1) == keyHead[1]
      && IndexKey.isOfValue(key.slice(2, key.byteCount - 2))
  }
}

/// Counts by key.
private struct KeyCounts {
  private(set) var all: [(key: [UInt8], count: Int)] = []
  private var positions: [[UInt8]: Int] = [:]
  /// The position of the key that was found last. Neighbours often have the same one.
  private var last = 0
  /// The number of keys up to which a linear search is faster than hashing.
  private static let fewCount = 8

  mutating func has(_ key: RawSpan) -> Bool { find(key) != nil }

  mutating func add(_ key: RawSpan, _ count: Int) {
    if let position = find(key) {
      all[position].count += count
      return
    }
    let copy = key.copied()
    positions[copy] = all.count
    last = all.count
    all.append((copy, count))
  }

  private func isKey(_ position: Int, _ key: RawSpan) -> Bool {
    let own = all[position].key
    return key.hasSameBytes(as: own.rawSpan)
  }

  private mutating func find(_ key: RawSpan) -> Int? {
    if last < all.count, isKey(last, key) { return last }
    if all.count <= Self.fewCount {
      for position in all.indices where isKey(position, key) {
        last = position
        return position
      }
      return nil
    }
    guard let position = positions[key.copied()] else { return nil }
    last = position
    return position
  }
}
