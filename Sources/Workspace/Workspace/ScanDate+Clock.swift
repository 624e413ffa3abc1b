public import Barcodes
import LogStore
import Platform

extension ScanDate {
  /// Creates the date of a moment in the machine's time zone: goods expire at the end of the local day.
  ///
  /// - Parameter seconds: The moment, in seconds since 1970-01-01 UTC. One before 1970 or after the year 9999 is
  ///   moved to that end.
  public init(localAt seconds: Int64) {
    let last: Int64 = 253_402_300_799
    let moment = min(max(seconds, 0), last)
    let local = min(max(moment + Int64(LocalTime.secondsAheadOfUTC(at: moment)), 0), last)
    self.init(daysSince1970: Int(local / 86_400))
  }

  /// The date of the machine's clock, in its time zone.
  public static var today: ScanDate {
    ScanDate(localAt: StoreEnvironment.system.now() / 1_000_000)
  }
}
