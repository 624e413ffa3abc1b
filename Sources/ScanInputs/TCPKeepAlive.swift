import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The options of a TCP connection whose other end is to be known to be alive: a machine that lost its power, or its network, says
/// nothing.
///
/// After 30 seconds of silence the system asks for a sign of life every 10 seconds, and closes the connection when it got none
/// for a minute. The same holds for answers that are never acknowledged.
enum TCPKeepAlive {
  static let firstProbeSeconds = 30
  static let probeIntervalSeconds = 10
  static let probeCount = 3
  static let limitSeconds = firstProbeSeconds + probeIntervalSeconds * probeCount

  static var options: [(ChannelOptions.Types.SocketOption, ChannelOptions.Types.SocketOption.Value)] {
    #if os(Linux)
    let first = TCP_KEEPIDLE
    #else
    let first = TCP_KEEPALIVE
    #endif
    var options: [(ChannelOptions.Types.SocketOption, ChannelOptions.Types.SocketOption.Value)] = [
      // Codes are short, and their answers are waited for.
      (.socketOption(.tcp_nodelay, level: .tcp), 1), (.socketOption(.so_keepalive), 1),
      (.socketOption(.init(rawValue: first), level: .tcp), firstProbeSeconds),
      (.socketOption(.init(rawValue: TCP_KEEPINTVL), level: .tcp), probeIntervalSeconds),
      (.socketOption(.init(rawValue: TCP_KEEPCNT), level: .tcp), probeCount),
    ]
    #if os(Linux)
    options.append((.socketOption(.init(rawValue: TCP_USER_TIMEOUT), level: .tcp), 1000 * limitSeconds))
    #endif
    return options
  }
}

extension ChannelOptions.Types.SocketOption {
  fileprivate static func socketOption(
    _ name: NIOBSDSocket.Option, level: NIOBSDSocket.OptionLevel = .socket
  ) -> ChannelOptions.Types.SocketOption {
    ChannelOptions.Types.SocketOption(level: level, name: name)
  }
}
