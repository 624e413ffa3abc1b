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

  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  public static var now: UnixTime {
    var time = timespec()
    // The structure is this function's own, and the clock exists on every system.
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return UnixTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  /// `2026-11-21T19:20:01.123Z`.
  var text: String {
    func padded(_ number: Int64, _ width: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    let days = milliseconds.flooredQuotient(86_400_000)
    let rest = milliseconds - days * 86_400_000
    // Howard Hinnant's civil_from_days (chrono-Compatible Low-Level Date Algorithms): years begin in March.
    let shifted = days + 719_468
    let era = shifted.flooredQuotient(146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    let hours = padded(rest / 3_600_000, 2)
    let minutes = padded(rest / 60_000 % 60, 2)
    let seconds = padded(rest / 1000 % 60, 2)
    return "\(date)T\(hours):\(minutes):\(seconds).\(padded(rest % 1000, 3))Z"
  }
}

extension Int64 {
  /// The quotient rounded down. The divisor is positive.
  fileprivate func flooredQuotient(_ divisor: Int64) -> Int64 {
    self >= 0 ? self / divisor : (self - divisor + 1) / divisor
  }
}
