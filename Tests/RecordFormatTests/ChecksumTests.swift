import CShims
import RandomTestSupport
import RecordFormat
import StoreTestSupport
import Testing

@Suite struct ChecksumTests {
  /// RFC 3720, appendix B.4. The RFC prints the bytes in the order in which they are sent, lowest first.
  static let vectors: [(bytes: [UInt8], crc: UInt32)] = [
    ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
    ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
    (Array(0...31), 0x46DD_794E),
    (Array((0...31).reversed()), 0x113F_DB5C),
    (
      [
        0x01, 0xC0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x14, 0, 0, 0, 0, 0, 0x04, 0, 0, 0, 0, 0x14, 0,
        0, 0,
        0x18, 0x28, 0, 0, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0, 0, 0,
      ], 0xD996_3A56
    ),
    (Array("123456789".utf8), 0xE306_9283), ([], 0),
  ]

  @Test(arguments: vectors.indices)
  func `the vectors of RFC 3720 hold`(_ index: Int) {
    let vector = Self.vectors[index]
    #expect(Checksum.of(vector.bytes) == vector.crc)
    #expect(table(vector.bytes[...]) == vector.crc)
  }

  private func table(_ bytes: ArraySlice<UInt8>, from crc: UInt32 = 0) -> UInt32 {
    // The buffer is used inside the closure only; an empty one has a base address too, as its array has one.
    unsafe bytes.withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress else { return crc }
      return unsafe shelfmark_crc32c_table(crc, base, buffer.count)
    }
  }

  @Test func `instruction and table agree at any length and alignment`() {
    var random = SeededGenerator(for: "ChecksumTests")
    let bytes = random.bytes(5000)
    for _ in 0..<(3000 * depth) {
      let start = Int.random(in: 0..<300, using: &random)
      let count =
        Bool.random(using: &random)
        ? Int.random(in: 0..<70, using: &random) : Int.random(in: 0...4000, using: &random)
      let crc = UInt32(truncatingIfNeeded: random.next())
      #expect(
        Checksum.of(bytes.rawSpan.slice(start, count), from: crc)
          == table(bytes[start..<(start + count)], from: crc))
    }
  }

  @Test func `a checksum can be continued`() {
    var random = SeededGenerator(for: "ChecksumTests, continued")
    let bytes = random.bytes(300)
    for split in 0...300 {
      let first = Checksum.of(bytes.rawSpan.slice(0, split))
      #expect(Checksum.of(bytes.rawSpan.slice(split, 300 - split), from: first) == Checksum.of(bytes))
    }
  }

  @Test func `a salt is the state after the four bytes of the unit offset`() {
    let unit = UnitOffset(rawValue: 0x0403_0201)
    #expect(Checksum.salt(unit) == Checksum.of([1, 2, 3, 4]))
    #expect(Checksum.of([9, 9], from: Checksum.salt(unit)) == Checksum.of([1, 2, 3, 4, 9, 9]))
  }

  // MARK: Objects and buckets

  /// Gives `bytes`, which stand at `unit`, the checksum that they have to carry, from the table alone.
  private func seal(_ bytes: inout [UInt8], at unit: UnitOffset) {
    let salt = (0..<4).map { UInt8(truncatingIfNeeded: unit.rawValue >> (8 * $0)) }
    let crc = table(bytes[4...], from: table(salt[...]))
    for index in 0..<4 { bytes[index] = UInt8(truncatingIfNeeded: crc >> (8 * index)) }
  }

  private func header(_ bytes: [UInt8], at unit: UnitOffset) -> UInt32 {
    Checksum.headerOfWhole(bytes.rawSpan, at: unit)
  }

  private func isWhole(_ bytes: [UInt8], at unit: UnitOffset) -> Bool { Checksum.isValid(bytes.rawSpan, at: unit) }

  private func word(_ bytes: [UInt8]) -> UInt32 { bytes.rawSpan.u32(at: 4) }

  /// Every length has its own number of whole words, and bytes behind them.
  @Test func `an object of any length passes with its checksum, and not with another byte or at another place`() {
    var random = SeededGenerator(for: "ChecksumTests, objects")
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
    var random = SeededGenerator(for: "ChecksumTests, buckets")
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
      #expect(answer.goesOn(hash) == (word(bytes) & Bucket.filterBit(hash) != 0))
      var found: [Int] = []
      while answer.hasMatch { found.append(answer.takeMatch()) }
      #expect(found == expected)
      bytes[Int.random(in: 0..<64, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
      let isRefused = Bucket.search(bytes.rawSpan, at: unit, hash) == nil
      #expect(isRefused)
      #expect(Bucket.Answer.unasked.goesOn(hash) && !Bucket.Answer.unasked.hasMatch)
    }
  }
}
