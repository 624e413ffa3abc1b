/// A check of a body's minimum rate: it detects a body that is slower over an entire window of waiting time.
///
/// Only the time spent waiting for bytes counts, so a slow caller is not mistaken for a slow server.
struct RateGuard {
  private let bytesPerSecond: Int
  private let window: Duration
  private var waited = Duration.zero
  private var byteCount = 0

  /// - Parameters:
  ///   - bytesPerSecond: The lowest accepted rate; 0 accepts any.
  ///   - window: How long the rate may be lower.
  init(bytesPerSecond: Int, window: Duration) {
    self.bytesPerSecond = bytesPerSecond
    self.window = window
  }

  /// Counts a chunk.
  ///
  /// - Returns: Whether the rate was high enough over the window that this chunk ends; `true` inside a window.
  mutating func accepts(_ count: Int, after wait: Duration) -> Bool {
    waited += wait
    byteCount += count
    guard waited >= window else { return true }
    defer {
      waited = .zero
      byteCount = 0
    }
    return Double(byteCount) >= Double(bytesPerSecond) * (waited / .seconds(1))
  }
}
