import HTTPSupport
package import NIOCore

/// The identity of a client for limits.
package enum Caller {
  /// The client's address without the port; for IPv6, its network. All clients of a Unix domain socket are one.
  package static func name(_ channel: any Channel) -> String {
    guard let address = channel.remoteAddress, let ip = address.ipAddress else { return "" }
    guard case .v6 = address, !Loopback.contains(ip) else { return ip }
    return IPv6Network.name(ip)
  }
}
