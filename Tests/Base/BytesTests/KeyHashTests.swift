import Bytes
import RandomTestSupport
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

  @Test func `a word's hash is that of its four bytes`() {
    var random = SeededGenerator(for: "KeyHashTests, words")
    for _ in 0..<100 {
      let seed = HashSeed(random.next(), random.next())
      let word = UInt32(truncatingIfNeeded: random.next())
      var writer = ByteWriter()
      writer.put(word)
      #expect(KeyHash.of(word, seed) == KeyHash.of(writer.bytes.rawSpan, seed))
    }
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
}
