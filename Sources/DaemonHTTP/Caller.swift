import NIOCore

/// Names the peers of connections, for the limits of one caller.
enum Caller {
  /// An address without its port; of IPv6 the part that one network has. All callers of a Unix domain socket have one name.
  static func name(_ channel: any Channel) -> String {
    guard let address = channel.remoteAddress, let ip = address.ipAddress else { return "" }
    guard case .v6 = address, !Loopback.contains(ip) else { return ip }
    return IPv6Network.name(ip)
  }
}
