import NIOCore
import Platform

/// TCP keep-alive options that detect a dead peer: a machine that loses power, or its network, sends nothing.
///
/// After 30 seconds of silence the system sends a probe every 10 seconds, and closes the connection after a minute
/// without a response. The same applies to answers that are never acknowledged.
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
      // Send at once: codes are short, and clients wait for the answers.
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
