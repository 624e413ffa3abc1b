import RandomTestSupport
import Testing

@testable import LogStore

/// A radix sort against a sort by comparison.
@Suite struct RadixSortTests {
  private struct Element: BitwiseCopyable, Equatable {
    let number: UInt64
    let position: Int
  }

  /// Sorts the numbers, and checks that equal ones keep their order.
  private func check(_ numbers: [UInt64]) {
    var elements = numbers.enumerated().map { Element(number: $1, position: $0) }
    let expected = elements.sorted { ($0.number, $0.position) < ($1.number, $1.position) }
    RadixSort.sort(&elements) { $0.number }
    #expect(elements == expected)
  }

  @Test(arguments: [0, 1, 2, 31, 32, 33, 34, 255, 256, 257, 5000])
  func `random numbers come in ascending order`(_ count: Int) {
    var random = SeededGenerator(for: "radix sort \(count)")
    check((0..<count).map { _ in random.next() })
    // Many equal numbers, and numbers that differ in one byte only.
    check((0..<count).map { _ in random.next() % 5 })
    let shift = UInt64.random(in: 0..<8, using: &random) * 8
    check((0..<count).map { _ in (random.next() & 0xFF) << shift | 1 })
  }

  @Test(arguments: [1, 32, 33, 1000])
  func `numbers in order stay, and those in reverse order are turned around`(_ count: Int) {
    let numbers = (0..<UInt64(count)).map { $0 << 20 | $0 }
    check(numbers)
    check(numbers.reversed())
    check(numbers.map { _ in .max })
  }

  @Test func `the lowest and the highest number are in place`() {
    check([.max, 0, 1, .max - 1, 1 << 63, 0] + [UInt64](repeating: 1 << 56, count: 40) + [.max, 0])
  }
}
