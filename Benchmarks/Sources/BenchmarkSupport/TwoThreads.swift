import Dispatch
import Synchronization

/// The same work on two threads at once.
package enum TwoThreads {
  /// Each thread has its own half of `range`. What `body` returns is added.
  ///
  /// - Returns: the sum, and for each thread what it took.
  package static func run(
    _ range: Range<Int>, _ body: @Sendable (_ thread: Int, _ half: Range<Int>) throws -> UInt64
  ) throws -> (UInt64, [Elapsed]) {
    let middle = range.lowerBound + range.count / 2
    let halves = [range.lowerBound..<middle, middle..<range.upperBound]
    // Guards what the two threads bring back.
    let results = Mutex<(sum: UInt64, times: [Elapsed], failure: (any Error)?)>((0, [], nil))
    DispatchQueue.concurrentPerform(iterations: 2) { thread in
      do {
        let (sum, elapsed) = try Elapsed.of { try body(thread, halves[thread]) }
        results.withLock { results in
          results.sum &+= sum
          results.times.append(elapsed)
        }
      } catch {
        results.withLock { $0.failure = error }
      }
    }
    return try results.withLock { results in
      if let failure = results.failure { throw failure }
      return (results.sum, results.times)
    }
  }
}
