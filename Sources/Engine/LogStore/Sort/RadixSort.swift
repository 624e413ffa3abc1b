/// A radix sort, which compares nothing: it distributes the elements by one byte of their number after another, the
/// lowest first.
///
/// Bytes that all numbers have in common are skipped, so numbers that differ in few bytes take few passes. Hashes
/// differ in all bytes: `[IndexEntry].sortByHash()` sorts them by the highest bits first.
enum RadixSort {
  /// The number of elements up to which an insertion sort is used instead.
  private static var fewElements: Int { 32 }

  /// Sorts elements by the number that `key` returns for each. Elements with the same number keep their order.
  ///
  /// - Complexity: Two passes over the elements for each byte in which their numbers differ, and memory for a second
  ///   copy of the elements.
  @inline(__always)
  static func sort<Element: BitwiseCopyable>(_ elements: inout [Element], by key: (Element) -> UInt64) {
    guard elements.count > fewElements else { return insertionSort(&elements, by: key) }
    let first = key(elements[0])
    var varying: UInt64 = 0
    for index in elements.indices { varying |= key(elements[index]) ^ first }
    if varying == 0 { return }
    var other = [Element](repeating: elements[0], count: elements.count)
    for shift in stride(from: 0 as UInt64, to: 64, by: 8) where varying >> shift & 0xFF != 0 {
      distribute(elements.span, into: &other, by: { Int(truncatingIfNeeded: key($0) >> shift & 0xFF) })
      swap(&elements, &other)
    }
  }

  /// Copies the elements in the order of their digits, which are 0 to 255.
  @inline(__always)
  private static func distribute<Element: BitwiseCopyable>(
    _ elements: Span<Element>, into other: inout [Element], by digit: (Element) -> Int
  ) {
    // First how many elements have each digit, then where the next one of them goes.
    var positions = [Int](repeating: 0, count: 256)
    var next = positions.mutableSpan
    for index in elements.indices { next[digit(elements[index])] &+= 1 }
    var sum = 0
    for value in next.indices { (next[value], sum) = (sum, sum &+ next[value]) }
    var output = other.mutableSpan
    for index in elements.indices {
      let value = digit(elements[index])
      output[next[value]] = elements[index]
      next[value] &+= 1
    }
  }

  @inline(__always)
  private static func insertionSort<Element: BitwiseCopyable>(
    _ elements: inout [Element], by key: (Element) -> UInt64
  ) {
    var span = elements.mutableSpan
    for index in span.indices.dropFirst() {
      let element = span[index]
      var hole = index
      while hole > 0, key(span[hole - 1]) > key(element) {
        span[hole] = span[hole - 1]
        hole -= 1
      }
      span[hole] = element
    }
  }
}
