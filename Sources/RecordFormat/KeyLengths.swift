/// The set of key lengths that occur in a key space, as 256 bits; the last one stands for 255 and more.
///
/// A search for the longest key that is a prefix of something probes only lengths that occur.
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

  /// Whether a key of `length` bytes may occur.
  public func contains(_ length: Int) -> Bool {
    let bit = min(length, Manifest.longestListedKey)
    return words[bit >> 6] >> UInt64(bit & 63) & 1 != 0
  }

  /// The greatest length below `limit` that may occur; 0 if there is none.
  public func longest(below limit: Int) -> Int {
    var length = limit - 1
    while length > 0, !contains(length) {
      // Nothing that long is listed one by one.
      length = length > Manifest.longestListedKey ? Manifest.longestListedKey - 1 : length - 1
    }
    return max(0, length)
  }

  /// The lengths that occur, ascending; 255 stands for itself and everything longer.
  public var lengths: [Int] { (0...Manifest.longestListedKey).filter(contains) }
}
