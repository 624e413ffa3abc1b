import Bytes

/// The keys of documents in ordered indexes, as `Documentation/Format/Documents.md` specifies.
///
/// The key of a value is its sort key in ascending order, and the key of several fields consists of theirs one after
/// another. So the order of an index is the order in which queries sort.
package enum OrderedKey {
  /// The maximum length of a key in bytes. Of a longer one, the first bytes are in the index.
  package static let maximumByteCount = KeyList.maximumKeyLength

  /// The key as it is in an index.
  package static func truncated(_ key: [UInt8]) -> [UInt8] {
    key.count <= maximumByteCount ? key : Array(key[..<maximumByteCount])
  }

  /// The parts of a sort key, one for each term of an ordering, each as in an ascending order; `nil` if `key` does not
  /// begin with such a sort key.
  ///
  /// - Returns: The parts, and their length together.
  package static func parts(
    ofSortKey key: [UInt8], _ ordering: Ordering
  ) -> (parts: [[UInt8]], byteCount: Int)? {
    var parts: [[UInt8]] = []
    var offset = 0
    let inverted = key.map { ~$0 }
    for term in ordering.terms {
      let ascending = term.isDescending ? inverted : key
      guard let count = SortKey.byteCount(ascending.rawSpan, at: offset) else { return nil }
      parts.append(Array(ascending[offset..<offset + count]))
      offset += count
    }
    return (parts, offset)
  }
}

extension DocumentView {
  /// Appends the keys of the document in an ordered index to `list`, in the format of `KeyList`.
  ///
  /// An index of one field has a key for each value of its path: an array has those of its elements, and an object has
  /// none. In an index of several fields, a document has a key only if each field has exactly one value.
  ///
  /// - Parameters:
  ///   - paths: The paths of the index, relative to this value.
  ///   - list: Receives the keys, at most 255 bytes of each. A key may occur twice.
  /// - Returns: Whether each path has exactly one value, which is no element of a list at the end of the path. Then the
  ///   only key is the document's sort key.
  /// - Complexity: O(heads before the value on each level) for each path, without an allocation unless `list` grows or
  ///   there are several paths.
  @discardableResult
  package func appendOrderedKeys(at paths: [FieldPath], to list: inout [UInt8]) throws(DocumentError) -> Bool {
    var visitor = OrderedKeyVisitor(list, isPart: false)
    list = []
    defer { list = visitor.list }
    if paths.count == 1 {
      _ = try bytes.walk(offset, paths[0], flattensLast: false, &visitor)
      return visitor.isSingle
    }
    let start = visitor.beginKey()
    visitor.isPart = true
    for path in paths {
      visitor.valueCount = 0
      _ = try bytes.walk(offset, path, flattensLast: false, &visitor)
      if !visitor.isSingle {
        visitor.list.removeLast(visitor.list.count - start)
        return false
      }
    }
    visitor.finishKey(at: start)
    return true
  }
}

private struct OrderedKeyVisitor: PathVisitor {
  var list: [UInt8]
  /// Whether values are appended to the key that has begun, instead of as keys of their own.
  var isPart: Bool
  /// The number of values of the path.
  var valueCount = 0
  private var hasList = false

  init(_ list: [UInt8], isPart: Bool) {
    self.list = list
    self.isPart = isPart
  }

  /// Whether the path has exactly one value.
  var isSingle: Bool { valueCount == 1 && !hasList }

  mutating func visit(_ bytes: RawSpan, _ offset: Int?) throws(DocumentError) -> Bool {
    valueCount += 1
    try append(bytes, offset, depth: 0)
    return false
  }

  private mutating func append(_ bytes: RawSpan, _ offset: Int?, depth: Int) throws(DocumentError) {
    switch try bytes.itemOrNull(at: offset) {
    case .object: hasList = true
    case .array(let elements):
      hasList = true
      guard depth < DocumentLimits.nestingDepth else { throw .nestedTooDeeply(offset: offset ?? 0) }
      if isPart { return }
      var cursor = ItemCursor(bytes, elements)
      while let element = try cursor.nextItem() { try append(bytes, element, depth: depth + 1) }
    case let item:
      if isPart {
        list.appendSortKey(bytes, item.withFewBytes)
        return
      }
      let start = beginKey()
      list.appendSortKey(bytes, item.withFewBytes)
      finishKey(at: start)
    }
  }

  /// Begins a key, and returns the offset of its length byte.
  mutating func beginKey() -> Int {
    list.append(0)
    return list.count - 1
  }

  mutating func finishKey(at start: Int) {
    let count = list.count - start - 1
    if count > OrderedKey.maximumByteCount { list.removeLast(count - OrderedKey.maximumByteCount) }
    list[start] = UInt8(min(count, OrderedKey.maximumByteCount))
  }
}

extension Item {
  /// The item with no more bytes of a string than a key can have.
  fileprivate var withFewBytes: Item {
    switch self {
    case .text(let range): .text(Self.few(range))
    case .bytes(let range): .bytes(Self.few(range))
    default: self
    }
  }

  private static func few(_ range: Range<Int>) -> Range<Int> {
    range.lowerBound..<min(range.upperBound, range.lowerBound + OrderedKey.maximumByteCount)
  }
}
