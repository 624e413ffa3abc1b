import Synchronization
import UploadQueue

/// Gives scans and set sessions their names: UUIDs of version 7, which sort in the order in which they were given.
final class ScanIDs: Sendable {
  /// The tick of the last one; see `TimeOrderedID`. Only grows.
  private let last = Mutex<UInt64>(0)
  private let random: @Sendable () -> UInt64

  init(random: @escaping @Sendable () -> UInt64) { self.random = random }

  /// - Parameter now: microseconds since 1970.
  func next(now: Int64) -> String {
    let tick = last.withLock { last in
      last = TimeOrderedID.tick(after: last, now: now)
      return last
    }
    return TimeOrderedID.text(tick: tick, random: random())
  }
}
