/// Decides from one look at the files to the next whether they are to be read again.
///
/// Files are read once they have been still for one interval, so that a file that is just being written is
/// not read by halves, and a state that could not be read is not tried again before it changes.
struct ReloadGate<Signature: Equatable> {
  /// The state that is being served.
  private var served: Signature
  /// The state that was seen last time and differs from the served one.
  private var waiting: Signature?
  private var failed: Signature?

  init(served: Signature) { self.served = served }

  /// Takes a look; true means: read now, then report with ``succeeded(with:)`` or ``failed(with:)``.
  mutating func isReady(_ signature: Signature) -> Bool {
    guard signature != served, signature != failed else {
      waiting = nil
      return false
    }
    defer { waiting = signature }
    return waiting == signature
  }

  mutating func succeeded(with signature: Signature) {
    served = signature
    failed = nil
    waiting = nil
  }

  mutating func failed(with signature: Signature) {
    failed = signature
    waiting = nil
  }
}
