import JSONOutput
import Logging
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What does not work now: each problem from its first occurrence until it works again.
///
/// Each begins and ends with a line in the log; occurrences between these are counted.
final class Problems: Sendable {
  /// More than there are names: a last line against growth.
  static let maximumCount = 100

  struct Problem: Sendable {
    var since: Date
    var count: Int
    /// What was said the last time.
    var words: String
  }

  private let all = Mutex<[String: Problem]>([:])
  private let logger: Logger
  private let now: @Sendable () -> Int64

  init(_ logger: Logger, now: @escaping @Sendable () -> Int64) {
    self.logger = logger
    self.now = now
  }

  /// Something did not work.
  func note(_ name: String, _ words: String) {
    // A server's error may be long.
    let words = String(words.prefix(500))
    let time = Date(microseconds: now())
    let isNew = all.withLock { all in
      guard var problem = all[name] else {
        if all.count < Self.maximumCount { all[name] = Problem(since: time, count: 1, words: words) }
        return true
      }
      problem.count += 1
      problem.words = words
      all[name] = problem
      return false
    }
    if isNew { logger.warning("problem", metadata: ["problem": "\(name)", "reason": "\(words)"]) }
  }

  /// It works again, or still does.
  func clear(_ name: String) {
    guard let ended = all.withLock({ $0.isEmpty ? nil : $0.removeValue(forKey: name) }) else { return }
    logger.notice("problem ended", metadata: ["problem": "\(name)", "count": "\(ended.count)"])
  }

  var current: [String: Problem] { all.withLock { $0 } }

  /// What programs are told, by name.
  var json: JSONText {
    .array(
      current.sorted { $0.key < $1.key }.map { name, problem in
        .object([
          ("name", .text(name)), ("since", .text(problem.since.precise)), ("count", .int(problem.count)),
          ("message", .text(problem.words)),
        ])
      })
  }
}
