import Bytes
import RandomTestSupport
import StoreTestSupport
import Testing

@Suite struct ByteReaderTests {
  @Test func `what a writer put is read in order`() {
    var writer = ByteWriter()
    writer.put(UInt8(1))
    writer.put(UInt16(0x0302))
    writer.put(UInt32(0x0706_0504))
    writer.put(UInt64(0x0F0E_0D0C_0B0A_0908))
    writer.put(Array("äö".utf8))
    #expect(writer.bytes.prefix(15) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])
    var reader = ByteReader(writer.bytes.rawSpan)
    #expect(reader.u8() == 1)
    #expect(reader.u16() == 0x0302)
    #expect(reader.u32() == 0x0706_0504)
    #expect(reader.u64() == 0x0F0E_0D0C_0B0A_0908)
    #expect(reader.text(4) == "äö")
    #expect(reader.remaining == 0)
  }

  @Test func `a short input is nil, not a trap, and nothing is consumed`() {
    for count in 0..<9 {
      let bytes = [UInt8](repeating: 7, count: count)
      var reader = ByteReader(bytes.rawSpan)
      #expect((reader.u64() == nil) == (count < 8))
      reader = ByteReader(bytes.rawSpan)
      #expect((reader.u32() == nil) == (count < 4))
      reader = ByteReader(bytes.rawSpan)
      #expect((reader.u16() == nil) == (count < 2))
      reader = ByteReader(bytes.rawSpan)
      #expect((reader.u8() == nil) == (count < 1))
      reader = ByteReader(bytes.rawSpan)
      #expect(reader.bytes(count + 1) == nil)
      #expect(reader.bytes(.max) == nil)
      #expect(reader.bytes(-1) == nil)
      #expect(reader.text(count + 1) == nil)
      #expect(reader.offset == 0)
      #expect(reader.bytes(count) == bytes)
      #expect(reader.bytes(0) == [])
    }
  }

  @Test func `text that is not UTF-8 is nil`() {
    let bytes: [UInt8] = [0xC3, 0x28]
    var reader = ByteReader(bytes.rawSpan)
    #expect(reader.text(2) == nil)
  }

  @Test func `random reads of random bytes never trap`() {
    var random = SeededGenerator(for: "ByteReaderTests")
    for _ in 0..<(1000 * depth) {
      let bytes = random.bytes(Int.random(in: 0...40, using: &random))
      var reader = ByteReader(bytes.rawSpan)
      for _ in 0..<20 {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: _ = reader.u8()
        case 1: _ = reader.u16()
        case 2: _ = reader.u32()
        case 3: _ = reader.u64()
        case 4: _ = reader.bytes(Int.random(in: -5...50, using: &random))
        default: _ = reader.text(Int.random(in: -5...50, using: &random))
        }
        #expect(reader.offset + reader.remaining == bytes.count)
      }
    }
  }
}
