/// What became of the machine's connections.
struct NetworkChange: OptionSet, Sendable, Hashable {
  let rawValue: UInt8

  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// What could not be reached may be reachable now.
  static let cameBack = NetworkChange(rawValue: 1)
  /// What could be reached may not be any more.
  static let wentAway = NetworkChange(rawValue: 2)
}

/// What a ``NetworkListener`` tells.
enum NetworkEvent: Sendable, Equatable {
  case changed(NetworkChange)
  /// It will tell nothing more, and why; only where it was not stopped.
  case ended(String)
}
