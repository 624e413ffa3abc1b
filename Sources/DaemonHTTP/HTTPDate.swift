import TextFormat
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The `Date` header (RFC 9110, 5.6.7), written once a second.
final class HTTPDate: Sendable {
  private let last = Mutex((second: Int64.min, text: ""))

  /// - Parameter second: seconds since 1970.
  func text(at second: Int64 = Int64(Date().timeIntervalSince1970)) -> String {
    last.withLock { last in
      if last.second != second {
        // Beyond the year 9999 it stays the last second of that, and before 1970 the first one.
        let (milliseconds, overflows) = max(0, second).multipliedReportingOverflow(by: 1000)
        last = (second, CivilTime(milliseconds: overflows ? .max : milliseconds).httpText)
      }
      return last.text
    }
  }
}
