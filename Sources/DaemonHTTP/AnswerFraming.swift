import NIOCore
import NIOHTTP1

/// Frames each answer so that its caller knows where it ends.
///
/// The server behind it has forgotten, when it answers, what the parser knew of a request. So this stands right behind the
/// parser and the encoder, and does what depends on that:
///
/// - A connection is closed behind the answer where the caller waits for that: callers of HTTP/1.0, and those whose
///   `Connection` has `close` among other words. The server knows one sign, a field that is `close` and nothing else, and no
///   version: it is given that sign. HTTP/1.0 that asks for `keep-alive` is closed too: it would have to be told that it is
///   not, and nobody does.
/// - An answer without a length ends with the connection for callers of HTTP/1.0, who know no chunks (RFC 9112, 6.1), and says
///   so by its version. Nor do they know of an answer that asks them to go on.
/// - An answer to `HEAD` ends with its head: the encoder would write the chunk that ends a body there is none of.
/// - Callers of HTTP/1.0 need not name a host. An empty one says so, and none is what HTTP/1.1 may not do (``Gate``).
final class AnswerFraming: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  /// What an answer needs to know of its request.
  private struct Asked {
    let isOld: Bool
    let isHead: Bool
  }

  /// Requests whose answers have not ended, in their order. As many as one read brings, and those that wait.
  private var asked = CircularBuffer<Asked>()

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
    let isOld = head.version.isOld
    asked.append(Asked(isOld: isOld, isHead: head.method == .HEAD))
    if !isOld, head.isKeepAlive { return context.fireChannelRead(data) }
    head.headers.replaceOrAdd(name: "Connection", value: "close")
    if isOld {
      head.headers.remove(name: "Expect")
      if !head.headers.contains(name: "Host") { head.headers.add(name: "Host", value: "") }
    }
    context.fireChannelRead(wrapInboundOut(.head(head)))
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let caller = asked.first
    switch unwrapOutboundIn(data) {
    case .head(var head) where caller?.isOld == true && !head.headers.contains(name: "Content-Length"):
      head.version = .http1_0
      head.headers.replaceOrAdd(name: "Connection", value: "close")
      context.write(wrapOutboundOut(.head(head)), promise: promise)
    case .end:
      _ = asked.popFirst()
      // Nothing is written for an empty piece, in its turn.
      let nothing = wrapOutboundOut(.body(.byteBuffer(ByteBuffer())))
      context.write(caller?.isHead == true ? nothing : data, promise: promise)
    default: context.write(data, promise: promise)
    }
  }
}

extension HTTPVersion {
  /// Whether connections of this version end with the answer, unless both sides say otherwise.
  fileprivate var isOld: Bool { (major, minor) < (1, 1) }
}
