import ScanInputs

/// What the inputs of a daemon read a moment ago, for a daemon that goes on in its place: a label that one of them read is not
/// read anew by the other.
///
/// Both are to be in one process: moments are told by its clock.
public struct RecentScans: Sendable {
  struct Input: Sendable {
    let filter: DoubleScanFilter
    let failures: [String]
  }

  let inputs: [String: Input]

  init(inputs: [String: Input]) { self.inputs = inputs }

  /// Nothing was read.
  public init() { inputs = [:] }
}
