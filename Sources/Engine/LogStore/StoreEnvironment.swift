import Platform

/// A clock and a source of random numbers, which tests can replace.
package struct StoreEnvironment: Sendable {
  /// A closure that returns the time in microseconds since 1970 UTC.
  package var now: @Sendable () -> Int64
  /// A closure that returns 64 unpredictable random bits.
  package var random: @Sendable () -> UInt64
  /// A closure that returns the nanoseconds of a monotonic clock.
  package var uptime: @Sendable () -> Int64 = {
    var time = timespec()
    // The call fills in the local structure.
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
  /// A closure that waits for this long, less than a second.
  package var pause: @Sendable (Duration) -> Void
  /// The segment size above which a segment is written in parts. Tests use a smaller one to get many such segments.
  package var flushLimit = SegmentBuilder.flushLimit
  /// The memory, in bytes, for the keys of an ordered index of a transaction, or for its finished pages. What exceeds
  /// it goes to a temporary file. Tests use less to get such files.
  package var sortMemory = 2 << 20
  /// A closure that is called with notices about what a store did on its own. It may be called on any thread.
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
  /// - Parameter notify: A closure that is called with notices about what a store did on its own. It may be called on
  ///   any thread.
  package static func system(notify: @escaping @Sendable (StoreNotice) -> Void) -> StoreEnvironment {
    var environment = system
    environment.notify = notify
    return environment
  }

  /// The clock and the random numbers of the operating system.
  package static let system = StoreEnvironment(
    now: {
      var time = timespec()
      // The call fills in the local structure.
      unsafe clock_gettime(CLOCK_REALTIME, &time)
      return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    },
    random: {
      var generator = SystemRandomNumberGenerator()
      return generator.next()
    },
    pause: { duration in usleep(UInt32(duration / .microseconds(1))) })
}
