import CurlClient
import TextFormat

extension ServerCertificate {
  /// Why the certificate is not trusted, at the time `now` in seconds since 1970.
  func reason(now: Int64) -> String {
    if now > validity.upperBound { return "the server's certificate expired on \(Self.day(validity.upperBound))" }
    if now < validity.lowerBound {
      return
        "the server's certificate is valid from \(Self.day(validity.lowerBound)) on, and this machine's clock says "
        + Self.day(now)
    }
    return "the server's certificate is signed by an authority that is not trusted here"
  }

  private static func day(_ seconds: Int64) -> String {
    // A time far outside of the years 1 to 9999 is clamped to them.
    let milliseconds = seconds.multipliedReportingOverflow(by: 1000)
    let time = CivilTime(milliseconds: milliseconds.overflow ? (seconds < 0 ? .min : .max) : milliseconds.partialValue)
    return String(time.secondsText.prefix(10))
  }
}
