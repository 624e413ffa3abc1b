import Synchronization
import UploadQueue

/// A generator of ids for scans and set sessions: UUIDs of version 7, which sort in the order in which they were
/// generated.
final class ScanIDs: Sendable {
  /// The tick of the last id; see `TimeOrderedID`. Only increases.
  private let last = Mutex<UInt64>(0)
  private let random: @Sendable () -> UInt64

  init(random: @escaping @Sendable () -> UInt64) { self.random = random }

  /// - Parameter now: The time in microseconds since 1970.
  func next(now: Int64) -> String {
    let tick = last.withLock { last in
      last = TimeOrderedID.tick(after: last, now: now)
      return last
    }
    return TimeOrderedID.text(tick: tick, random: random())
  }
}
