/// Ends a body that trickles: fewer bytes a second than a rate over a whole window of waiting.
///
/// Time counts only while bytes are waited for, so that a caller who is slow is not taken for a server that is.
struct RateGuard {
  private let bytesPerSecond: Int
  private let window: Duration
  private var waited = Duration.zero
  private var byteCount = 0

  /// - Parameters:
  ///   - bytesPerSecond: The lowest rate that is accepted; 0 accepts any.
  ///   - window: How long the rate may be lower.
  init(bytesPerSecond: Int, window: Duration) {
    self.bytesPerSecond = bytesPerSecond
    self.window = window
  }

  /// Counts a chunk.
  ///
  /// - Returns: Whether the rate over the window that this chunk ends was high enough; true within a window.
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
