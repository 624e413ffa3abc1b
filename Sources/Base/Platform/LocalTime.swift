/// The time zone of the machine, which `TZ` or `/etc/localtime` states.
package enum LocalTime {
  /// The number of seconds by which the machine's local time is ahead of UTC at a moment; negative west of Greenwich.
  ///
  /// - Parameter seconds: The moment, in seconds since 1970-01-01 UTC.
  package static func secondsAheadOfUTC(at seconds: Int64) -> Int {
    var moment = time_t(seconds)
    var local = unsafe tm()
    // The system fills in `local`, and leaves it as it is if the moment has no date.
    guard unsafe localtime_r(&moment, &local) != nil else { return 0 }
    return unsafe local.tm_gmtoff
  }
}
