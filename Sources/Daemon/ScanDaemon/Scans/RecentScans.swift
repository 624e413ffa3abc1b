import ScanInputs

/// The codes that a daemon's inputs have read recently, for the daemon that replaces it. A label that one of them has
/// read is not a new scan for the other.
///
/// Both daemons must run in one process, because times are those of its monotonic clock.
public struct RecentScans: Sendable {
  struct Input: Sendable {
    let filter: DoubleScanFilter
    let failures: [String]
  }

  let inputs: [String: Input]

  init(inputs: [String: Input]) { self.inputs = inputs }

  /// Creates an empty value.
  public init() { inputs = [:] }
}
