import Bytes
import CChecksum
import RandomTestSupport
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
    let bytes = random.bytes(10_000)
    for _ in 0..<(3000 * depth) {
      let start = Int.random(in: 0..<300, using: &random)
      // Up to one word, one stream, three of them, and three of them several times.
      let count = Int.random(in: 0...[8, 70, 400, 9000].randomElement(using: &random)!, using: &random)
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
}
