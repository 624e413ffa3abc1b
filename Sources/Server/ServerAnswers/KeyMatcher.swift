package import JSONFormat

/// A predictor that finds a key among a few known ones by comparing words, starting with the most likely key.
///
/// Servers write the fields of all rows in the same order. The matcher learns it: for each key it stores the key that
/// followed it last, so a row in the usual order costs one comparison per key, whatever that order is.
package struct KeyMatcher: Sendable {
  private let keys: [JSONKey]
  /// The key that followed each key last. The last element is for the beginning of an object.
  private var followers: [Int]
  private var previous: Int

  package init(_ names: [String]) {
    keys = names.map(JSONKey.init)
    followers = Array(1...names.count) + [0]
    followers[names.count - 1] = 0
    previous = names.count
  }

  /// Begins an object.
  package mutating func restart() { previous = keys.count }

  /// Moves `tokens` past the likely key, if it is next; see ``JSONTokenizer/skipKey(_:)``.
  ///
  /// - Returns: The number of the key.
  @inline(__always)
  package mutating func skipLikelyKey(_ tokens: inout JSONTokenizer) -> Int? {
    let likely = followers[previous]
    guard tokens.skipKey(keys[likely]) else { return nil }
    previous = likely
    return likely
  }

  /// The number of the key that has `count` bytes and begins with `words`; `nil` if it is not a known key.
  @inline(__always)
  package mutating func match(_ count: Int, _ words: (UInt64, UInt64, UInt64)) -> Int? {
    let likely = followers[previous]
    if keys[likely].byteCount == count, keys[likely].words == words {
      previous = likely
      return likely
    }
    return search(count, words, from: likely)
  }

  /// Searches all keys, starting after the likely one, so that absent fields are skipped in order.
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
