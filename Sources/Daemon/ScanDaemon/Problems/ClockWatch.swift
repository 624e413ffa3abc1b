import Essentials
import Synchronization
import TextFormat
import UploadQueue

/// Notices that the clock was set back: while the daemon runs, by a clock that only goes forward, and before that, by the
/// newest time in the stores.
///
/// Nothing waits because of it, since pauses are lengths. But ages, and the times in answers, were wrong before, or are
/// wrong now.
final class ClockWatch: Sendable {
  /// What a clock may be corrected by, or a store may be ahead by, without being a problem.
  static let tolerance: Duration = .seconds(10)
  /// How long the problem lasts once the stores hold no time from the future.
  static let problemTime: Duration = .seconds(3600)

  fileprivate struct State {
    /// The wall clock and the steady clock at the last check.
    var last: (wall: Int64, steady: Int64)?
    var message: String?
    /// When the problem ends, on the steady clock.
    var end: Int64 = .min
  }

  private let state = Mutex(State())
  private let time: QueueEnvironment

  init(_ time: QueueEnvironment) { self.time = time }

  /// Compares the clocks.
  ///
  /// - Parameter newest: The newest time in each store, in microseconds since 1970, with what it is the time of.
  /// - Returns: What happened; `nil` if the clock was not set back, or that was long ago.
  func check(newest: [(what: String, time: Int64)]) -> String? {
    let (wall, steady) = (time.now(), time.uptime())
    let tolerance = Self.tolerance.microseconds
    return state.withLock { state in
      defer { state.last = (wall, steady) }
      if let last = state.last {
        let expected = last.wall + (steady - last.steady)
        if wall < expected - tolerance {
          state.begin(
            "the clock was set back by \(Self.words(expected - wall)): it says \(Self.date(wall)) instead of"
              + " \(Self.date(expected))", at: steady)
        } else if wall > expected + tolerance {
          // Somebody has corrected it.
          state.message = nil
        }
      }
      let ahead = newest.filter { $0.time > wall + tolerance }.max { $0.time < $1.time }
      if let ahead {
        if state.message == nil {
          state.message =
            "the clock was set back by at least \(Self.words(ahead.time - wall)): it says \(Self.date(wall)), and"
            + " \(ahead.what) is of \(Self.date(ahead.time))"
        }
        state.end = steady + Self.problemTime.microseconds
      }
      if steady >= state.end { state.message = nil }
      return state.message
    }
  }

  private static func date(_ microseconds: Int64) -> String { Date(microseconds: microseconds).precise }

  /// A length of time in its two largest units: `43 years 15 days`.
  static func words(_ microseconds: Int64) -> String {
    var left = microseconds / 1_000_000
    var words: [String] = []
    for (unit, seconds): (String, Int64) in [
      ("year", 31_556_952), ("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1),
    ] {
      let count = left / seconds
      left -= count * seconds
      if count > 0 { words.append("\(count) \(unit)\(count == 1 ? "" : "s")") }
    }
    return words.prefix(2).joined(separator: " ")
  }
}

extension ClockWatch.State {
  fileprivate mutating func begin(_ words: String, at steady: Int64) {
    message = words
    end = steady + ClockWatch.problemTime.microseconds
  }
}
