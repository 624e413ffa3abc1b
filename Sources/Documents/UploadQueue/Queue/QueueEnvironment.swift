import LogStore
import TextFormat

/// The clock, random numbers and sleep of a queue and its workers. Tests replace them to avoid waiting.
public struct QueueEnvironment: Sendable {
  /// The current time in microseconds since 1970 UTC. Somebody may set this clock, forward or back.
  public var now: @Sendable () -> Int64
  /// The microseconds of a clock that nobody sets and that only goes forward, also while the machine sleeps. Pauses are
  /// measured by it.
  public var uptime: @Sendable () -> Int64
  /// Returns 64 random bits.
  public var random: @Sendable () -> UInt64
  /// Waits for a duration. Throws `CancellationError` at once when the task is cancelled.
  public var sleep: @Sendable (Duration) async throws -> Void

  /// Creates an environment from its parts. Tests pass a clock that they advance themselves.
  ///
  /// - Parameters:
  ///   - now: The current time in microseconds since 1970 UTC.
  ///   - uptime: The clock that only goes forward; `nil` if `now` does.
  ///   - random: Returns 64 random bits.
  ///   - sleep: Waits for a duration.
  public init(
    now: @escaping @Sendable () -> Int64, uptime: (@Sendable () -> Int64)? = nil,
    random: @escaping @Sendable () -> UInt64, sleep: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.now = now
    self.uptime = uptime ?? now
    self.random = random
    self.sleep = sleep
  }

  /// The system's clocks and random numbers.
  public static let live = QueueEnvironment(
    now: StoreEnvironment.system.now, uptime: { startOfProcess.duration(to: .now).microseconds },
    random: StoreEnvironment.system.random, sleep: { try await Task.sleep(for: $0) })

  /// The time on both clocks.
  var time: QueueTime { QueueTime(wall: now(), steady: uptime()) }

  /// A random number from 0 to 1.
  package func fraction() -> Double { Double(random() >> 11) / Double((1 << 53) - 1) }
}

private let startOfProcess = ContinuousClock.now

/// The time on two clocks, in microseconds. Times that people ask for are compared with `wall`, and the ends of pauses
/// with `steady`.
struct QueueTime: Sendable, Equatable {
  /// The time since 1970 UTC. It may go back.
  var wall: Int64
  /// The time on a clock that only goes forward.
  var steady: Int64

  /// What `wall` says, or would have said, when the steady clock says this.
  func wallTime(ofSteady time: Int64) -> Int64 { wall.adding(time.subtracting(steady)) }
}
