/// An order-independent fingerprint of contents: the sum of 128-bit hashes with fixed seeds.
///
/// It is the same in every file. It detects accidental differences, not forgery.
package struct ContentDigest: Sendable, Equatable, CustomStringConvertible {
  /// The sum of the first 64-bit hashes of all elements, with wraparound.
  package private(set) var first: UInt64 = 0
  /// The sum of the second 64-bit hashes of all elements, with wraparound. It uses another seed than ``first``.
  package private(set) var second: UInt64 = 0

  /// Creates the digest of no elements: both sums are 0.
  package init() {}

  // The seeds are fixed because the digest must be the same in every file.
  private static let seeds = (
    HashSeed(0x243F_6A88_85A3_08D3, 0x1319_8A2E_0370_7344),
    HashSeed(0xA409_3822_299F_31D0, 0x082E_FA98_EC4E_6C89)
  )

  /// Adds an element. The order of the elements does not matter.
  package mutating func add(_ bytes: RawSpan) {
    let low = KeyHash.of(bytes, Self.seeds.0)
    let (sum, carry) = first.addingReportingOverflow(low)
    first = sum
    second = second &+ KeyHash.of(bytes, Self.seeds.1) &+ (carry ? 1 : 0)
  }

  /// Adds the elements of another digest.
  package mutating func add(_ other: ContentDigest) {
    let (sum, carry) = first.addingReportingOverflow(other.first)
    first = sum
    second = second &+ other.second &+ (carry ? 1 : 0)
  }

  /// Takes away the elements of another digest, which were added before.
  package mutating func subtract(_ other: ContentDigest) {
    let (rest, borrow) = first.subtractingReportingOverflow(other.first)
    first = rest
    second = second &- other.second &- (borrow ? 1 : 0)
  }

  /// Creates the digest with these two sums.
  package init(first: UInt64, second: UInt64) {
    self.first = first
    self.second = second
  }

  /// Returns the hash of the number of elements and the sum of their hashes, which is this digest.
  package func closed(count: Int) -> ContentDigest {
    var closing = ByteWriter()
    for word in [UInt64(count), first, second] { closing.put(word) }
    var digest = ContentDigest()
    digest.add(closing.bytes.rawSpan)
    return digest
  }

  /// Returns the hash of this digest and another one, 16 bytes each.
  package func joined(with other: ContentDigest) -> ContentDigest {
    var both = ByteWriter()
    for word in [first, second, other.first, other.second] { both.put(word) }
    var digest = ContentDigest()
    digest.add(both.bytes.rawSpan)
    return digest
  }

  /// The digest as 32 hexadecimal digits.
  package var description: String { hex(second) + hex(first) }

  private func hex(_ word: UInt64) -> String {
    let digits = String(word, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
