import Bytes
import RandomTestSupport
import RecordFormat
import StoreTestSupport
import Testing

@Suite struct ObjectChecksumTests {
  @Test func `a salt is the state after the four bytes of the unit offset`() {
    let unit = UnitOffset(rawValue: 0x0403_0201)
    #expect(Checksum.salt(unit) == Checksum.of([1, 2, 3, 4]))
    #expect(Checksum.of([9, 9], from: Checksum.salt(unit)) == Checksum.of([1, 2, 3, 4, 9, 9]))
  }

  /// Gives `bytes`, which stand at `unit`, the checksum that they have to carry.
  private func seal(_ bytes: inout [UInt8], at unit: UnitOffset) {
    let salt = (0..<4).map { UInt8(truncatingIfNeeded: unit.rawValue >> (8 * $0)) }
    let crc = Checksum.of(Array(bytes[4...]), from: Checksum.of(salt))
    for index in 0..<4 { bytes[index] = UInt8(truncatingIfNeeded: crc >> (8 * index)) }
  }

  private func header(_ bytes: [UInt8], at unit: UnitOffset) -> UInt32 {
    Checksum.checkedHeader(bytes.rawSpan, at: unit)
  }

  private func isWhole(_ bytes: [UInt8], at unit: UnitOffset) -> Bool { Checksum.isValid(bytes.rawSpan, at: unit) }

  private func word(_ bytes: [UInt8]) -> UInt32 { bytes.rawSpan.u32(at: 4) }

  /// Every length has its own number of whole words, and bytes behind them.
  @Test func `an object of any length passes with its checksum, and not with another byte or at another place`() {
    var random = SeededGenerator(for: "ObjectChecksumTests, objects")
    for length in 8...(300 * min(depth, 10)) {
      var bytes = random.bytes(length + 3)
      let unit = UnitOffset(rawValue: UInt32(truncatingIfNeeded: random.next()))
      for index in 0..<3 { bytes[4 + index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
      var object = Array(bytes[..<length])
      seal(&object, at: unit)
      bytes.replaceSubrange(..<length, with: object)
      let word = word(bytes)
      #expect(header(bytes, at: unit) == word)
      #expect(header(object, at: unit) == word)
      #expect(isWhole(object, at: unit))
      #expect(header(bytes, at: UnitOffset(rawValue: unit.rawValue ^ 1)) == 0)
      #expect(header(Array(object.dropLast()), at: unit) == 0)
      for place in 0..<length {
        var changed = object
        changed[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
        // A changed length may lead to bytes that pass, once in four thousand million times.
        #expect(header(changed, at: unit) == 0)
        #expect(!isWhole(changed, at: unit))
      }
    }
  }

  /// Three streams, more than once, and what they leave.
  @Test func `a long object passes with its checksum, and not with another byte`() {
    var random = SeededGenerator(for: "ObjectChecksumTests, long objects")
    let lengths = Array(190...230) + [3079, 3080, 3081, 3104, 6151, 6152, 6200, 6360, 20_000, 100_003]
    for length in lengths {
      let unit = UnitOffset(rawValue: UInt32(truncatingIfNeeded: random.next()))
      var object = random.bytes(length)
      for index in 0..<3 { object[4 + index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
      seal(&object, at: unit)
      #expect(header(object, at: unit) == word(object) && isWhole(object, at: unit))
      for _ in 0..<50 {
        var changed = object
        changed[Int.random(in: 8..<length, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
        #expect(header(changed, at: unit) == 0 && !isWhole(changed, at: unit))
      }
    }
  }

  @Test func `an object that is shorter than its header does not pass`() {
    for length in 0..<8 {
      var bytes = [UInt8](repeating: 0, count: 16)
      bytes[4] = UInt8(length)
      seal(&bytes, at: UnitOffset(rawValue: 7))
      #expect(header(bytes, at: UnitOffset(rawValue: 7)) == 0)
    }
    let few: [UInt8] = [0, 0, 0, 0, 8, 0, 0]
    #expect(header(few, at: UnitOffset(rawValue: 7)) == 0)
  }

  @Test func `a bucket names the entries whose tag fits, and nothing if it does not pass its check`() {
    var random = SeededGenerator(for: "ObjectChecksumTests, buckets")
    for _ in 0..<(300 * depth) {
      var bytes = random.bytes(64)
      let unit = UnitOffset(rawValue: UInt32(truncatingIfNeeded: random.next()))
      let hash = random.next()
      let count = Int.random(in: 0...10, using: &random)
      bytes[7] = UInt8(count)
      for entry in 0..<9 where Bool.random(using: &random) {
        bytes[Bucket.tags + 2 * entry] = UInt8(truncatingIfNeeded: hash)
        bytes[Bucket.tags + 2 * entry + 1] = UInt8(truncatingIfNeeded: hash >> 8)
      }
      let expected = (0..<min(count, 9)).filter { bytes.rawSpan.u16(at: Bucket.tags + 2 * $0) == Bucket.tag(hash) }
      seal(&bytes, at: unit)
      guard var answer = Bucket.search(bytes.rawSpan, at: unit, hash) else {
        #expect(count == 10)
        continue
      }
      #expect(count <= 9)
      #expect(answer.continues(hash) == (word(bytes) & Bucket.filterBit(hash) != 0))
      var found: [Int] = []
      while answer.hasMatch { found.append(answer.takeMatch()) }
      #expect(found == expected)
      bytes[Int.random(in: 0..<64, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
      let isRefused = Bucket.search(bytes.rawSpan, at: unit, hash) == nil
      #expect(isRefused)
      #expect(Bucket.Answer.unasked.continues(hash) && !Bucket.Answer.unasked.hasMatch)
    }
  }
}
