/// The decision, from one check of the files to the next, whether to read them again.
///
/// Files are read after they have been unchanged for one interval, so that a file is not read while it is being
/// written. A state that could not be read is not tried again before it changes.
struct ReloadGate<Signature: Equatable> {
  /// The state that is being served.
  private var served: Signature
  /// The state seen by the last check, if it differs from the served one.
  private var waiting: Signature?
  private var failed: Signature?

  init(served: Signature) { self.served = served }

  /// Processes a check. If it returns `true`, read the files now, then call ``succeeded(with:)`` or ``failed(with:)``.
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

  /// The files were read, but the result cannot be served yet: they are read again.
  mutating func postponed() { waiting = nil }
}
