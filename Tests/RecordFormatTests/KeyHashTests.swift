import RandomTestSupport
import RecordFormat
import StoreTestSupport
import Testing

/// The hash as FORMAT.md describes it, word for word.
private func described(_ key: [UInt8], _ s0: UInt64, _ s1: UInt64) -> UInt64 {
  let c0: UInt64 = 0x9E37_79B9_7F4A_7C15
  let c1: UInt64 = 0xD6E8_FEB8_6659_FD93
  func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = UInt128(a) * UInt128(b)
    return UInt64(truncatingIfNeeded: product) ^ UInt64(truncatingIfNeeded: product >> 64)
  }
  func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
  let length = UInt64(key.count)
  var h = s0 ^ mix(s0 ^ c0, length ^ s1)
  var rest = key[...]
  while rest.count > 16 {
    let block = rest.prefix(16)
    h = mix(word(block.prefix(8)) ^ c1 ^ s1, word(block.suffix(8)) ^ h)
    rest = rest.dropFirst(16)
  }
  var a: UInt64 = 0
  var b: UInt64 = 0
  let n = rest.count
  switch n {
  case 8...16: (a, b) = (word(rest.prefix(8)), word(rest.suffix(8)))
  case 4...7: (a, b) = (word(rest.prefix(4)), word(rest.suffix(4)))
  case 1...3: a = word([rest.first!, Array(rest)[n / 2], rest.last!])
  default: break
  }
  return mix(c0 ^ length, mix(a ^ c1 ^ s1, b ^ h))
}

@Suite struct KeyHashTests {
  @Test func `the hash is the one that the format describes`() {
    var random = SeededGenerator(for: "KeyHashTests")
    for count in Array(0...100) + [255, 256, 1000, 65_535] {
      let key = random.bytes(count)
      let (first, second) = (random.next(), random.next())
      #expect(KeyHash.of(key.rawSpan, HashSeed(first, second)) == described(key, first, second))
    }
  }

  /// The examples that FORMAT.md gives under *Hash*.
  @Test(
    arguments: [
      ("", 0x3DB2_9F63_91B2_6D5E), ("6901234567892", 0x50D2_AFBB_A53F_44AE),
      ("0123456789abcdef", 0xD69A_AB9F_158E_B15F),
      ("0123456789abcdefg", 0x4000_A10C_09DA_D9CB),
      ("0123456789abcdefghijklmnopqrstuvwxyz", 0xBDC4_A7E9_EF0D_95F7),
    ] as [(String, UInt64)])
  func `the examples of the format are right`(_ key: String, _ hash: UInt64) {
    #expect(KeyHash.of(Array(key.utf8).rawSpan, HashSeed(1, 2)) == hash)
  }

  @Test func `an offset's hash is that of its four bytes`() {
    var random = SeededGenerator(for: "KeyHashTests, offsets")
    for _ in 0..<100 {
      let seed = HashSeed(random.next(), random.next())
      let raw = UInt32(truncatingIfNeeded: random.next())
      var writer = ByteWriter()
      writer.put(raw)
      #expect(KeyHash.of(UnitOffset(rawValue: raw), seed) == KeyHash.of(writer.bytes.rawSpan, seed))
    }
  }

  @Test func `numbers in a row spread over buckets, tags and filters`() {
    let seed = HashSeed(1, 2)
    let count = 20_000
    let buckets = 1000
    var perBucket = [Int](repeating: 0, count: buckets)
    var tags: Set<UInt16> = []
    var filters = [Int](repeating: 0, count: 24)
    for number in 0..<count {
      let key = Array("69\(1_000_000_000 + number)".utf8)
      let hash = KeyHash.of(key.rawSpan, seed)
      perBucket[Bucket.home(hash, bucketCount: UInt32(buckets))] += 1
      tags.insert(Bucket.tag(hash))
      filters[Bucket.filterBit(hash).trailingZeroBitCount] += 1
    }
    // Twenty in each bucket, give or take: six standard deviations.
    #expect(perBucket.allSatisfy { (1...47).contains($0) })
    // 2^16 · (1 − e^(−count / 2^16))
    #expect((17_000...17_500).contains(tags.count))
    #expect(filters.allSatisfy { (600...1100).contains($0) })
  }

  @Test func `every bit of key and seed changes about half of the hash`() {
    var random = SeededGenerator(for: "KeyHashTests, avalanche")
    for count in [1, 3, 4, 7, 8, 13, 16, 17, 40] {
      var key = random.bytes(count)
      let seed = HashSeed(random.next(), random.next())
      let hash = KeyHash.of(key.rawSpan, seed)
      for bit in 0..<(8 * count) {
        key[bit / 8] ^= 1 << UInt8(bit % 8)
        #expect((8...56).contains((hash ^ KeyHash.of(key.rawSpan, seed)).nonzeroBitCount))
        key[bit / 8] ^= 1 << UInt8(bit % 8)
      }
      for bit in 0..<64 {
        let (first, second) = (seed.words.0, seed.words.1)
        for other in [HashSeed(first ^ 1 << UInt64(bit), second), HashSeed(first, second ^ 1 << UInt64(bit))] {
          #expect((8...56).contains((hash ^ KeyHash.of(key.rawSpan, other)).nonzeroBitCount))
        }
      }
    }
  }

  @Test func `a home bucket is always one of the block's`() {
    for buckets: UInt32 in [1, 2, 3, 1000, .max] {
      #expect(Bucket.home(0, bucketCount: buckets) == 0)
      #expect(Bucket.home(.max, bucketCount: buckets) == Int(buckets) - 1)
    }
  }
}
