/// The reason why no synchronisation is possible.
public enum SyncUnavailable: Error, Sendable, Equatable, CustomStringConvertible {
  /// ``DaemonOptions/sync`` is `nil`.
  case noServer
  /// No user is signed in. The default catalogue is not synchronised.
  case notSignedIn

  /// Why nothing is synchronised, for people.
  public var description: String {
    switch self {
    case .noServer: "no server is configured to synchronise the catalogue with"
    case .notSignedIn: "nobody is signed in whose catalogue could be synchronised"
    }
  }
}
