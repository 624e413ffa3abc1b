import Platform
import TextFormat

/// A time of the system's real-time clock.
package struct UnixTime: Sendable, Equatable {
  /// Milliseconds since 1970.
  package var milliseconds: Int64

  /// Creates a time from milliseconds since 1970 UTC.
  package init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// The current time, truncated to milliseconds.
  package static var now: UnixTime {
    var time = timespec()
    // The structure is local to this function, and the clock exists on every system.
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return UnixTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  /// `2026-11-21T19:20:01.123Z`.
  var text: String { CivilTime(milliseconds: milliseconds).text }
}
