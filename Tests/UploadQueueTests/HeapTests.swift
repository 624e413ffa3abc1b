import RandomTestSupport
import Testing

@testable import UploadQueue

@Suite struct HeapTests {
  @Test func `elements come out in order, whatever order they went in`() {
    var random = SeededGenerator(for: "HeapTests")
    for _ in 0..<(50 * depth) {
      var heap = Heap<Int>()
      var model: [Int] = []
      for _ in 0..<200 {
        if model.isEmpty || Int.random(in: 0..<3, using: &random) > 0 {
          let value = Int.random(in: 0..<50, using: &random)
          heap.insert(value)
          model.append(value)
          model.sort()
        } else {
          #expect(heap.removeFirst() == model.removeFirst())
        }
        #expect(heap.first == model.first)
        #expect(heap.count == model.count)
      }
    }
  }
}
