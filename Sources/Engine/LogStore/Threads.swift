import Dispatch
import Platform
import Synchronization

/// Work that several threads share, such as the scan of a large table.
package enum Threads {
  /// The maximum number of threads, so that a query leaves something of a large machine to others.
  private static let limit = 4

  /// The number of threads to use.
  package static var count: Int { min(Processors.count, limit) }

  /// The number of parts to divide work into. There are more than threads, because another program may slow down one of
  /// the processors.
  package static var partCount: Int { count == 1 ? 1 : 4 * count }

  /// Calls `body` with each element, on several threads at the same time, of which the calling thread is one.
  ///
  /// - Returns: The results, in the order of the elements.
  package static func map<Element: Sendable, Result: Sendable>(
    _ elements: [Element], _ body: @Sendable (Element) -> Result
  ) -> [Result] {
    if elements.count == 1 { return [body(elements[0])] }
    // Guards the results. The lock is held only to store one.
    let results = Mutex([Result?](repeating: nil, count: elements.count))
    DispatchQueue.concurrentPerform(iterations: elements.count) { index in
      let result = body(elements[index])
      results.withLock { $0[index] = result }
    }
    return results.withLock { $0 }.compactMap { $0 }
  }

  /// Calls `body` with parts of `elements`, which have at least `minimum` elements each, on several threads.
  ///
  /// - Returns: The results, in the order of the parts.
  package static func map<Element: Sendable, Result: Sendable>(
    _ elements: ArraySlice<Element>, atLeast minimum: Int, _ body: @Sendable (ArraySlice<Element>) -> Result
  ) -> [Result] {
    let parts = max(1, min(partCount, elements.count / minimum))
    let start = elements.startIndex
    return map(
      (0..<parts).map { part in
        elements[(start + part * elements.count / parts)..<(start + (part + 1) * elements.count / parts)]
      }, body)
  }
}
