import Bytes
import RandomTestSupport
import RecordFormat
import StoreTestSupport
import Testing

@Suite struct RecordLayoutTests {
  @Test func `arbitrary records give ranges inside the record, or none`() {
    var random = SeededGenerator(for: "RecordLayoutTests")
    var readable = 0
    for _ in 0..<(20_000 * depth) {
      var bytes = random.bytes(Int.random(in: 0...120, using: &random))
      // Small counts and ends get further.
      for offset in 8..<min(30, max(8, bytes.count)) where Int.random(in: 0..<4, using: &random) > 0 {
        bytes[offset] = UInt8.random(in: 0...5, using: &random)
      }
      guard let layout = RecordLayout(bytes.rawSpan) else { continue }
      readable += 1
      #expect(layout.bodyStart <= bytes.count)
      for key in 0..<layout.keyCount {
        let range = layout.keyRange(key, in: bytes.rawSpan)
        #expect(range.lowerBound >= 10 && range.upperBound <= layout.bodyStart)
      }
      for index in 0..<layout.sharedCount { _ = layout.shared(index, in: bytes.rawSpan) }
    }
    #expect(readable > 1000)
  }

  @Test func `keys begin behind the ends, on four bytes, and the shared strings`() {
    #expect(RecordLayout.keyStart(sharedCount: 0, keyCount: 0) == 12)
    #expect(RecordLayout.keyStart(sharedCount: 0, keyCount: 1) == 12)
    #expect(RecordLayout.keyStart(sharedCount: 0, keyCount: 2) == 16)
    #expect(RecordLayout.keyStart(sharedCount: 3, keyCount: 3) == 28)
  }
}

@Suite struct KeyLengthsTests {
  @Test func `a length occurs once it was inserted, and 255 stands for all that are longer`() {
    for length in [0, 1, 63, 64, 127, 128, 200, 254] {
      var lengths = KeyLengths()
      #expect(lengths.lengths.isEmpty)
      lengths.insert(length)
      #expect(lengths.lengths == [length])
      #expect((0...300).filter(lengths.contains) == [length])
    }
    var long = KeyLengths()
    long.insert(60_000)
    #expect(long.lengths == [255])
    #expect(long.contains(255) && long.contains(256) && long.contains(65_535) && !long.contains(254))
  }

  @Test func `a union holds the lengths of both`() {
    var a = KeyLengths()
    a.insert(3)
    var b = KeyLengths()
    b.insert(200)
    a.formUnion(b)
    #expect(a.lengths == [3, 200])
  }
}
