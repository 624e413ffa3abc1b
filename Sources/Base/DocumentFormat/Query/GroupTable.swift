/// Groups of rows that have equal keys, with the aggregates of each group. The rows are documents, or of another
/// format.
///
/// Add a row in three steps: find its group, or insert one; count the row; pass its values to the accumulators.
package struct GroupTable: Sendable {
  /// A group.
  package struct Group: Sendable {
    /// The values that its rows have in common.
    package let values: [DocumentValue]
    /// The number of its rows.
    package var count = 0
    /// The aggregates, in the order of the request.
    package var accumulators: [Accumulator]
    /// The sort keys of ``values``, one after the other. They order the groups.
    package let key: [UInt8]

    /// The value of each aggregate.
    package var results: [DocumentValue] { accumulators.map { $0.value(of: count) } }
  }

  /// The accumulators of no rows.
  private let accumulators: [Accumulator]
  /// The groups, in the order in which they were inserted.
  package var groups: [Group] = []
  /// The position in ``groups`` of each key.
  private var positions: [[UInt8]: Int] = [:]
  /// The position of the group that was found last. Neighbours often belong to the same one.
  private var last: Int?

  /// Creates an empty table.
  ///
  /// - Parameters:
  ///   - accumulators: The accumulators of a group without rows.
  ///   - isGrouped: Whether rows are grouped by any value. Otherwise there is one group, even of no rows.
  package init(_ accumulators: [Accumulator], isGrouped: Bool) {
    self.accumulators = accumulators
    if !isGrouped { _ = insert([], key: []) }
  }

  /// The position in ``groups`` of a key; `nil` if no group has it.
  ///
  /// - Complexity: A hash lookup, unless the group is the one that was found last.
  package mutating func position(of key: [UInt8]) -> Int? {
    if let last, groups[last].key == key { return last }
    guard let position = positions[key] else { return nil }
    last = position
    return position
  }

  /// Inserts the group of a key that no group has. Returns its position.
  package mutating func insert(_ values: [DocumentValue], key: [UInt8]) -> Int {
    let position = groups.count
    groups.append(Group(values: values, accumulators: accumulators, key: key))
    positions[key] = position
    last = position
    return position
  }

  /// The groups, in ascending order of their values.
  package func sorted() -> [Group] { groups.sorted { $0.key.lexicographicallyPrecedes($1.key) } }
}
