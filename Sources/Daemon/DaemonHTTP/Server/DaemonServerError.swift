/// An error that prevents a server from starting.
public enum DaemonServerError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Other machines can reach the address, and no token is set.
  case tokenMissing(host: String)
  /// The token cannot be sent in a header.
  case tokenUnusable
  /// An allowed origin is not a valid origin.
  case originUnusable(String)
  /// A name is not the name of a host, or has a port.
  case nameUnusable(String)
  /// The address is in use, does not belong to this machine, or is invalid.
  case cannotListen(String, reason: String)

  /// Why the server does not start and what to do, for people.
  public var description: String {
    switch self {
    case .tokenMissing(let host):
      "\(host) can be reached from other machines: set a token, or listen on 127.0.0.1 or a Unix domain socket"
    case .tokenUnusable: "a token is one or more of the visible ASCII characters, without a space"
    case .originUnusable(let origin):
      "\(origin.debugDescription) is no origin of a page; one is a scheme, a host and, if need be, a port:"
        + " https://till.example.org"
    case .nameUnusable(let name):
      "\(name.debugDescription) is no name of a host; one has no scheme and no port: shop.example.org"
    case .cannotListen(let address, let reason): "cannot listen on \(address): \(reason)"
    }
  }
}
