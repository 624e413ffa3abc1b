/// What became of the machine's connections.
public struct NetworkChange: OptionSet, Sendable, Hashable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// What could not be reached may be reachable now.
  public static let cameBack = NetworkChange(rawValue: 1)
  /// What could be reached may not be any more.
  public static let wentAway = NetworkChange(rawValue: 2)
}

/// What a ``NetworkListener`` tells.
public enum NetworkEvent: Sendable, Equatable {
  case changed(NetworkChange)
  /// It will tell nothing more, and why; only where it was not stopped.
  case ended(String)
}
