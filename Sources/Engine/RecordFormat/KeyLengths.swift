/// The set of key lengths that occur in a key space, as 256 bits. The last bit represents all lengths of 255 and more.
///
/// A search for the longest key that is a prefix of a text probes only lengths that occur.
public struct KeyLengths: Equatable, Sendable {
  package var words: [UInt64] = [0, 0, 0, 0]

  package init() {}

  package mutating func insert(_ length: Int) {
    let bit = min(length, Manifest.longestListedKey)
    words[bit >> 6] |= 1 << UInt64(bit & 63)
  }

  package mutating func formUnion(_ other: KeyLengths) {
    for index in words.indices { words[index] |= other.words[index] }
  }

  /// Returns whether a key of `length` bytes may occur.
  public func contains(_ length: Int) -> Bool {
    let bit = min(length, Manifest.longestListedKey)
    return words[bit >> 6] >> UInt64(bit & 63) & 1 != 0
  }

  /// Returns the largest length below `limit` that may occur; 0 if there is no such length.
  public func longest(below limit: Int) -> Int {
    var length = limit - 1
    while length > 0, !contains(length) {
      // Lengths above the limit share one bit.
      length = length > Manifest.longestListedKey ? Manifest.longestListedKey - 1 : length - 1
    }
    return max(0, length)
  }

  /// The lengths that occur, in ascending order. 255 represents itself and all larger lengths.
  public var lengths: [Int] { (0...Manifest.longestListedKey).filter(contains) }
}
