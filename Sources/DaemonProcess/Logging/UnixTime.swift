import TextFormat

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A time of the system's clock.
public struct UnixTime: Sendable, Equatable {
  /// Since 1970.
  public var milliseconds: Int64

  /// Creates a time from milliseconds since 1970 UTC.
  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// What the system's clock says, cut to milliseconds.
  public static var now: UnixTime {
    var time = timespec()
    // The structure is this function's own, and the clock exists on every system.
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return UnixTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  /// `2026-11-21T19:20:01.123Z`.
  var text: String { CivilTime(milliseconds: milliseconds).text }
}
