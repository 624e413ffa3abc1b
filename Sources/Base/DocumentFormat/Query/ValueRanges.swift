import Bytes

extension KeyRange {
  /// The range of keys that begin with `prefix` and go on with a key of this range.
  func behind(_ prefix: [UInt8]) -> KeyRange {
    if prefix.isEmpty { return self }
    return KeyRange(lower: prefix + lower, upper: upper.map { prefix + $0 } ?? KeyRange.successor(prefix))
  }

  /// Whether an index has all bytes of the bounds, so that it has exactly the keys of the range.
  var isExact: Bool {
    lower.count <= OrderedKey.maximumByteCount && upper?.count ?? 0 <= OrderedKey.maximumByteCount
  }

  /// The range of keys as they are in an index, which are cut. It also contains keys that equal a bound as far as the
  /// index has it.
  var truncated: KeyRange {
    if isExact { return self }
    let upper = upper.flatMap {
      $0.count <= OrderedKey.maximumByteCount ? $0 : KeyRange.successor(OrderedKey.truncated($0))
    }
    return KeyRange(lower: OrderedKey.truncated(lower), upper: upper)
  }
}

/// The values for which a condition on one path holds, as ranges of sort keys.
struct ValueRanges {
  let path: FieldPath
  /// The ranges, in ascending order, without common keys.
  var ranges: [KeyRange]
  /// Whether each range is one value.
  let isPoints: Bool
  /// Whether the condition holds for all values in the ranges.
  let isExact: Bool

  private init(_ path: FieldPath, _ ranges: [KeyRange], isPoints: Bool = false, isExact: Bool = true) {
    self.path = path
    self.ranges = ranges
    self.isPoints = isPoints
    self.isExact = isExact
  }

  /// Creates the ranges of a condition; `nil` if it has none, because it is no condition on one path, or holds for
  /// values all over.
  init?(_ condition: Condition) {
    switch condition {
    case .compare(let path, .equal, let value): self.init(path, points: [value])
    case .isNull(let path): self.init(path, points: [.null])
    case .isIn(let path, let values): self.init(path, points: values)
    case .compare(let path, let comparison, let value):
      guard comparison != .notEqual else { return nil }
      guard Scalar(value) != nil else {
        self.init(path, [])
        return
      }
      let range = Self.range(comparison, value.sortKey, value.kind)
      self.init(path, range.isEmpty ? [] : [range])
    case .hasPrefix(let path, let prefix, ignoringCase: false):
      self.init(path, [KeyRange(prefix: Self.head(prefix))])
    case .like(let path, let pattern, ignoringCase: false):
      let (head, rest) = LikePiece.literalHead(of: pattern)
      if rest.isEmpty {
        self.init(path, points: [.text(head)])
      } else {
        self.init(path, [KeyRange(prefix: Self.head(head))], isExact: rest == [.many])
      }
    case .contains, .hasPrefix, .like, .and, .or, .not: return nil
    }
  }

  private init(_ path: FieldPath, points: [DocumentValue]) {
    // Arrays and objects equal nothing.
    let keys = Set(points.filter { Scalar($0) != nil }.map(\.sortKey))
    let sorted = keys.sorted { $0.lexicographicallyPrecedes($1) }
    self.init(path, sorted.map { KeyRange(prefix: $0) }, isPoints: true)
  }

  /// The sort keys of values of the same kind for which a comparison with a value holds.
  private static func range(_ comparison: Condition.Comparison, _ key: [UInt8], _ kind: DocumentKind) -> KeyRange {
    let isBool = kind == .bool
    let first = [isBool ? SortKey.Rank.false : key[0]]
    let end = [(isBool ? SortKey.Rank.true : key[0]) + 1]
    switch comparison {
    case .less: return KeyRange(lower: first, upper: key)
    case .lessOrEqual: return KeyRange(lower: first, upper: KeyRange.successor(key))
    case .greater: return KeyRange(lower: KeyRange.successor(key) ?? end, upper: end)
    case .greaterOrEqual: return KeyRange(lower: key, upper: end)
    case .equal, .notEqual: return KeyRange(prefix: key)
    }
  }

  /// The sort key of a text without its end.
  private static func head(_ prefix: String) -> [UInt8] { Array(DocumentValue.text(prefix).sortKey.dropLast(2)) }

  /// The values that are in both.
  func intersection(_ other: ValueRanges) -> ValueRanges {
    ValueRanges(
      path, ranges.intersection(other.ranges), isPoints: isPoints || other.isPoints, isExact: isExact && other.isExact)
  }
}
