#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Time and chance, so that tests can give their own.
package struct StoreEnvironment: Sendable {
  /// Microseconds since 1970 UTC.
  package var now: @Sendable () -> Int64
  /// 64 random bits that nobody can predict.
  package var random: @Sendable () -> UInt64
  /// Nanoseconds of a clock that nobody sets.
  package var uptime: @Sendable () -> Int64 = {
    var time = timespec()
    // The call fills the local structure.
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
  /// Waits for so long, less than a second.
  package var pause: @Sendable (Duration) -> Void
  /// A segment that grows past this is written in pieces. Smaller in tests, which want many such segments.
  package var flushLimit = SegmentBuilder.flushLimit
  /// Learns what a store did without being asked. May be called on any thread.
  package var notify: @Sendable (StoreNotice) -> Void = { _ in }

  package init(
    now: @escaping @Sendable () -> Int64, random: @escaping @Sendable () -> UInt64,
    pause: @escaping @Sendable (Duration) -> Void
  ) {
    self.now = now
    self.random = random
    self.pause = pause
  }

  /// The clock and the random numbers of the operating system.
  ///
  /// - Parameter notify: Learns what a store did without being asked. May be called on any thread.
  package static func system(notify: @escaping @Sendable (StoreNotice) -> Void) -> StoreEnvironment {
    var environment = system
    environment.notify = notify
    return environment
  }

  /// The clock and the random numbers of the operating system.
  package static let system = StoreEnvironment(
    now: {
      var time = timespec()
      // The call fills the local structure.
      unsafe clock_gettime(CLOCK_REALTIME, &time)
      return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    },
    random: {
      var generator = SystemRandomNumberGenerator()
      return generator.next()
    },
    pause: { duration in usleep(UInt32(duration / .microseconds(1))) })
}
