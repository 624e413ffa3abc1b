/// There is nothing to synchronise with, or for.
public enum SyncUnavailable: Error, Sendable, Equatable, CustomStringConvertible {
  /// ``DaemonOptions/sync`` is `nil`.
  case noServer
  /// What belongs to nobody is synchronised with nothing.
  case nobodySignedIn

  /// Why nothing is synchronised, for people.
  public var description: String {
    switch self {
    case .noServer: "no server is configured to synchronise the catalogue with"
    case .nobodySignedIn: "nobody is signed in whose catalogue could be synchronised"
    }
  }
}
