import Essentials
import Synchronization
import TextFormat

/// The `Date` header (RFC 9110, 5.6.7), formatted once a second.
package final class HTTPDate: Sendable {
  private let last = Mutex((second: Int64.min, text: ""))

  /// Creates a clock.
  package init() {}

  /// - Parameter second: The time in seconds since 1970.
  package func text(at second: Int64 = Int64(Date().timeIntervalSince1970)) -> String {
    last.withLock { last in
      if last.second != second {
        // Times are clamped to the range from 1970 to the last second of the year 9999.
        let (milliseconds, overflows) = max(0, second).multipliedReportingOverflow(by: 1000)
        last = (second, CivilTime(milliseconds: overflows ? .max : milliseconds).httpText)
      }
      return last.text
    }
  }
}
