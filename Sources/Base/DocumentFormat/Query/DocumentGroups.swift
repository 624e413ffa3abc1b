import Bytes

/// The groups of documents that have equal values at some paths, with the aggregates of each.
///
/// A document belongs to the group of each of its values, as an index has a key for each: an array on a path stands for
/// its elements, and a missing field is null. An object and an empty array are no value, so such a document belongs to
/// no group. Numbers that are equal by value are one group, whatever their form.
package struct DocumentGroups: Sendable {
  private let paths: [FieldPath]
  /// The path of each aggregate; `nil` for a count.
  private let aggregatePaths: [FieldPath?]
  private var table: GroupTable
  /// The number of documents that were added and belong to no group.
  package private(set) var leftOutCount = 0
  /// The values of the document that is being added, kept for their storage.
  private var lists: [ValueList]

  /// Creates an empty table.
  ///
  /// - Parameters:
  ///   - paths: The paths to group by; empty for one group of all documents, even if there are none.
  ///   - aggregates: What to compute for each group.
  package init(by paths: [FieldPath], _ aggregates: [Aggregate]) {
    self.paths = paths
    aggregatePaths = aggregates.map(\.path)
    table = GroupTable(aggregates.map(Accumulator.init), isGrouped: !paths.isEmpty)
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
    if let found = table.position(of: key) {
      position = found
    } else {
      var values: [DocumentValue] = []
      for (list, index) in zip(lists, chosen) { values.append(try document.bytes.value(at: list.offset(index))) }
      position = table.insert(values, key: key)
    }
    table.groups[position].count += 1
    for (index, path) in aggregatePaths.enumerated() {
      guard let path else { continue }
      _ = try document.bytes.walk(
        document.offset, path, flattensLast: true, &table.groups[position].accumulators[index])
    }
  }

  /// Adds `count` documents with one value at the only path. The aggregates must be ``Aggregate/count``.
  package mutating func add(_ value: DocumentValue, count: Int) {
    let value = value.canonicalNumber
    let key = value.sortKey
    let position = table.position(of: key) ?? table.insert([value], key: key)
    table.groups[position].count += count
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

  /// The groups, in ascending order of their values.
  package func sorted() -> [GroupTable.Group] { table.sorted() }
}

extension Aggregate {
  /// The path of its values; `nil` for a count.
  fileprivate var path: FieldPath? {
    switch self {
    case .count: nil
    case .sum(let path), .minimum(let path), .maximum(let path), .average(let path): path
    }
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
