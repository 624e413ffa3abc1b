import Bytes
import RandomTestSupport
import Testing

@Suite struct SpanComparisonTests {
  @Test func `spans are the same if all of their bytes are`() {
    var random = SeededGenerator(for: "SpanComparisonTests")
    for count in 0...40 {
      // The bytes around the spans differ.
      let first = random.bytes(count + 2)
      var second = random.bytes(count + 2)
      second.replaceSubrange(1..<count + 1, with: first[1..<count + 1])
      func isSame(_ otherCount: Int? = nil) -> Bool {
        first.rawSpan.slice(1, count).hasSameBytes(as: second.rawSpan.slice(1, otherCount ?? count))
      }
      #expect(isSame())
      #expect(!isSame(count + 1))
      for index in 1..<count + 1 {
        second[index] ^= 1 << UInt8.random(in: 0...7, using: &random)
        #expect(!isSame(), "byte \(index) of \(count)")
        second[index] = first[index]
      }
    }
  }
}
