import NIOCore
import NIOHTTP1

/// A channel handler that changes a request's target to the absolute form, which a forward proxy needs (RFC 9112,
/// 3.2.2), where the client writes only the path.
///
/// AsyncHTTPClient requests a tunnel from a proxy for every scheme, which many proxies refuse for anything except
/// `https`. So a request for `http` is sent to the proxy as if the proxy were the server, and this handler, next to the
/// encoder, completes its target.
final class AbsoluteForm: ChannelOutboundHandler, RemovableChannelHandler {
  typealias OutboundIn = HTTPClientRequestPart
  typealias OutboundOut = HTTPClientRequestPart

  private let target: String

  /// - Parameter target: The URL, including its query.
  init(_ target: String) { self.target = target }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    var part = unwrapOutboundIn(data)
    if case .head(var head) = part {
      head.uri = target
      part = .head(head)
    }
    context.write(wrapOutboundOut(part), promise: promise)
  }

  /// Adds a handler between the encoder of a connection and the client.
  static func add(_ target: String, to channel: any Channel) -> EventLoopFuture<Void> {
    channel.eventLoop.submit {
      let pipeline = channel.pipeline.syncOperations
      let encoder = try pipeline.context(handlerType: HTTPRequestEncoder.self).handler
      try pipeline.addHandler(AbsoluteForm(target), position: .after(encoder))
    }
  }
}
