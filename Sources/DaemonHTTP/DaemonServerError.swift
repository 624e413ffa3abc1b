/// Why a server does not start.
public enum DaemonServerError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The address can be reached by others, and no token is set.
  case tokenMissing(host: String)
  /// The token cannot stand in a header.
  case tokenUnusable
  /// What is to be allowed is no origin.
  case originUnusable(String)
  /// The address is taken, is none of this machine, or cannot be one.
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
    case .cannotListen(let address, let reason): "cannot listen on \(address): \(reason)"
    }
  }
}
