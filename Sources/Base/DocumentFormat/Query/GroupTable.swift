import Bytes

/// The groups of documents that have equal values at some paths, with the aggregates of each.
///
/// A document belongs to the group of each of its values, as an index has a key for each: an array on a path stands for
/// its elements, and a missing field is null. An object and an empty array are no value, so such a document belongs to
/// no group. Numbers that are equal by value are one group, whatever their form.
package struct GroupTable: Sendable {
  /// A group.
  package struct Group: Sendable {
    /// The value at each path.
    package let values: [DocumentValue]
    /// The aggregates, in the order of the request.
    package fileprivate(set) var accumulators: [Accumulator]
    /// The sort keys of ``values``, one after the other. They order the groups.
    package let key: [UInt8]
  }

  private let paths: [FieldPath]
  private let aggregates: [Aggregate]
  private var groups: [Group] = []
  /// The number of documents that were added and belong to no group.
  package private(set) var leftOutCount = 0
  /// The position in ``groups`` of each key.
  private var positions: [[UInt8]: Int] = [:]
  /// The values of the document that is being added, kept for their storage.
  private var lists: [ValueList]
  /// The position of the group that a document was added to last. Neighbours often belong to the same one.
  private var last: Int?

  /// Creates an empty table.
  ///
  /// - Parameters:
  ///   - paths: The paths to group by; empty for one group of all documents, even if there are none.
  ///   - aggregates: What to compute for each group.
  package init(by paths: [FieldPath], _ aggregates: [Aggregate]) {
    self.paths = paths
    self.aggregates = aggregates
    lists = paths.map { _ in ValueList() }
  }

  /// Adds a document to the groups of its values.
  ///
  /// - Complexity: A walk for each path and aggregate, and a hash lookup unless the group is that of the document
  ///   before. Memory for each group, not for each document.
  package mutating func add(_ document: borrowing DocumentView) throws(DocumentError) {
    for (index, path) in paths.enumerated() {
      lists[index].removeAll()
      _ = try document.bytes.walk(document.offset, path, flattensLast: true, &lists[index])
      if lists[index].count == 0 {
        leftOutCount += 1
        return
      }
    }
    // One value at each path, or every combination of them.
    var chosen = [Int](repeating: 0, count: paths.count)
    while true {
      try add(document, chosen)
      var position = paths.count - 1
      while position >= 0 {
        chosen[position] += 1
        if chosen[position] < lists[position].count { break }
        chosen[position] = 0
        position -= 1
      }
      if position < 0 { return }
    }
  }

  private mutating func add(_ document: borrowing DocumentView, _ chosen: [Int]) throws(DocumentError) {
    var key: [UInt8] = []
    for (list, index) in zip(lists, chosen) { key += list.key(index) }
    let position: Int
    if let last, groups[last].key == key {
      position = last
    } else if let known = positions[key] {
      position = known
    } else {
      var values: [DocumentValue] = []
      for (list, index) in zip(lists, chosen) { values.append(try document.bytes.value(at: list.offset(index))) }
      position = insert(values, key)
    }
    last = position
    for index in aggregates.indices { try groups[position].accumulators[index].add(document) }
  }

  /// Adds `count` documents with one value at the only path. The aggregates must be ``Aggregate/count``.
  package mutating func add(_ value: DocumentValue, count: Int) {
    let value = value.canonicalNumber
    let key = value.sortKey
    let position = positions[key] ?? insert([value], key)
    for index in aggregates.indices { groups[position].accumulators[index].add(count: count) }
  }

  /// Adds a document to the groups of those of its values at the only path that have the index key `key`. The
  /// aggregates must be ``Aggregate/count``.
  package mutating func add(_ document: borrowing DocumentView, withKey key: [UInt8]) throws(DocumentError) {
    lists[0].removeAll()
    _ = try document.bytes.walk(document.offset, paths[0], flattensLast: true, &lists[0])
    for index in 0..<lists[0].count {
      var item = Item.null
      if let offset = lists[0].offset(index) { item = try document.bytes.item(at: offset) }
      if IndexKey(document.bytes, item)?.bytes == key { try add(document, [index]) }
    }
  }

  private mutating func insert(_ values: [DocumentValue], _ key: [UInt8]) -> Int {
    groups.append(Group(values: values, accumulators: aggregates.map(Accumulator.init), key: key))
    positions[key] = groups.count - 1
    return groups.count - 1
  }

  /// The groups, in ascending order of their values. Without paths there is always one, also of no documents.
  package func sorted() -> [Group] {
    if paths.isEmpty, groups.isEmpty {
      return [Group(values: [], accumulators: aggregates.map(Accumulator.init), key: [])]
    }
    return groups.sorted { $0.key.lexicographicallyPrecedes($1.key) }
  }
}

/// The distinct values of a path in one document.
private struct ValueList: PathVisitor, Sendable {
  private var keys: [UInt8] = []
  private var entries: [(end: Int, offset: Int?)] = []

  var count: Int { entries.count }

  mutating func removeAll() {
    keys.removeAll(keepingCapacity: true)
    entries.removeAll(keepingCapacity: true)
  }

  func key(_ index: Int) -> ArraySlice<UInt8> { keys[(index == 0 ? 0 : entries[index - 1].end)..<entries[index].end] }

  func offset(_ index: Int) -> Int? { entries[index].offset }

  mutating func visit(_ bytes: RawSpan, _ offset: Int?) throws(DocumentError) -> Bool {
    if let offset {
      switch try bytes.item(at: offset) {
      case .array, .object: return false
      default: break
      }
    }
    let start = keys.count
    try keys.appendSortKey(bytes, offset)
    for index in entries.indices where key(index) == keys[start...] {
      keys.removeLast(keys.count - start)
      return false
    }
    entries.append((keys.count, offset))
    return false
  }
}

extension RawSpan {
  /// The value at `offset`, or null if it is `nil`; a number in the first form that holds it.
  fileprivate func value(at offset: Int?) throws(DocumentError) -> DocumentValue {
    guard var offset else { return .null }
    return try DocumentValue(self, &offset, depth: 0).canonicalNumber
  }
}

extension DocumentValue {
  /// The same value; a number in the first form that holds it, so that equal numbers are the same.
  package var canonicalNumber: DocumentValue {
    switch self {
    case .double(let value):
      switch Number.double(value).canonical {
      case .integer(let integer): .integer(integer)
      case .unsigned(let integer): .unsigned(integer)
      case .double: self
      }
    default: self
    }
  }
}
