import Bytes

/// What looks at the values that a path leads to.
protocol PathVisitor {
  /// Looks at the value at `offset` of `bytes`, or at a missing one; true ends the walk.
  mutating func visit(_ bytes: RawSpan, _ offset: Int?) throws(DocumentError) -> Bool
}

extension RawSpan {
  /// Shows `visitor` each value of `path` in the document at `start`.
  ///
  /// A field that is missing, or asked of a value that has no fields, is shown as nil. An array on the way is walked
  /// element by element, and so is one at the end of the path if `flattensLast` says so; an empty array has nothing to
  /// show.
  ///
  /// - Returns: Whether the visitor ended the walk.
  /// - Complexity: O(heads before the value on each level), without an allocation.
  @inline(__always)
  func walk(
    _ start: Int, _ path: FieldPath, flattensLast: Bool, _ visitor: inout some PathVisitor
  ) throws(DocumentError) -> Bool {
    // One load of each array for the whole walk.
    let names = path.utf8.rawSpan
    let ends = path.ends.span
    return try descend(start, 0, names, ends, flattensLast, 0, &visitor)
  }

  /// The walk from the value at `start` on, which `level` names have led to.
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

  /// The offset of the value of field `name` in the map whose head stands at `start`, or nil if it has none.
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
      offset = try skip(value)
      remaining &-= 1
    }
    return nil
  }
}
