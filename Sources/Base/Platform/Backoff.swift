/// Exponential backoff: the pauses between the repetitions of something that fails.
package struct Backoff: Sendable, Equatable {
  /// The pause after the first failure. It doubles with each further failure.
  package var first: Duration
  /// The cap of the pauses.
  package var longest: Duration

  package init(first: Duration, longest: Duration) {
    self.first = first
    self.longest = longest
  }

  /// The pause after the failure with the number `number`, from 1: `first · 2ⁿ⁻¹`, at most ``longest``.
  package func pause(afterFailure number: Int) -> Duration {
    // 2³⁰ times a millisecond is more than every cap; more doublings would only overflow.
    min(first * (1 << min(max(0, number - 1), 30)), longest)
  }

  /// A pause in the upper half of ``pause(afterFailure:)`` ("equal jitter"): those that failed together do not return
  /// together, and none returns at once.
  ///
  /// - Parameter fraction: A random number from 0 to 1.
  package func pause(afterFailure number: Int, fraction: Double) -> Duration {
    pause(afterFailure: number) * (0.5 + 0.5 * fraction)
  }
}
