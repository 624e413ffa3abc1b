import NIOCore
import NIOHTTP1

/// Has a connection closed behind the answer where the caller waits for that: callers of HTTP/1.0, and those whose `Connection`
/// has `close` among other words.
///
/// The server behind it knows one sign, a field that is `close` and nothing else, and no version. So this stands right behind
/// the parser, which still tells the version, and writes that sign. HTTP/1.0 that asks for `keep-alive` is closed too: it
/// would have to be told that it is not, and nobody does.
final class ClosingCallers: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(var head) = unwrapInboundIn(data), !head.isKeepAlive || head.version.isOld else {
      return context.fireChannelRead(data)
    }
    head.headers.replaceOrAdd(name: "Connection", value: "close")
    context.fireChannelRead(wrapInboundOut(.head(head)))
  }

  /// Puts one behind the parser of the pipeline that it is added to, and goes.
  final class Placing: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    func handlerAdded(context: ChannelHandlerContext) {
      let pipeline = context.pipeline.syncOperations
      do {
        let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
        try pipeline.addHandler(ClosingCallers(), position: .after(parser))
      } catch {
        preconditionFailure("a pipeline without a parser serves no HTTP/1: \(error)")
      }
      pipeline.removeHandler(context: context, promise: nil)
    }
  }
}

extension HTTPVersion {
  /// Whether connections of this version end with the answer, unless both sides say otherwise.
  fileprivate var isOld: Bool { (major, minor) < (1, 1) }
}
