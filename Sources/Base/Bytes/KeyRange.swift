/// A range of byte strings, in the order of their bytes: those from `lower` on that are less than `upper`.
package struct KeyRange: Sendable, Equatable {
  package var lower: [UInt8]
  /// The first key after the range; `nil` if the range has no end.
  package var upper: [UInt8]?

  /// All keys.
  package static let all = KeyRange(lower: [], upper: nil)

  package init(lower: [UInt8], upper: [UInt8]?) {
    self.lower = lower
    self.upper = upper
  }

  /// All keys that begin with `prefix`.
  package init(prefix: [UInt8]) { self.init(lower: prefix, upper: Self.successor(prefix)) }

  /// The least bytes that are greater than all keys that begin with `key`; `nil` if there are none.
  package static func successor(_ key: [UInt8]) -> [UInt8]? {
    var next = key
    while let last = next.popLast() {
      if last < 0xFF { return next + [last + 1] }
    }
    return nil
  }

  /// Whether no key can be in the range.
  package var isEmpty: Bool { upper.map { !lower.lexicographicallyPrecedes($0) } ?? false }

  /// Whether a key is in the range.
  package func contains(_ key: [UInt8]) -> Bool {
    !key.lexicographicallyPrecedes(lower) && (upper.map { key.lexicographicallyPrecedes($0) } ?? true)
  }

  /// The keys that are in both ranges.
  package func intersection(_ other: KeyRange) -> KeyRange {
    let lower = self.lower.lexicographicallyPrecedes(other.lower) ? other.lower : self.lower
    guard let mine = upper, let others = other.upper else { return KeyRange(lower: lower, upper: upper ?? other.upper) }
    return KeyRange(lower: lower, upper: mine.lexicographicallyPrecedes(others) ? mine : others)
  }
}

extension [KeyRange] {
  /// The keys that are in a range of both lists. Each list is in ascending order, without common keys, and so is the
  /// result.
  package func intersection(_ others: [KeyRange]) -> [KeyRange] {
    flatMap { range in others.map(range.intersection).filter { !$0.isEmpty } }
  }
}
