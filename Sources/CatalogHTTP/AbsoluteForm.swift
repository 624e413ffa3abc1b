import NIOCore
import NIOHTTP1

/// Names the whole URL in a request that a proxy passes on (RFC 9112, 3.2.2), where the client names its path alone.
///
/// AsyncHTTPClient asks a proxy for a tunnel whatever the scheme, which many proxies refuse for anything but `https`.
/// So a request for `http` goes to the proxy as if that were the server, and this handler, next to the encoder,
/// completes its target.
final class AbsoluteForm: ChannelOutboundHandler, RemovableChannelHandler {
  typealias OutboundIn = HTTPClientRequestPart
  typealias OutboundOut = HTTPClientRequestPart

  private let target: String

  /// - Parameter target: The URL with its query.
  init(_ target: String) { self.target = target }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    var part = unwrapOutboundIn(data)
    if case .head(var head) = part {
      head.uri = target
      part = .head(head)
    }
    context.write(wrapOutboundOut(part), promise: promise)
  }

  /// Puts a handler between the encoder of a connection and the client.
  static func add(_ target: String, to channel: any Channel) -> EventLoopFuture<Void> {
    channel.eventLoop.submit {
      let pipeline = channel.pipeline.syncOperations
      let encoder = try pipeline.context(handlerType: HTTPRequestEncoder.self).handler
      try pipeline.addHandler(AbsoluteForm(target), position: .after(encoder))
    }
  }
}
