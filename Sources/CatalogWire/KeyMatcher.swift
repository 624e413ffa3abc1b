internal import JSONFormat

/// Finds a key among a few known ones by comparing words, beginning with the key that is likely to come.
///
/// Servers write the fields of all rows in one order. The matcher learns it: beside each key it keeps the one
/// that followed it last, so that a row in the usual order costs one comparison a key, whatever that order
/// is.
struct KeyMatcher: Sendable {
  private let keys: [JSONKey]
  /// By key: the key that followed it last. The last element belongs to the beginning of an object.
  private var followers: [Int]
  private var previous: Int

  init(_ names: [String]) {
    keys = names.map(JSONKey.init)
    followers = Array(1...names.count) + [0]
    followers[names.count - 1] = 0
    previous = names.count
  }

  /// Begins an object.
  mutating func restart() { previous = keys.count }

  /// Moves `tokens` over the likely key, if that is what comes next; see ``JSONTokenizer/skipKey(_:)``.
  ///
  /// - Returns: the number of the key.
  @inline(__always)
  mutating func skipLikelyKey(_ tokens: inout JSONTokenizer) -> Int? {
    let likely = followers[previous]
    guard tokens.skipKey(keys[likely]) else { return nil }
    previous = likely
    return likely
  }

  /// The number of the key that has `count` bytes and begins with `words`, or nil if it is none of the known
  /// ones.
  @inline(__always)
  mutating func match(_ count: Int, _ words: (UInt64, UInt64, UInt64)) -> Int? {
    let likely = followers[previous]
    if keys[likely].byteCount == count, keys[likely].words == words {
      previous = likely
      return likely
    }
    return search(count, words, from: likely)
  }

  /// Looks at all keys, beginning behind the likely one: fields that are absent are skipped in order.
  private mutating func search(_ count: Int, _ words: (UInt64, UInt64, UInt64), from likely: Int) -> Int? {
    var index = likely
    for _ in keys.indices {
      index = index + 1 == keys.count ? 0 : index + 1
      if keys[index].byteCount == count, keys[index].words == words {
        followers[previous] = index
        previous = index
        return index
      }
    }
    return nil
  }
}
