import Bytes

/// A visitor of the values of a path.
protocol PathVisitor {
  /// Visits the value at `offset` of `bytes`, or a missing value if `offset` is `nil`. Returns `true` to end the walk.
  mutating func visit(_ bytes: RawSpan, _ offset: Int?) throws(DocumentError) -> Bool
}

extension RawSpan {
  /// Calls `visitor` with each value of `path` in the document at `start`.
  ///
  /// A missing field is visited as `nil`, also if the enclosing value is not an object. An array on the path is visited
  /// element by element. An array at the end of the path is also flattened if `flattensLast` is true. An empty array
  /// has no elements to visit.
  ///
  /// - Returns: Whether the visitor ended the walk.
  /// - Complexity: O(heads before the value on each level), without an allocation.
  @inline(__always)
  func walk(
    _ start: Int, _ path: FieldPath, flattensLast: Bool, _ visitor: inout some PathVisitor
  ) throws(DocumentError) -> Bool {
    // Load each array once for the entire walk.
    let names = path.utf8.rawSpan
    let ends = path.ends.span
    return try descend(start, 0, names, ends, flattensLast, 0, &visitor)
  }

  /// Continues the walk at the value at `start`, after the first `level` names of the path.
  private func descend(
    _ start: Int, _ startLevel: Int, _ names: RawSpan, _ ends: Span<Int>, _ flattensLast: Bool, _ depth: Int,
    _ visitor: inout some PathVisitor
  ) throws(DocumentError) -> Bool {
    var offset = start
    var level = startLevel
    var depth = depth
    while true {
      let isLast = level == ends.count
      if isLast && !flattensLast { return try visitor.visit(self, offset) }
      let head: ItemHead
      (offset, head) = try untagged(offset)
      if head.major == Major.array {
        guard depth < DocumentLimits.nestingDepth else { throw .nestedTooDeeply(offset: offset) }
        return try descendElements(try list(head, at: offset), level, names, ends, flattensLast, depth + 1, &visitor)
      }
      if isLast { return try visitor.visit(self, offset) }
      guard head.major == Major.map else { return try visitor.visit(self, nil) }
      let begin = level == 0 ? 0 : ends[level &- 1]
      guard let value = try field(names.slice(begin, ends[level] &- begin), of: head, at: offset) else {
        return try visitor.visit(self, nil)
      }
      offset = value
      level &+= 1
      depth &+= 1
    }
  }

  private func descendElements(
    _ list: ItemList, _ level: Int, _ names: RawSpan, _ ends: Span<Int>, _ flattensLast: Bool, _ depth: Int,
    _ visitor: inout some PathVisitor
  ) throws(DocumentError) -> Bool {
    var offset = list.start
    var remaining = list.count ?? .max
    while remaining > 0 {
      if list.count == nil, try isBreak(at: offset) { return false }
      if try descend(offset, level, names, ends, flattensLast, depth, &visitor) { return true }
      offset = try skip(offset, depth: depth)
      remaining -= 1
    }
    return false
  }

  /// The offset of the value of field `name` in the map with the head at `start`; `nil` if it has no such field.
  ///
  /// - Complexity: O(heads before it).
  @inline(__always)
  func field(_ name: RawSpan, of map: ItemHead, at start: Int) throws(DocumentError) -> Int? {
    let list = try list(map, at: start)
    var offset = list.start
    var remaining = list.count ?? .max
    while remaining > 0 {
      if list.count == nil, try isBreak(at: offset) { return nil }
      let head = try head(at: offset)
      guard head.major == Major.text else { throw .nameIsNoText(offset: offset) }
      let count = try count(head, at: offset)
      let value = head.end &+ count
      if count == name.byteCount, slice(head.end, count).hasSameBytes(as: name) {
        guard value < byteCount else { throw .endsEarly(offset: value) }
        return value
      }
      offset = try skipMostly(value)
      remaining &-= 1
    }
    return nil
  }
}
