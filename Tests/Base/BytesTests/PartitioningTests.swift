import Bytes
import RandomTestSupport
import Testing

@Suite struct PartitioningTests {
  @Test func `the first index of the second part is found wherever it is`() {
    for count in 0..<40 {
      for first in 0...count {
        #expect((5..<5 + count).partitioningIndex { $0 >= 5 + first } == 5 + first)
      }
    }
  }

  @Test func `a search asks only about indices of the range, and each at most once`() {
    var random = SeededGenerator(for: "a search asks only about indices of the range, and each at most once")
    for _ in 0..<200 {
      let range = 0..<Int.random(in: 0..<1_000_000, using: &random)
      let first = Int.random(in: 0...range.count, using: &random)
      var asked: Set<Int> = []
      let found = range.partitioningIndex { index in
        #expect(range.contains(index) && asked.insert(index).inserted)
        return index >= first
      }
      #expect(found == first && asked.count <= 20)
    }
  }

  @Test func `the largest indices do not overflow`() {
    #expect((Int.max - 3..<Int.max).partitioningIndex { $0 >= Int.max - 1 } == Int.max - 1)
  }

  @Test func `an error of the question ends the search`() {
    struct Refused: Error {}
    #expect(throws: Refused.self) { try (0..<8).partitioningIndex { _ throws(Refused) in throw Refused() } }
  }
}
