/// A change of the machine's network connectivity.
struct NetworkChange: OptionSet, Sendable, Hashable {
  let rawValue: UInt8

  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Servers that were unreachable may be reachable now.
  static let cameBack = NetworkChange(rawValue: 1)
  /// Servers that were reachable may be unreachable now.
  static let wentAway = NetworkChange(rawValue: 2)
}

/// An event of a ``NetworkListener``.
enum NetworkEvent: Sendable, Equatable {
  case changed(NetworkChange)
  /// The listener ended by itself, for this reason. It reports nothing more.
  case ended(String)
}
